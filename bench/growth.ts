// Measures the cost of a check as the store grows, and of a service as it follows more chains.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { listUrl } from '../src/api/url.ts';
import type { Delegation } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { ChainState } from '../src/store/store.ts';
import { ask } from './ask.ts';
import { measureChains } from './chains.ts';
import { createMass } from './delegations.ts';
import { count, median, megabytes, micros, times } from './figures.ts';
import { type Filled, fill, freshen } from './fill.ts';
import type { Cost, Server } from './load.ts';
import { type Memory, memoryOf } from './memory.ts';
import type { Bench } from './part.ts';
import { CHECK, drawQuestions, FORMS, queryOf } from './questions.ts';
import { measureInTurns } from './rounds.ts';
import type { Section } from './section.ts';
import { keyOf, startNginx, startOurs } from './servers.ts';
import { writeScript, wrk } from './wrk.ts';

const MOST_ROUNDS = 3;
const STARTS = 3;
const LISTS = 2000;

export async function benchGrowth(bench: Bench): Promise<Section[]> {
  const { folder, sizes } = bench;
  const path = join(folder, 'growth.db');
  const mass = createMass(1);
  const nginx = await startNginx(folder);
  const grown: Grown[] = [];
  try {
    let state: ChainState | null = null;
    for (const size of sizes.growth) {
      const store = await openStore(`sqlite:${path}`);
      const filled: Filled = await fill(store, state ?? (await store.claim(1, 1000)), mass, size);
      state = await freshen(store, filled.state);
      await store.close();
      grown.push({ size, filled, ...(await measure(path, mass.sample, nginx, bench)) });
    }
  } finally {
    await nginx.stop();
  }
  return [sectionOf(grown), await measureChains(sizes, folder)];
}

interface Grown {
  readonly size: number;
  readonly filled: Filled;
  readonly bytes: number;
  readonly startMs: number;
  readonly memory: Memory;
  readonly costs: ReadonlyMap<string, Cost>;
}

async function measure(path: string, sample: readonly Delegation[], nginx: Server, { folder, sizes }: Bench) {
  const databaseUrl = `sqlite:${path}`;
  const questions = drawQuestions(sample, sizes.questions);
  const headers = { 'X-API-KEY': await keyOf(databaseUrl) };
  const wallets = [...new Set(sample.filter(({ version }) => version === 2).map(({ from }) => from))].slice(-LISTS);
  const scripts = new Map([
    ...FORMS.map(([name, form]): [string, string] => {
      const requests = questions.map((question) => ({ path: `${CHECK.path}?${queryOf(question, form)}`, headers }));
      return [name, writeScript(join(folder, `growth ${name}.lua`), requests)];
    }),
    [
      'list',
      writeScript(
        join(folder, 'growth list.lua'),
        wallets.map((wallet) => ({ path: listUrl(2, wallet), headers })),
      ),
    ],
  ]);
  const first = { path: `${CHECK.path}?${queryOf(hitOf(sample), (address) => address)}`, headers };
  const starts: number[] = [];
  for (let turn = 0; turn < STARTS; turn++) {
    const began = performance.now();
    const server = await startOurs({ databaseUrl, folder });
    try {
      if ((await ask(server.url, first)) !== 'true') throw new Error('The first answer is wrong');
      starts.push(performance.now() - began);
    } finally {
      await server.stop();
    }
  }
  const server = await startOurs({ databaseUrl, folder });
  try {
    const loads = [...scripts].map(([name, script]) => ({ name, load: () => wrk(server, script, sizes.seconds) }));
    const floor = { name: 'nginx', load: () => wrk(nginx, scripts.get('lower case') ?? '', sizes.seconds) };
    const costs = await measureInTurns([floor, ...loads], Math.min(MOST_ROUNDS, sizes.rounds));
    return { bytes: statSync(path).size, startMs: median(starts), memory: memoryOf(server.pid), costs };
  } finally {
    await server.stop();
  }
}

/** Returns a question whose answer is yes. */
function hitOf(sample: readonly Delegation[]) {
  const hits = sample.filter(({ version, kind }) => version === 2 && kind === 'CONTRACT');
  const [question] = drawQuestions(hits, 1);
  if (question === undefined) throw new Error('The sample has no contract delegation');
  return question;
}

function sectionOf(grown: readonly Grown[]): Section {
  const names = FORMS.map(([name]) => name);
  const cpu = ({ costs }: Grown, name: string) => costs.get(name)?.cpu ?? Number.NaN;
  const [first, last] = [grown.at(-2) ?? grown.at(-1), grown.at(-1)] as [Grown, Grown];
  return {
    title: 'Growth and startup',
    about:
      'SQLite, over HTTP with an API key, all headers and the request log. Both registries; one wallet in 3,000 has thousands of delegations. CPU is for one check and for one list of a typical wallet (one to three delegations), measured in turns with nginx. Startup is the time from process start to the first correct answer, with the file in the page cache. Mapped memory is pages of the file, which the system can reclaim.',
    columns: [
      'Delegations',
      ...names.flatMap((name) => [`check, ${name}`, 'vs nginx']),
      'list',
      'startup',
      'on disk',
      'memory',
      'mapped',
      'logs applied/s',
      'CPU per log',
    ],
    rows: grown.map((one) => [
      count(one.size),
      ...names.flatMap((name) => [micros(cpu(one, name)), times(cpu(one, name) / cpu(one, 'nginx'))]),
      micros(cpu(one, 'list')),
      `${(one.startMs / 1000).toFixed(2)} s`,
      megabytes(one.bytes),
      megabytes(one.memory.own),
      megabytes(one.memory.mapped),
      count(one.filled.logs / one.filled.seconds),
      micros(one.filled.cpu / one.filled.logs),
    ]),
    notes: names.map(
      (name) =>
        `A check with ${count(last.size)} delegations vs one with ${count(first.size)}, ${name}: ${times(cpu(last, name) / cpu(first, name))} the CPU, ${times(cpu(last, name) / cpu(last, 'nginx') / (cpu(first, name) / cpu(first, 'nginx')))} relative to nginx.`,
    ),
    charts: [
      {
        title: 'CPU per check as the store grows',
        best: 'least',
        bars: grown.map((one) => ({
          label: `${count(one.size)} delegations`,
          value: cpu(one, 'lower case'),
          text: micros(cpu(one, 'lower case')),
          ours: true,
        })),
      },
    ],
  };
}
