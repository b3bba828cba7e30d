// Looking for a place on a chain.

import type { BlockRef } from '../store/store.ts';
import { Inconsistent } from './errors.ts';
import type { BlockId, Node } from './node.ts';
import type { Provider } from './provider-pool.ts';

/** Whether the node has this very block at its height. */
export const hasBlock = async (node: Node, { number, hash }: Pick<BlockRef, 'number' | 'hash'>): Promise<boolean> =>
  (await node.header(number))?.hash === hash;

/** Of the positions below the end, of which the first ones fit and the others do not, the last that fits; -1 for none. */
export async function bisectLast(end: number, fits: (position: number) => Promise<boolean>): Promise<number> {
  let [good, bad] = [-1, end];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (await fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** The block of a number by the headers of providers: a log may name one that its own provider does not have. */
export async function findAgreedBlock(sources: readonly Provider[], number: number): Promise<BlockId> {
  const headers = await Promise.all(sources.map(({ node }) => node.header(number).catch(() => null)));
  const hashes = new Set(headers.flatMap((header) => header?.hash ?? []));
  const [hash] = hashes;
  if (hash === undefined || hashes.size > 1)
    throw new Inconsistent(`the providers do not findConsensus about block ${number}`);
  return { number, hash };
}
