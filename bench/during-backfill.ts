// Measures the latency of checks on one chain while the same program backfills another chain.

import { join } from 'node:path';
import { CHECKS } from '../src/api/operations.ts';
import { urlFor } from '../src/api/url.ts';
import { addressFrom } from './delegations.ts';
import { count, median, millis, percentile, times } from './figures.ts';
import { type Server, timed } from './load.ts';
import type { Sizes } from './part.ts';
import type { Section } from './section.ts';
import { keyHeaders, startNginx, startOurs } from './servers.ts';
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
  await using nginx = await startNginx(folder);
  const [idle, reading] = [
    await latencies(`sqlite:${join(folder, 'idle.db')}`, folder, environment, nginx, ms),
    await latencies(`sqlite:${join(folder, 'busy.db')}`, folder, busy, nginx, ms),
  ];
  const rows = [
    ['ours, idle', idle.ours],
    ['ours, backfilling', reading.ours],
    ['nginx, idle', idle.floor],
    ['nginx, backfilling', reading.floor],
  ] as const;
  const ratio = (busyMs: readonly number[], idleMs: readonly number[]) => p99(busyMs) / p99(idleMs);
  return {
    title: 'Checks during a backfill of another chain',
    about:
      'Checks of a chain that is at its head, sent one at a time to one program on SQLite, with and without a backfill of another chain. In turns with them, nginx answers a static `true`: its figures are what the machine itself does to a request, as the node, the follower, the client and the server share two cores.',
    columns: ['Server', 'median', 'p99', 'requests'],
    rows: rows.map(([name, took]) => [name, millis(median(took)), millis(p99(took)), count(took.length)]),
    ratios: [
      {
        what: 'Check, SQLite: p99 latency during a backfill over idle',
        figure: times(ratio(reading.ours, idle.ours)),
      },
      { what: 'nginx: the same', figure: times(ratio(reading.floor, idle.floor)) },
    ],
  };
}

const p99 = (took: readonly number[]) => percentile(took, 0.99);

async function latencies(
  databaseUrl: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
  nginx: Server,
  ms: number,
) {
  await using server = await startOurs({ databaseUrl, folder, environment });
  const headers = await keyHeaders(databaseUrl);
  const path = urlFor(CHECKS[2].all, { to: addressFrom(1), from: addressFrom(2), chainId: 8453 });
  while ((await fetch(server.url + path, { headers })).status !== 200) await Bun.sleep(50);
  const [ours, floor]: [number[], number[]] = [[], []];
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(1)) {
    ours.push(await timed(server.url, { path, headers }));
    await Bun.sleep(1);
    floor.push(await timed(nginx.url, { path: '/' }));
  }
  return { ours: ours.slice(WARM_UP), floor: floor.slice(WARM_UP) };
}
