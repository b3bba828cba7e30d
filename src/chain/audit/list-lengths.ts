// Compares how many delegations wallets ever granted or got with what the registry counts: its lists never shrink, so a first grant that no
// provider returns the log of shows even with a single provider, and without old state. In rounds over all wallets of the index.

import type { ListLength } from '../../store/halt.ts';
import type { BlockRef } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import type { Node } from '../rpc/node.ts';
import { nullIfRefused } from '../rpc/rpc.ts';
import { readLengths } from './registry-answers.ts';

export function createListLengths({ network, store }: Context) {
  const { chainId } = network;
  /** Where the round is. */
  let [list, after]: [ListLength['list'], number | null] = ['outgoing', null];

  return {
    /**
     * The lengths that differ, of some wallets, and whether that was the end of a round. Null if the node does not say. With `begin`, a new
     * round begins at this place.
     */
    async findDifferent(node: Node, block: BlockRef, begin?: number) {
      if (begin !== undefined) [list, after] = ['outgoing', begin];
      const { counts, next } = await store.grantCounts(chainId, list, block.number, after);
      const lengths = counts.map(({ wallet }): ListLength => ({ version: 2, list, wallet }));
      const reading = lengths.length === 0 ? [] : readLengths(network, node, block, lengths).catch(nullIfRefused);
      const theirs = await reading;
      if (theirs === null) return null;
      const different = lengths.filter((_, position) => theirs[position] !== BigInt(counts[position]?.count ?? 0));
      const isEnd = next === null && list === 'incoming';
      if (next === null) list = list === 'outgoing' ? 'incoming' : 'outgoing';
      after = next;
      return { compared: counts.length, different, isEnd };
    },
  };
}
