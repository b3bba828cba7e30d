// Small searches over the blocks of providers.

import type { BlockRef } from '../store/store.ts';
import type { BlockId, Node } from './node.ts';
import type { Provider } from './provider-pool.ts';

/** Whether the node has this hash at this height. */
export const hasBlock = async (node: Node, { number, hash }: Pick<BlockRef, 'number' | 'hash'>): Promise<boolean> =>
  (await node.header(number))?.hash === hash;

/** A provider that has another block at that height. Null if none has. */
export async function findOther(providers: readonly Provider[], { number, hash }: BlockId): Promise<Provider | null> {
  const headers = await Promise.all(providers.map(({ node }) => node.header(number).catch(() => null)));
  return providers.find((_, position) => (headers[position]?.hash ?? hash) !== hash) ?? null;
}

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
