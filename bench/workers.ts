// Measures how much more two workers serve than one.

import { cpus } from 'node:os';
import { join } from 'node:path';
import { createMass } from './delegations.ts';
import { count, micros, short, times } from './figures.ts';
import { createDirectFiller } from './fill-directly.ts';
import { CHAIN, FIRST_BLOCK, freshenChain } from './grown.ts';
import type { Server } from './load.ts';
import type { Bench } from './part.ts';
import { drawQuestions, FORMS, urlOf } from './questions.ts';
import { measureInTurns } from './rounds.ts';
import type { Section } from './section.ts';
import { keyOf, startOurs } from './servers.ts';
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
  const mass = createMass(1);
  const fill = { url: databaseUrl, chainId: CHAIN, firstBlock: FIRST_BLOCK, mass, withLogs: true };
  await createDirectFiller(fill).growTo(sizes.delegations);
  await freshenChain(databaseUrl);
  const headers = { 'X-API-KEY': await keyOf(databaseUrl) };
  const [, lowerCase] = FORMS[0] as (typeof FORMS)[number];
  const questions = drawQuestions(mass.sample, sizes.questions);
  const requests = questions.map((question) => ({ path: urlOf(question, lowerCase), headers }));
  const script = writeScript(join(folder, 'workers.lua'), requests);
  const servers: Server[] = [];
  try {
    const loads = [];
    for (const { workers, serverCores, clientCores } of SETUPS) {
      const args = ['--workers', String(workers)];
      const server = await startOurs({ databaseUrl, folder, args, cores: serverCores });
      servers.push(server);
      const options = { connections: CONNECTIONS, cores: clientCores };
      wrk(server, script, sizes.warmUpSeconds, options);
      loads.push({ name: nameOf(workers), load: () => wrk(server, script, sizes.seconds, options) });
    }
    return [sectionOf(await measureInTurns(loads, sizes.rounds), sizes.delegations)];
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Cores that are busy with the server, and with the client. */
const serverBusy = ({ perSecond, cpu }: WrkCost) => (perSecond * cpu) / 1e6;
const clientBusy = ({ perSecond, clientCpu }: WrkCost) => (perSecond * clientCpu) / 1e6;

/** What the server could serve if the client's share of its cores were its own. Idle time stays idle. */
const servedAlone = (cost: WrkCost) =>
  (cost.perSecond * (serverBusy(cost) + clientBusy(cost))) / Math.max(serverBusy(cost), Number.EPSILON);

function sectionOf(costs: ReadonlyMap<string, WrkCost>, delegations: number): Section {
  const [one, two] = SETUPS.map(({ workers }) => costs.get(nameOf(workers))) as [WrkCost, WrkCost];
  const served = new Map([
    [one, one.perSecond],
    [two, hasThirdCore ? two.perSecond : servedAlone(two)],
  ]);
  const ratio = times((served.get(two) ?? Number.NaN) / one.perSecond);
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
      count(served.get(cost) ?? Number.NaN),
    ]),
    notes: [
      `Two workers served ${times(two.perSecond / one.perSecond)} as measured${hasThirdCore ? '' : ', with the client on their cores'}.`,
    ],
    ratios: [
      {
        what: `Two workers over one, client ${hasThirdCore ? 'on a third core' : 'elsewhere (estimated)'}: requests/s`,
        figure: ratio,
      },
    ],
    charts: [
      {
        title: 'Checks per second by workers, client elsewhere',
        best: 'most',
        bars: [...costs].map(([name, cost]) => {
          const value = served.get(cost) ?? Number.NaN;
          return { label: name, value, text: count(value), ours: true };
        }),
      },
    ],
  };
}
