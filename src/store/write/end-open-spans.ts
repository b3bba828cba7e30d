// Ends all open spans of a v1 wallet, or of a pair. Anyone can make these very many, so they end inside the database, a part
// at a time, and are never loaded into memory.

import type { BulkStatement, Param } from '../engine.ts';
import { decodeHex, encodeHex } from '../rows/cells.ts';
import type { LogPosition } from '../store.ts';
import { endOpen, selectSpan } from './bulk-spans.ts';
import type { ChainWriter } from './chain-writer.ts';
import type { WideEnd } from './span-set.ts';

const WALLET = { chain: 'bigint', cold: 'bigint', version: 'smallint', from_addr: 'bytea' } as const;
export const FIND_OPEN_WALLET = selectSpan('span_open_from', WALLET, 'from_addr');
export const END_OPEN_WALLET = endOpen('span_open_from', WALLET);

/** The index of pairs has v1 only. */
const PAIR = { chain: 'bigint', cold: 'bigint', hot: 'bigint', from_addr: 'bytea', to_addr: 'bytea' } as const;
export const FIND_OPEN_PAIR = selectSpan('span_open_pair', PAIR, 'from_addr, to_addr');
export const END_OPEN_PAIR = endOpen('span_open_pair', PAIR);

/** The cells of `WALLET` or `PAIR`, and the log that ends the spans. */
interface End {
  readonly cells: Param[];
  readonly at: LogPosition;
}

/** The first end of a pair or wallet counts. The end of a pair counts only if it comes before that of its wallet. */
export async function endOpenSpans({ tx, chainId, hash }: ChainWriter, ends: readonly WideEnd[]): Promise<void> {
  const pairs = new Map<string, End>();
  const wallets = new Map<string, End>();
  for (const { from, to, at } of ends) {
    if (wallets.has(from)) continue;
    const [cold, bytes] = [hash.cold(chainId, from), encodeHex(from)];
    if (to === null) wallets.set(from, { cells: [chainId, cold, 1, bytes], at });
    else if (!pairs.has(from + to))
      pairs.set(from + to, { cells: [chainId, cold, hash.hot(chainId, to), bytes, encodeHex(to)], at });
  }
  const endAll = async (all: ReadonlyMap<string, End>, find: BulkStatement, end: BulkStatement) => {
    for (let open = [...all.values()]; open.length > 0; ) {
      const found = await tx.each(
        find,
        open.map(({ cells }) => cells),
      );
      open = found.map((addresses) => all.get(addresses.map(decodeHex).join('')) as End);
      for (const { cells, at } of open) await tx.each(end, [[...cells, at.block, at.logIndex]]);
    }
  };
  await endAll(pairs, FIND_OPEN_PAIR, END_OPEN_PAIR);
  await endAll(wallets, FIND_OPEN_WALLET, END_OPEN_WALLET);
}
