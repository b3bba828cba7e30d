// Splits the CPU of our backfill into steps: each is measured alone in this process, and the store is the remainder.

import { resolveBlocks } from '../src/chain/compare/resolve-blocks.ts';
import { createNode } from '../src/chain/rpc/node.ts';
import { groupLogs, registryFilter } from '../src/chain/rpc/registry-logs.ts';
import { createRpc } from '../src/chain/rpc/rpc.ts';
import { NETWORKS, type Network } from '../src/registry/network.ts';
import { micros } from './figures.ts';
import { ownCpu } from './processes.ts';
import type { Reading } from './reading.ts';
import type { Section } from './section.ts';

const [FROM, TO] = [1, 2000];
const TURNS = 5;

export async function measureSteps(rpcUrl: string, whole: Reading): Promise<Section> {
  const network = NETWORKS.get(1) as Network;
  const filter = registryFilter(network);
  const rpc = createRpc(rpcUrl);
  const node = createNode(rpc);
  const logs = await node.logs(filter, FROM, TO);
  const cost = async (work: () => unknown) => {
    await work();
    const before = ownCpu();
    for (let turn = 0; turn < TURNS; turn++) await work();
    return (ownCpu() - before) / TURNS / logs.length;
  };
  const params = [{ ...filter, fromBlock: `0x${FROM.toString(16)}`, toBlock: `0x${TO.toString(16)}` }];
  const fetched = await cost(() => rpc.call('eth_getLogs', params));
  const checked = await cost(() => node.logs(filter, FROM, TO));
  const decoded = await cost(() => resolveBlocks(node, network, groupLogs(logs), { isOld: true }));
  const all = whole.cpu / whole.events;
  const steps: readonly (readonly [string, number])[] = [
    ['fetching and JSON', fetched],
    ['checking each field', checked - fetched],
    ['ordering and decoding', decoded],
    ['store and startup', all - checked - decoded],
  ];
  return {
    title: 'CPU of our backfill by step',
    about: 'SQLite, the longer history. Each step is measured alone; the store is the remainder of the total.',
    columns: ['Step', 'CPU per event', 'share'],
    rows: steps.map(([name, value]) => [name, micros(value), `${((100 * value) / all).toFixed(0)} %`]),
  };
}
