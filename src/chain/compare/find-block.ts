// Small searches over the blocks of providers.

import type { BlockRef } from '../../store/store.ts';
import type { BlockId, Header, Node } from '../rpc/node.ts';
import type { Provider } from '../rpc/provider-pool.ts';

/** Whether the node has this hash at this height. */
export const hasBlock = async (node: Node, { number, hash }: Pick<BlockRef, 'number' | 'hash'>): Promise<boolean> =>
  (await node.header(number))?.hash === hash;

/** A provider that has another block at that height, or ends below it with a block that is not among ours. Null if none has. */
export async function findOther(
  providers: readonly Provider[],
  { number, hash }: BlockId,
  below: readonly BlockId[] = [],
): Promise<Provider | null> {
  const ours = new Map([...below, { number, hash }].map((block) => [block.number, block.hash]));
  const headers = await Promise.all(
    providers.map(async ({ node }) => {
      const header = await node.header(number).catch(() => undefined);
      return header === null ? node.header('latest').catch(() => null) : header;
    }),
  );
  const isOther = (header: Header | null | undefined) =>
    (ours.get(header?.number ?? -1) ?? header?.hash) !== header?.hash;
  return providers.find((_, position) => isOther(headers[position])) ?? null;
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
