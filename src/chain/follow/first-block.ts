// Finds the first block of a chain's index, and whether the registries are older than that.

import type { Network } from '../../registry/network.ts';
import { ALL_VERSIONS } from '../../registry/versions.ts';
import { bisectLast, headersAt } from '../compare/agreed-block.ts';
import type { Context } from '../compare/context.ts';
import type { Node } from '../rpc/node.ts';
import type { Providers, TickProviders } from '../rpc/provider-pool.ts';
import { registryFilter } from '../rpc/registry-logs.ts';
import { RpcError } from '../rpc/rpc.ts';

/** Of the oldest registry that the network has. */
export function publishedFirstBlock({ registries, firstBlock }: Network): number | undefined {
  const oldest = ALL_VERSIONS.find((version) => registries[version] !== undefined);
  return oldest && firstBlock[oldest];
}

async function hasRegistry(network: Network, node: Node, block: number): Promise<boolean> {
  for (const address of registryFilter(network).address) if (await node.hasCode(address, block)) return true;
  return false;
}

/** The operator's choice, the network's published block, or the lowest block at which a provider has registry code. */
export async function findFirstBlock(network: Network, providers: Providers, configured: number | undefined) {
  const published = publishedFirstBlock(network);
  if (published !== undefined) {
    const first = configured ?? published;
    return { firstBlock: first, partial: first > published };
  }
  const first = configured ?? (await findLowestWithCode(network, providers));
  return { firstBlock: first, partial: first > 0 && !(await isSurelyAbsent(network, providers, first - 1)) };
}

async function findLowestWithCode(network: Network, providers: Providers): Promise<number> {
  const found: number[] = [];
  let failure: unknown = new RpcError('refused', `chain ${network.chainId} has no registry`);
  for (const { node } of providers) {
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
 * Some providers answer "no code" for a block whose state they have pruned. That proves absence only if they have other state
 * of that block. If no provider can prove it, the registries may have been there.
 */
async function isSurelyAbsent(network: Network, providers: Providers, block: number): Promise<boolean> {
  let isProven = false;
  for (const { node } of providers) {
    try {
      if (await hasRegistry(network, node, block)) return false;
      if (await node.hasState(block)) isProven = true;
    } catch {
      // The provider has pruned that state.
    }
  }
  return isProven;
}

/**
 * An imported index lacks the first block, and with it the times before the first log. Adds it. Does nothing if no provider has its
 * header, or if providers disagree.
 */
export async function storeFirstBlock(context: Context, providers: TickProviders): Promise<void> {
  const { state, store, network } = context;
  const { chainId } = network;
  if (state?.head == null || state.head.number === state.firstBlock) return;
  const { firstBlock: number, head } = state;
  if ((await store.blocks(chainId, { from: number, to: number })).length > 0) return;
  const [header, ...others] = (await headersAt(providers, number)).filter((one) => one !== null);
  if (header === undefined || others.some(({ hash }) => hash !== header.hash)) return;
  const [next] = await store.logs(chainId, { from: number, to: head.number, limit: 1 });
  if (header.timestamp > (next?.block ?? head).timestamp) return;
  const { hash, timestamp } = header;
  const blocks = [{ number, hash, timestamp, logs: [] }];
  await context.commit(({ epoch }) => store.repair({ chainId, epoch, blocks }));
}
