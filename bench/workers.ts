// Measures how much more two workers serve than one.

import { cpus } from 'node:os';
import { join } from 'node:path';
import { count, micros, short, times } from './figures.ts';
import { fillDirectly } from './fill-directly.ts';
import { type Load, measureInTurns } from './load.ts';
import type { Bench } from './part.ts';
import { drawQuestions, lowerCase, urlOf } from './questions.ts';
import { chartOf, type Section } from './section.ts';
import { keyHeaders, startOurs } from './servers.ts';
import { type WrkCost, writeScript, wrk } from './wrk.ts';

/** Enough to be spread evenly over the workers. */
const CONNECTIONS = 64;
/** With fewer cores the client shares those of two workers. */
const hasThirdCore = cpus().length >= 3;

const SETUPS = [
  { workers: 1, serverCores: '0', clientCores: '1' },
  { workers: 2, serverCores: '0-1', clientCores: hasThirdCore ? '2' : '0-1' },
] as const;

const nameOf = (workers: number) => `${workers} worker${workers === 1 ? '' : 's'}`;

export async function benchWorkers(bench: Bench): Promise<Section[]> {
  const { folder, sizes } = bench;
  const databaseUrl = `sqlite:${join(folder, 'workers.db')}`;
  const { mass } = await fillDirectly(databaseUrl, sizes.delegations);
  const headers = await keyHeaders(databaseUrl);
  const questions = drawQuestions(mass.sample, sizes.questions);
  const requests = questions.map((question) => ({ path: urlOf(question, lowerCase), headers }));
  const script = writeScript(join(folder, 'workers.lua'), requests);
  await using servers = new AsyncDisposableStack();
  const loads: Load<WrkCost>[] = [];
  for (const { workers, serverCores, clientCores } of SETUPS) {
    const args = ['--workers', String(workers)];
    const server = servers.use(await startOurs({ databaseUrl, folder, args, cores: serverCores }));
    const options = { connections: CONNECTIONS, cores: clientCores };
    wrk(server, script, sizes.warmUpSeconds, options);
    loads.push({ name: nameOf(workers), run: () => wrk(server, script, sizes.seconds, options) });
  }
  return [sectionOf(await measureInTurns(loads, sizes.rounds), sizes.delegations)];
}

/** Cores that are busy with the server, and with the client. */
const serverBusy = ({ perSecond, cpu }: WrkCost) => (perSecond * cpu) / 1e6;
const clientBusy = ({ perSecond, clientCpu }: WrkCost) => (perSecond * clientCpu) / 1e6;

/** What the server could serve if the client's share of its cores were its own. Idle time stays idle. */
const servedAlone = (cost: WrkCost) =>
  (cost.perSecond * (serverBusy(cost) + clientBusy(cost))) / Math.max(serverBusy(cost), Number.EPSILON);

function sectionOf(costs: ReadonlyMap<string, WrkCost>, delegations: number): Section {
  const [one, two] = SETUPS.map(({ workers }) => costs.get(nameOf(workers))) as [WrkCost, WrkCost];
  const served = (cost: WrkCost) => (cost === one || hasThirdCore ? cost.perSecond : servedAlone(cost));
  const method = hasThirdCore
    ? 'Two workers run on two cores, with the client on a third.'
    : 'Two workers run on both cores of this machine and share them with the client. The last column adds to their throughput what they would serve in the client’s CPU time; time in which a core was idle is not added. It is an estimate: on a machine with three cores the client runs on the third, and the column is what was measured.';
  return {
    title: 'One worker and two',
    about: `One contract check on SQLite, ${count(delegations)} delegations, with an API key, all headers and the request log; \`wrk\` with one thread and ${CONNECTIONS} connections. One worker runs on one core, with the client on the other. ${method} CPU covers the workers and their parent process.`,
    columns: [
      'Workers',
      'requests/s',
      'CPU',
      'cores busy with the server',
      'cores busy with the client',
      'requests/s, client elsewhere',
    ],
    rows: [...costs].map(([name, cost]) => [
      name,
      count(cost.perSecond),
      micros(cost.cpu),
      short(serverBusy(cost)),
      short(clientBusy(cost)),
      count(served(cost)),
    ]),
    notes: [
      `Two workers served ${times(two.perSecond / one.perSecond)} as measured${hasThirdCore ? '' : ', with the client on their cores'}.`,
    ],
    ratios: [
      {
        what: `Two workers over one, client ${hasThirdCore ? 'on a third core' : 'elsewhere (estimated)'}: requests/s`,
        figure: times(served(two) / one.perSecond),
      },
    ],
    charts: [
      chartOf(
        'Checks per second by workers, client elsewhere',
        'most',
        count,
        [...costs].map(([name, cost]) => [name, served(cost)]),
      ),
    ],
  };
}
