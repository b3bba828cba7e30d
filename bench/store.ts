// Measures the store alone: write speed, CPU per lookup as it grows, and bytes per delegation on disk.

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { type Question, questionFor } from '../src/registry/check.ts';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { createRandom } from '../test/support/random.ts';
import { ownCpu, treeCpu } from './cpu.ts';
import { addressFrom, createMass } from './delegations.ts';
import { count } from './figures.ts';
import { fill } from './fill.ts';
import type { Bench } from './part.ts';
import { line, progress } from './print.ts';
import type { Section } from './section.ts';
import { sizeOf } from './sizes.ts';

const LARGE_PAIR_BLOCK_LOGS = 50_000;
const LOOKUPS = 20_000;
const CHAIN = 1;
const LARGE_PAIR_CHAIN = 2;
const LARGE_PAIR_GRANTS = 1_000_000;

interface StoreBench {
  readonly name: string;
  readonly url: string;
  /** CPU of the database's processes, in microseconds. */
  serverCpu(): number;
  /** Bytes on disk, indexes included: spans, and logs with blocks. */
  sizes(): Promise<{ spans: number; logs: number }>;
  stop(): Promise<void>;
}

/** Only prints its figures: engines and sizes vary from run to run, so they are not part of the page. */
export async function benchStore({ options, folder, sizes: { growth } }: Bench): Promise<Section[]> {
  const unknown = options.filter((option) => !/^(sqlite|postgres|\d+(\.\d+)?[mk])$/.test(option));
  if (unknown.length > 0)
    throw new Error(`Unknown option ${unknown.join(', ')}: use sqlite, postgres, or sizes such as 1m 10m`);
  const sizes = options.filter((option) => /^\d/.test(option)).map(sizeOf);
  const engines = options.filter((option) => option === 'sqlite' || option === 'postgres');
  for (const engine of engines.length > 0 ? engines : ['sqlite', 'postgres']) {
    const bench = engine === 'sqlite' ? onSqlite(join(folder, 'store.db')) : await onPostgres();
    try {
      await run(bench, sizes.length > 0 ? sizes : growth.slice(-2));
    } finally {
      await bench.stop();
    }
  }
  return [];
}

async function run(bench: StoreBench, sizes: readonly number[]): Promise<void> {
  const store = await openStore(bench.url);
  const mass = createMass(1);
  let state = await store.claim(CHAIN, 1000);
  console.log(`## ${bench.name}`);
  const lookups = new Map<number, number>();
  for (const size of sizes) {
    console.log(`\n${size / 1e6} M delegations`);
    const filled = await fill(store, state, mass, size, bench.serverCpu);
    state = filled.state;
    line(
      'applied',
      `${count(filled.logs / filled.seconds)} rows/s`,
      micro(filled.cpu / filled.logs, filled.databaseCpu / filled.logs, 'row'),
    );

    const { spans, logs } = await bench.sizes();
    line(
      'on disk',
      `${(spans / mass.grants).toFixed(0)} bytes per delegation for spans and their indexes`,
      `${(logs / mass.grants).toFixed(0)} for logs and blocks`,
    );

    const random = createRandom(7);
    const int = (below: number) => Math.floor(random() * below);
    const hits = Array.from({ length: LOOKUPS }, () => questionFor(mass.sample[int(mass.sample.length)] ?? never()));
    const misses = hits.map((question, turn) => ({ ...question, to: addressFrom(0x60000000 + turn) }) as Question);
    const figures = ({ cpu, server, cold, granting }: Awaited<ReturnType<typeof measure>>) => [
      micro(cpu, server, 'lookup'),
      `${cold.toFixed(1)} the first time`,
      `${granting} of ${LOOKUPS} granted`,
    ];
    const pair = await measure(bench, hits, (question) => store.check(CHAIN, question));
    lookups.set(size, pair.cpu);
    line('pair lookup', ...figures(pair));
    line('unknown pair', ...figures(await measure(bench, misses, (question) => store.check(CHAIN, question))));
    const blocks = hits.map(() => 1000 + int(mass.block - 1000));
    const asOf = await measure(bench, hits, (question, turn) => store.check(CHAIN, question, blocks[turn]));
    line('as of a block', ...figures(asOf));

    const to = (state.head?.number ?? 0) - 1000;
    const [began, cpu, server] = [performance.now(), ownCpu(), bench.serverCpu()];
    const head = {
      number: to,
      hash: `0x${to.toString(16).padStart(64, 'c')}` as const,
      timestamp: 1_600_000_000 + to * 2,
    };
    const kept = (await store.blocks(CHAIN, { from: to, to }))[0] ?? head;
    ({ state } = await store.apply({
      chainId: CHAIN,
      epoch: state.epoch,
      after: state.head,
      rollbackTo: to,
      blocks: [],
      head: kept,
    }));
    line(
      'rollback of 1,000 blocks',
      `${(performance.now() - began).toFixed(0)} ms`,
      `${((ownCpu() - cpu + bench.serverCpu() - server) / 1000).toFixed(0)} ms CPU`,
    );
  }
  const [small, large] = [lookups.get(sizes[0] ?? 0), lookups.get(sizes.at(-1) ?? 0)];
  if (small !== undefined && large !== undefined && sizes.length > 1) {
    console.log(
      `\npair lookup at ${(sizes.at(-1) ?? 0) / 1e6} M vs ${(sizes[0] ?? 0) / 1e6} M: ${(large / small).toFixed(2)} times the CPU`,
    );
  }
  await benchLargePair(bench, store);
  await store.close();
}

