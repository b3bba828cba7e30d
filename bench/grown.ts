// Measures a store of one size: checks, lists, startup, and the speed at which logs are applied.

import { join } from 'node:path';
import { checkUrl, listUrl } from '../src/api/url.ts';
import type { Delegation } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import { createRandom } from '../test/support/random.ts';
import type { Mass } from './delegations.ts';
import type { BenchEngine } from './engines.ts';
import { median } from './figures.ts';
import { FIRST_BLOCK, type Filled, fill } from './fill.ts';
import { ask, type BenchRequest, type Cost, measureInTurns, type Server } from './load.ts';
import type { Bench } from './part.ts';
import { type Memory, memoryOf } from './processes.ts';
import { drawQuestions, FORMS, lowerCase, urlOf } from './questions.ts';
import { keyHeaders, startOurs } from './servers.ts';
import { writeScript, wrk } from './wrk.ts';

/** Logs are applied to another chain, because only the direct filler writes to the measured one. */
const APPLIED_CHAIN = 10;
const APPLIED_COMMITS = 5;
const APPLIED_COMMIT_LOGS = 10_000;

const MOST_ROUNDS = 3;
const STARTS = 3;
const LISTS = 2000;
const LONG_LISTS = 500;

export interface Grown {
  readonly bytes: number;
  readonly startMs: number;
  readonly memory: Memory;
  readonly costs: ReadonlyMap<string, Cost>;
  readonly applied: Filled;
}

export async function applyMore({ databaseUrl, database }: BenchEngine, mass: Mass): Promise<Filled> {
  const store = await openStore(databaseUrl);
  try {
    const options = { commitLogs: APPLIED_COMMIT_LOGS, ...database };
    const total = { state: await store.claim(APPLIED_CHAIN, FIRST_BLOCK), logs: 0, seconds: 0, cpu: 0, databaseCpu: 0 };
    for (let turn = 0; turn < APPLIED_COMMITS; turn++) {
      const part = await fill(store, total.state, mass, mass.grants + 1, options);
      total.state = part.state;
      for (const of of ['logs', 'seconds', 'cpu', 'databaseCpu'] as const) total[of] += part[of];
    }
    return total;
  } finally {
    await store.close();
  }
}

export async function measureGrown(
  engine: BenchEngine,
  mass: Mass,
  nginx: Server,
  { folder, sizes }: Bench,
): Promise<Omit<Grown, 'applied'>> {
  const { databaseUrl } = engine;
  const headers = await keyHeaders(databaseUrl);
  const start = () => startOurs({ databaseUrl, folder });
  const first = { path: urlOf(hitOf(mass.sample), lowerCase), headers };
  const starts: number[] = [];
  for (let turn = 0; turn < STARTS; turn++) {
    const began = performance.now();
    await using server = await start();
    if ((await ask(server.url, first)) !== 'true') throw new Error('The first answer is wrong');
    starts.push(performance.now() - began);
  }
  const scripts = new Map(
    [...pathsOf(mass, sizes.questions)].map(([name, paths]) => {
      const requests = paths.map((path): BenchRequest => ({ path, headers }));
      return [name, writeScript(join(folder, `growth ${name}.lua`), requests)];
    }),
  );
  await using own = await start();
  const server = { ...own, ...engine.database };
  const loads = [...scripts].map(([name, script]) => ({ name, run: () => wrk(server, script, sizes.seconds) }));
  const floor = { name: 'nginx', run: () => wrk(nginx, scripts.get('lower case') ?? '', sizes.seconds) };
  const costs = await measureInTurns([floor, ...loads], Math.min(MOST_ROUNDS, sizes.rounds));
  return { bytes: await sizeOnDisk(databaseUrl), startMs: median(starts), memory: memoryOf(server.pid), costs };
}

/** The requests of each load. */
function pathsOf(mass: Mass, many: number): Map<string, string[]> {
  const { sample, treasuries, block } = mass;
  const questions = drawQuestions(sample, many);
  const random = createRandom(5);
  const blockAt = () => FIRST_BLOCK + Math.floor(random() * (block - FIRST_BLOCK));
  // A sample of delegations has more treasuries the more there are: they are no typical wallets.
  const granted = new Set(sample.filter(({ version }) => version === 2).map(({ from }) => from));
  const wallets = [...granted.difference(new Set(treasuries))];
  // The last one may not have all its grants yet.
  const whales = everyOf(treasuries.slice(0, -1), LONG_LISTS);
  return new Map([
    ...FORMS.map(([name, form]): [string, string[]] => [name, questions.map((question) => urlOf(question, form))]),
    ['as of a block', questions.map(({ rights: _, ...question }) => checkUrl(question, { block: blockAt() }))],
    ['list', everyOf(wallets, LISTS).map((wallet) => listUrl(2, wallet))],
    ['list of 100', whales.map((wallet) => listUrl(2, wallet, { direction: 'outgoing', limit: 100 }))],
  ]);
}

/** At most so many of them, evenly spread. */
function everyOf<T>(all: readonly T[], many: number): T[] {
  const length = Math.min(many, all.length);
  return Array.from({ length }, (_, turn) => all[Math.floor((turn * all.length) / length)] as T);
}

/** Returns a question whose answer is yes. */
function hitOf(sample: readonly Delegation[]) {
  const hits = sample.filter(({ version, kind }) => version === 2 && kind === 'CONTRACT');
  const [question] = drawQuestions(hits, 1);
  if (question === undefined) throw new Error('The sample has no contract delegation');
  return question;
}

async function sizeOnDisk(databaseUrl: string): Promise<number> {
  const store = await openStore(databaseUrl, { readOnly: true });
  const bytes = await store.size();
  await store.close();
  return bytes;
}
