// Measures the latency of checks on one chain while the same program backfills another chain.

import { join } from 'node:path';
import { CHECKS } from '../src/api/operations.ts';
import { urlFor } from '../src/api/url.ts';
import { addressFrom } from './delegations.ts';
import { count, median, millis, percentile, times } from './figures.ts';
import { timed } from './load.ts';
import type { Sizes } from './part.ts';
import type { Section } from './section.ts';
import { keyHeaders, startOurs } from './servers.ts';
import { type BenchNode, startNode } from './start-node.ts';

const SMALL_BLOCKS = 500;
const WARM_UP = 200;

export async function measureDuringBackfill(
  node: BenchNode,
  folder: string,
  { rounds, seconds }: Sizes,
): Promise<Section> {
  await using small = await startNode(SMALL_BLOCKS);
  const environment = { RPC_URL_8453: small.url(8453), START_BLOCK_8453: '1', MAX_LAG_8453: '86400' };
  const busy = { ...environment, RPC_URL_1: node.url(1), START_BLOCK_1: '1' };
  const ms = 1000 * rounds * seconds;
  const found: (readonly [string, readonly number[]])[] = [
    ['idle', await latencies(`sqlite:${join(folder, 'idle.db')}`, folder, environment, ms)],
    ['backfilling', await latencies(`sqlite:${join(folder, 'busy.db')}`, folder, busy, ms)],
  ];
  const [idle, reading] = found.map(([, took]) => percentile(took, 0.99)) as [number, number];
  return {
    title: 'Checks during a backfill of another chain',
    about:
      'Checks of a chain that is at its head, sent one at a time to one program on SQLite, with and without a backfill of another chain.',
    columns: ['Other chain', 'median', 'p99', 'checks'],
    rows: found.map(([name, took]) => [name, millis(median(took)), millis(percentile(took, 0.99)), count(took.length)]),
    notes: [`During the backfill, p99 latency is ${times(reading / idle)} the idle one.`],
  };
}

async function latencies(
  databaseUrl: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
  ms: number,
): Promise<number[]> {
  await using server = await startOurs({ databaseUrl, folder, environment });
  const headers = await keyHeaders(databaseUrl);
  const path = urlFor(CHECKS[2].all, { to: addressFrom(1), from: addressFrom(2), chainId: 8453 });
  while ((await fetch(server.url + path, { headers })).status !== 200) await Bun.sleep(50);
  const took: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(1))
    took.push(await timed(server.url, { path, headers }));
  return took.slice(WARM_UP);
}
