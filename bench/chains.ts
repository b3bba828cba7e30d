// Measures the cost of following chains at their heads while all new blocks are empty.

import { join } from 'node:path';
import { NETWORKS } from '../src/registry/network.ts';
import { eventually } from '../test/support/eventually.ts';
import { count, megabytes, short } from './figures.ts';
import type { Server } from './load.ts';
import type { Bench } from './part.ts';
import { memoryOf, treeCpu } from './processes.ts';
import type { Section } from './section.ts';
import { startOurs } from './servers.ts';
import { startNode } from './start-node.ts';

const HISTORY_BLOCKS = 200;

export async function benchChains({ sizes, folder }: Bench): Promise<Section[]> {
  const { chains, idleSeconds } = sizes;
  await using node = await startNode(HISTORY_BLOCKS, { isLive: true });
  const rows: string[][] = [];
  for (const many of chains) {
    const ids = [...NETWORKS.keys()].slice(0, many);
    const environment = Object.fromEntries(
      ids.flatMap((id) => [
        [`RPC_URL_${id}`, node.url(id)],
        [`START_BLOCK_${id}`, '1'],
      ]),
    );
    const databaseUrl = `sqlite:${join(folder, `chains-${many}.db`)}`;
    await using server = await startOurs({ databaseUrl, folder, environment });
    await untilRead(server, many);
    const before = treeCpu(server.pid);
    await Bun.sleep(1000 * idleSeconds);
    const cpu = (treeCpu(server.pid) - before) / 1000 / idleSeconds;
    const { own } = memoryOf(server.pid);
    rows.push([count(many), `${short(cpu)} ms`, `${short(cpu / 10)} %`, megabytes(own)]);
  }
  return [
    {
      title: 'Chains followed',
      about:
        'One program on SQLite, API and follower process together, with all chains at their heads. Blocks are empty and arrive as often as on the real networks (at most one per second).',
      columns: ['Chains', 'CPU per second', 'share of a core', 'memory'],
      rows,
    },
  ];
}

async function untilRead({ url }: Server, chains: number): Promise<void> {
  await eventually(`backfill of ${chains} chains`, async () => {
    const networks = (await (await fetch(`${url}/networks`)).json()) as { head: unknown }[];
    return networks.filter(({ head }) => head !== null).length >= chains;
  });
  // The window is read once more after the backfill; only new blocks remain after that.
  await Bun.sleep(5000);
}
