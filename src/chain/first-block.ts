// Where a chain's index begins, and whether the registries are older than that.

import type { Network } from '../registry/network.ts';
import { registryFilter } from './filter.ts';
import type { Node } from './node.ts';
import { RpcError } from './rpc.ts';
import { lastWhere } from './search.ts';

const publishedBy = ({ registries, firstBlock }: Network) =>
  registries[1] === undefined ? firstBlock[2] : firstBlock[1];

async function hasRegistry(network: Network, node: Node, block: number): Promise<boolean> {
  for (const address of registryFilter(network).address) if (await node.hasCode(address, block)) return true;
  return false;
}

/** Of what the network publishes, or by looking for the registries' code. */
export async function firstBlockOf(network: Network, node: Node): Promise<number> {
  const published = publishedBy(network);
  if (published !== undefined) return published;
  const tip = await node.header('latest');
  if (tip === null) throw new RpcError('malformed', 'no latest block');
  if (!(await hasRegistry(network, node, tip.number)))
    throw new RpcError('refused', `chain ${network.chainId} has no registry`);
  return 1 + (await lastWhere(tip.number, async (block) => !(await hasRegistry(network, node, block))));
}

/** Whether a registry was there before the first block that is read. Where nobody can tell, it may have been. */
export async function isPartial(network: Network, node: Node, first: number): Promise<boolean> {
  const published = publishedBy(network);
  if (published !== undefined || first === 0) return first > (published ?? 0);
  return hasRegistry(network, node, first - 1).catch(() => true);
}
