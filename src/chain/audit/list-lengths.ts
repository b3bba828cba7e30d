// Compares how many delegations wallets ever granted or got with what the registry counts: its lists never shrink, so a first grant that no
// provider returns the log of shows even with a single provider, and without old state. In rounds over all wallets of the index, which
// begin anywhere: a round over a million takes a day, and a follower that restarts more often must come to all of them too.

import type { ListLength } from '../../store/halt.ts';
import { HASHES } from '../../store/index-hash.ts';
import type { BlockRef } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import type { Node } from '../rpc/node.ts';
import { nullIfRefused } from '../rpc/rpc.ts';
import { readLengths } from './registry-answers.ts';

export function createListLengths({ network, store }: Context) {
  const { chainId } = network;
  let list: ListLength['list'] = 'outgoing';
  /** Where the round is. Undefined before the first. */
  let after: number | null | undefined;

  return {
    /** The lengths that differ, of some wallets, and whether that was the end of a round. Null if the node does not say. */
    async findDifferent(node: Node, block: BlockRef, random: () => number) {
      if (after === undefined) after = Math.floor(random() * HASHES);
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