/** Anyone can grant a pair a million tokens: a check must not read all of them. */
async function benchLargePair(bench: StoreBench, store: Store): Promise<void> {
  let state = await store.claim(LARGE_PAIR_CHAIN, 1);
  const [from, to, contract] = [1, 2, 3].map(addressFrom) as [`0x${string}`, `0x${string}`, `0x${string}`];
  const base = { version: 2, kind: 'ERC721', to, contract, rights: NO_RIGHTS, amount: null } as const;
  const grant = (number: number, logIndex: number, of: typeof from, tokenId: bigint) => ({
    logIndex,
    transactionHash: `0x${number.toString(16).padStart(64, '0')}` as const,
    event: { type: 'granted', delegation: { ...base, from: of, tokenId } } as const,
  });
  for (let number = 1, id = 0; id < LARGE_PAIR_GRANTS; number++) {
    const logs = Array.from({ length: LARGE_PAIR_BLOCK_LOGS }, (_, position) =>
      grant(number, position, from, BigInt(id++)),
    );
    if (number === 1) logs.push(grant(number, LARGE_PAIR_BLOCK_LOGS, addressFrom(9), 5n));
    const hash = `0x${number.toString(16).padStart(64, '0')}` as const;
    const block = { number, hash, timestamp: number, logs };
    const { chainId, epoch, head: after } = state;
    ({ state } = await store.apply({ chainId, epoch, after, blocks: [block], head: block }));
    progress(`${id} grants to one pair`);
  }
  progress('');
  const asks = { version: 2, scope: 'erc721', to, contract, rights: `0x${'766f7465'.padEnd(64, '0')}` } as const;
  const ask = (of: typeof from) => async () => {
    const questions = Array.from({ length: LOOKUPS }, (_, turn) => ({ ...asks, from: of, tokenId: BigInt(turn) }));
    return (await measure(bench, questions, (question) => store.check(LARGE_PAIR_CHAIN, question))).cpu;
  };
  const [large, single] = [await ask(from)(), await ask(addressFrom(9))()];
  console.log(
    `a pair with 1 M grants: ${large.toFixed(1)} µs CPU per check; with one grant: ${single.toFixed(1)}; ${(large / single).toFixed(1)} times`,
  );
}

/** CPU per question, ours and the database's, in a second pass over all questions; `cold` is our CPU in the first. */
async function measure(
  bench: StoreBench,
  questions: readonly Question[],
  ask: (question: Question, turn: number) => Promise<{ granting: readonly unknown[] }>,
) {
  const pass = async () => {
    const [cpu, server] = [ownCpu(), bench.serverCpu()];
    let granting = 0;
    for (const [turn, question] of questions.entries()) if ((await ask(question, turn)).granting.length > 0) granting++;
    const each = (total: number) => total / questions.length;
    return { cpu: each(ownCpu() - cpu), server: each(bench.serverCpu() - server), granting };
  };
  const cold = (await pass()).cpu;
  return { ...(await pass()), cold };
}

function onSqlite(path: string): StoreBench {
  return {
    name: 'SQLite',
    url: `sqlite:${path}`,
    serverCpu: () => 0,
    async sizes() {
      const database = new Database(path, { readonly: true });
      const rows = database.query('SELECT name, sum(pgsize) FROM dbstat GROUP BY name').values() as [string, number][];
      database.close();
      const total = (matches: (name: string) => boolean) =>
        rows.reduce((sum, [name, bytes]) => (matches(name) ? sum + bytes : sum), 0);
      return {
        spans: total((name) => name.startsWith('span')),
        logs: total((name) => name.startsWith('log') || name.startsWith('block')),
      };
    },
    stop: async () => {},
  };
}

async function onPostgres(): Promise<StoreBench> {
  const server = await startPostgres({
    fsync: 'on',
    synchronous_commit: 'off',
    shared_buffers: '2GB',
    max_wal_size: '8GB',
  });
  const url = await server.createDatabase();
  return {
    name: 'PostgreSQL',
    url,
    serverCpu: () => treeCpu(server.pid),
    async sizes() {
      const connection = new Bun.SQL(url, { max: 1 });
      const [row] = await connection.unsafe(
        "SELECT pg_total_relation_size('span') AS spans, pg_total_relation_size('log') + pg_total_relation_size('block') AS logs",
      );
      await connection.close();
      return { spans: Number(row.spans), logs: Number(row.logs) };
    },
    stop: () => server.stop(),
  };
}

const never = (): never => {
  throw new Error('The sample is empty');
};
const micro = (own: number, server: number, unit: string) =>
  `${own.toFixed(1)} µs CPU per ${unit}${server > 0 ? ` + ${server.toFixed(1)} in the database` : ''}`;
