// Looking for a place on a chain.

import type { BlockRef } from '../store/store.ts';
import type { Node } from './node.ts';

/** Whether the node has this very block at its height. */
export const hasBlock = async (node: Node, { number, hash }: Pick<BlockRef, 'number' | 'hash'>): Promise<boolean> =>
  (await node.header(number))?.hash === hash;

/** Of the positions below the end, of which the first ones fit and the others do not, the last that fits; -1 for none. */
export async function lastWhere(end: number, fits: (position: number) => Promise<boolean>): Promise<number> {
  let [good, bad] = [-1, end];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (await fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
