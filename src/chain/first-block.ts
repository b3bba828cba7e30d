// Where a chain's index begins, and whether the registries are older than that.

import type { Network } from '../registry/network.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { bisectLast } from './find-block.ts';
import type { Node } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { registryFilter } from './registry-filter.ts';
import { RpcError } from './rpc.ts';

const publishedBy = ({ registries, firstBlock }: Network) =>
  registries[1] === undefined ? firstBlock[2] : firstBlock[1];

async function hasRegistry(network: Network, node: Node, block: number): Promise<boolean> {
  for (const address of registryFilter(network).address) if (await node.hasCode(address, block)) return true;
  return false;
}

/** The operator's choice, what the network publishes, or the lowest block at which a provider has the registries' code. */
export async function findFirstBlock(
  network: Network,
  sources: readonly Provider[],
  chosen: number | undefined,
): Promise<{ readonly first: number; readonly partial: boolean }> {
  const published = publishedBy(network);
  if (published !== undefined) {
    const first = chosen ?? published;
    return { first, partial: first > published };
  }
  const first = chosen ?? (await lowestWithCode(network, sources));
  return { first, partial: first > 0 && !(await isSurelyAbsent(network, sources, first - 1)) };
}

async function lowestWithCode(network: Network, sources: readonly Provider[]): Promise<number> {
  const found: number[] = [];
  let failure: unknown = new RpcError('refused', `chain ${network.chainId} has no registry`);
  for (const { node } of sources) {
    try {
      const tip = await node.header('latest');
      if (tip === null || !(await hasRegistry(network, node, tip.number))) continue;
      found.push(1 + (await bisectLast(tip.number, async (block) => !(await hasRegistry(network, node, block)))));
    } catch (error) {
      failure = error;
    }
  }
  if (found.length === 0) throw failure;
  return Math.min(...found);
}

/**
 * Some providers answer "no code" for a block whose state they have thrown away. One that has no state at all of that block
 * proves nothing; where nobody can tell, the registries may have been there.
 */
async function isSurelyAbsent(network: Network, sources: readonly Provider[], block: number): Promise<boolean> {
  let isProven = false;
  for (const { node } of sources) {
    try {
      if (await hasRegistry(network, node, block)) return false;
      if (await node.hasState(block)) isProven = true;
    } catch {
      // It has thrown that state away, and says so.
    }
  }
  return isProven;
}

/**
 * Stores of earlier versions did not keep their first block, without which a time before the first log is not known. A provider
 * that has thrown its oldest headers away changes nothing, and neither do providers that disagree.
 */
export async function storeFirstBlock(context: FollowerContext, sources: TickProviders): Promise<void> {
  const { state, store, network } = context;
  const { chainId } = network;
  if (state?.head == null || state.head.number === state.firstBlock) return;
  const { firstBlock: number, head } = state;
  if ((await store.blocks(chainId, { from: number, to: number })).length > 0) return;
  const told = await Promise.all(allProviders(sources).map(({ node }) => node.header(number).catch(() => null)));
  const [header, ...others] = told.filter((one) => one !== null);
  if (header === undefined || others.some(({ hash }) => hash !== header.hash)) return;
  const [next] = await store.logs(chainId, { from: number, to: head.number, limit: 1 });
  if (header.timestamp > (next?.block ?? head).timestamp) return;
  const { hash, timestamp } = header;
  const blocks = [{ number, hash, timestamp, logs: [] }];
  await context.commit(({ epoch }) => store.repair({ chainId, epoch, blocks }));
}
