// Small searches over the blocks of providers.

import type { BlockRef } from '../store/store.ts';
import { Inconsistent } from './errors.ts';
import type { BlockId, Node } from './node.ts';
import type { Provider } from './provider-pool.ts';

/** Whether the node has this hash at this height. */
export const hasBlock = async (node: Node, { number, hash }: Pick<BlockRef, 'number' | 'hash'>): Promise<boolean> =>
  (await node.header(number))?.hash === hash;

/** The last position below `end` that matches, or -1. All matching positions must come before all others. */
export async function bisectLast(end: number, matches: (position: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [-1, end];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (await matches(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The block at a height, by headers: a provider's log may name a block that the provider itself does not have. */
export async function findAgreedBlock(providers: readonly Provider[], number: number): Promise<BlockId> {
  const headers = await Promise.all(providers.map(({ node }) => node.header(number).catch(() => null)));
  const hashes = new Set(headers.flatMap((header) => header?.hash ?? []));
  const [hash] = hashes;
  if (hash === undefined || hashes.size > 1) throw new Inconsistent(`the providers disagree about block ${number}`);
  return { number, hash };
}
