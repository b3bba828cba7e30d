// Measures the latency of checks while whole long lists are being sent.

import { join } from 'node:path';
import { listUrl } from '../src/api/url.ts';
import { type Address, NO_RIGHTS } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { LogInput } from '../src/store/store.ts';
import { addressFrom } from './delegations.ts';
import { ENGINE_NAMES, type EngineName, startEngine } from './engines.ts';
import { count, median, millis, percentile, short, times } from './figures.ts';
import { CHAIN, FIRST_BLOCK, freshenChain } from './fill.ts';
import { fillDirectly } from './fill-directly.ts';
import { type BenchRequest, paced, type Server } from './load.ts';
import type { Bench, Sizes } from './part.ts';
import { drawQuestions, lowerCase, urlOf } from './questions.ts';
import { chartOf, type Section } from './section.ts';
import { keyHeaders, startOurs } from './servers.ts';
import { writeScript, wrkCommand } from './wrk.ts';

const PER_SECOND = 200;
const MOST_OTHERS = 100_000;
const BLOCK_LOGS = 10_000;
/** Time in which the lists begin before checks are measured. */
const LEAD_SECONDS = 1;

const WALLETS: readonly Address[] = [1, 2, 3, 4].map((of) => addressFrom(0x70000010 + of));

export async function benchBesideLists(bench: Bench): Promise<Section[]> {
  const found: Latencies[] = [];
  for (const name of ENGINE_NAMES) found.push(await measureEngine(name, bench));
  return [sectionOf(found, bench.sizes)];
}

interface Latencies {
  readonly name: EngineName;
  /** In milliseconds. */
  readonly idle: readonly number[];
  readonly beside: readonly number[];
  readonly megabytesPerSecond: number;
}

async function measureEngine(name: EngineName, bench: Bench): Promise<Latencies> {
  const { folder, sizes } = bench;
  await using engine = await startEngine(name, bench, 'beside-lists.db');
  const { databaseUrl } = engine;
  const { mass } = await fillDirectly(databaseUrl, Math.min(MOST_OTHERS, sizes.delegations));
  await addLongLists(databaseUrl, sizes.longList);
  await freshenChain(databaseUrl);
  await engine.tidy();
  const headers = await keyHeaders(databaseUrl);
  const questions = drawQuestions(mass.sample, sizes.questions);
  const checks = questions.map((question) => ({ path: urlOf(question, lowerCase), headers }));
  const lists = WALLETS.map((wallet) => ({ path: listUrl(2, wallet, { direction: 'outgoing' }), headers }));
  const script = writeScript(join(folder, `lists ${name}.lua`), lists);
  await using server = await startOurs({ databaseUrl, folder });
  return { name, ...(await measureRounds(server, checks, script, sizes)) };
}

/** Takes idle and busy rounds in turns. The first of each is a warm-up and does not count. */
async function measureRounds(server: Server, checks: readonly BenchRequest[], script: string, sizes: Sizes) {
  const seconds = 2 * sizes.seconds;
  const measure = async () =>
    [...(await paced([{ server, requests: checks }], PER_SECOND * seconds, PER_SECOND)).values()].flat();
  const [idle, beside, rates]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round <= sizes.rounds; round++) {
    const alone = await measure();
    const reader = readLists(server, script, seconds + 2 * LEAD_SECONDS);
    await Bun.sleep(1000 * LEAD_SECONDS);
    const busy = await measure();
    const rate = await reader;
    if (round === 0) continue;
    idle.push(...alone);
    beside.push(...busy);
    rates.push(rate);
  }
  return { idle, beside, megabytesPerSecond: median(rates) };
}

/** Reads all lists at once in another process, each again when it ends. Returns megabytes per second. */
async function readLists(server: Server, script: string, seconds: number): Promise<number> {
  const command = wrkCommand(server, script, seconds, { connections: WALLETS.length });
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' });
  const text = await new Response(child.stdout).text();
  await child.exited;
  const [, rate = '', unit = ''] = /Transfer\/sec:\s+([\d.]+)([KMG])B/.exec(text) ?? [];
  if (unit === '' || /Non-2xx/.test(text)) throw new Error(`Reading lists failed: ${text}`);
  return (Number(rate) * { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[unit as 'K' | 'M' | 'G']) / 1e6;
}

async function addLongLists(databaseUrl: string, length: number): Promise<void> {
  const store = await openStore(databaseUrl);
  let state = await store.claim(CHAIN, FIRST_BLOCK);
  const total = WALLETS.length * length;
  for (let made = 0; made < total; ) {
    const number = (state.head?.number ?? 0) + 1;
    const logs = Array.from({ length: Math.min(BLOCK_LOGS, total - made) }, (_, logIndex) => grantAt(made++, logIndex));
    const hash = `0x${number.toString(16).padStart(64, 'd')}` as const;
    const block = { number, hash, timestamp: state.head?.timestamp ?? 0, logs };
    const batch = { chainId: CHAIN, epoch: state.epoch, after: state.head, blocks: [block], head: block };
    state = await store.apply(batch);
  }
  await store.close();
}

/** The wallets grant in turns, each to many wallets and on many contracts. */
const grantAt = (id: number, logIndex: number): LogInput => ({
  logIndex,
  transactionHash: `0x${id.toString(16).padStart(64, 'c')}`,
  event: {
    type: 'granted',
    delegation: {
      version: 2,
      kind: 'ERC721',
      from: WALLETS[id % WALLETS.length] as Address,
      to: addressFrom(0x60000000 + id),
      contract: addressFrom(0x20000000 + (id % 5000)),
      tokenId: BigInt(id),
      rights: NO_RIGHTS,
      amount: null,
    },
  },
});

function sectionOf(found: readonly Latencies[], { longList }: Sizes): Section {
  const lists = `${WALLETS.length} lists of ${count(longList)}`;
  const p99 = (latency: readonly number[]) => percentile(latency, 0.99);
  const rows = found.flatMap(({ name, idle, beside, megabytesPerSecond }) => [
    { name: `${name}, alone`, latency: idle, sent: '–' },
    { name: `${name}, beside ${lists}`, latency: beside, sent: `${short(megabytesPerSecond)} MB/s` },
  ]);
  return {
    title: 'Checks beside long lists',
    about: `${PER_SECOND} checks per second, sent at a fixed rate to one worker, alone and while another client reads ${lists} delegations at once, each whole, as fast as they come, and again when it ends. All requests have an API key. Both clients share the two cores with the server and the database. Idle and busy rounds take turns.`,
    columns: ['Checks', 'median', 'p99', 'checks', 'lists sent'],
    rows: rows.map(({ name, latency, sent }) => [
      name,
      millis(median(latency)),
      millis(p99(latency)),
      count(latency.length),
      sent,
    ]),
    ratios: found.map(({ name, idle, beside }) => ({
      what: `Check, ${name}: p99 latency beside ${lists} being sent, over alone`,
      figure: times(p99(beside) / p99(idle)),
    })),
    charts: [
      chartOf(
        'p99 latency of checks beside long lists',
        'least',
        millis,
        rows.map(({ name, latency }) => [name, p99(latency)]),
      ),
    ],
  };
}
