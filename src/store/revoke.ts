// What ends everything of a v1 wallet, or of a pair. Anyone can make that very much: it ends inside the database, a part at a
// time, and never comes into memory.

import type { Writing } from './derive.ts';
import { bytesOf, hexOf } from './encoding.ts';
import type { BulkStatement, Param } from './engine.ts';
import type { WideEnd } from './spans.ts';
import { END_OPEN_PAIR, END_OPEN_WALLET, FIND_OPEN_PAIR, FIND_OPEN_WALLET } from './tables.ts';

/** What names the spans, and the block at which they end. */
interface Ends {
  readonly cells: Param[];
  readonly block: number;
}

/** Ends what stands in the store. Of one pair or wallet the first end counts, and a pair's only where it comes first. */
export async function endStored({ tx, chainId, short }: Writing, ends: readonly WideEnd[]): Promise<void> {
  const pairs = new Map<string, Ends>();
  const wallets = new Map<string, Ends>();
  for (const { from, to, block } of ends) {
    if (wallets.has(from)) continue;
    const [cold, bytes] = [short.cold(chainId, from), bytesOf(from)];
    if (to === null) wallets.set(from, { cells: [chainId, cold, 1, bytes], block });
    else if (!pairs.has(from + to))
      pairs.set(from + to, { cells: [chainId, cold, short.hot(chainId, to), 1, bytes, bytesOf(to)], block });
  }
  const endAll = async (all: ReadonlyMap<string, Ends>, find: BulkStatement, end: BulkStatement) => {
    for (let open = [...all.values()]; open.length > 0; ) {
      const found = await tx.each(
        find,
        open.map(({ cells }) => cells),
      );
      open = found.map((names) => all.get(names.map(hexOf).join('')) as Ends);
      for (const { cells, block } of open) await tx.each(end, [[...cells, block]]);
    }
  };
  await endAll(pairs, FIND_OPEN_PAIR, END_OPEN_PAIR);
  await endAll(wallets, FIND_OPEN_WALLET, END_OPEN_WALLET);
}
