// Reads as of a block that was chosen at an earlier revision: what they take, and when they must fail.

import type { Param, Row } from '../engine.ts';
import { historyChanged, requireIndexed, unsettledRevocation } from '../errors.ts';
import { decodeFlag, decodeHexOrNull, decodeNumberOrNull } from '../rows/cells.ts';
import type { Cols } from '../rows/columns.ts';
import { asNumber } from '../rows/sql.ts';
import type { ListQuery } from '../store.ts';

/** The first parameters of a statement: $1 is the chain, $2 the block, $3 to $5 are the revisions and the stamp. */
export const encodePinned = (chainId: number, { block, revision, seen, stamp }: ListQuery['at']): Param[] => [
  chainId,
  block,
  revision,
  seen ?? revision,
  stamp ?? -1,
];
/** The number of the next parameter. */
export const AFTER_PINNED = 6;

/** The store is behind the revision $4, or history up to block $2 changed since revision $3, or $3 has another stamp than $5. */
const IS_REWRITTEN = `c.revision < $4 OR EXISTS (SELECT 1 FROM rewrite w
    WHERE w.chain = $1 AND w.revision > $3 AND w.from_block <= $2)
  OR (NOT EXISTS (SELECT 1 FROM revision v WHERE v.chain = $1 AND v.revision = $3 AND v.stamp = $5) AND $5 >= 0)`;

/** The columns of the chain's row `c`, which comes first. */
export const PINNED_NAMES = ['indexed_from', 'head_number', 'is_rewritten', 'unsettled_vault'] as const;
type PinnedName = (typeof PINNED_NAMES)[number];

/** `unsettledVault` selects a wallet whose unsettled revocation may decide the answer. */
export const pinnedColumns = (unsettledVault: string | null): Record<PinnedName, string> => ({
  indexed_from: 'c.first_block',
  head_number: 'c.head_number',
  is_rewritten: asNumber(IS_REWRITTEN),
  unsettled_vault: unsettledVault === null ? 'NULL' : `(${unsettledVault})`,
});

/** Throws unless the chain's row allows an answer. */
export const pinnedRequirement =
  ({ indexed_from, head_number, is_rewritten, unsettled_vault }: Cols<PinnedName>) =>
  (chainId: number, block: number, row: Row): void => {
    if (decodeFlag(row[is_rewritten])) throw historyChanged(chainId, block);
    requireIndexed(chainId, block, decodeNumberOrNull(row[indexed_from]), decodeNumberOrNull(row[head_number]));
    const vault = decodeHexOrNull(row[unsettled_vault]);
    if (vault !== null) throw unsettledRevocation(vault);
  };

/**
 * Reads without closed spans as of the head, where none can hold, and with them as of any other block. The head is guessed from the last
 * read. If the guess was wrong, what held at the block may have ended since: it is read again.
 */
export function createHeadReads(): <F extends { readonly head: number }>(
  chainId: number,
  block: number,
  read: (isHead: boolean) => Promise<F>,
) => Promise<F> {
  const heads = new Map<number, number>();
  return async (chainId, block, read) => {
    const isHead = block >= (heads.get(chainId) ?? 0);
    const found = await read(isHead);
    heads.set(chainId, found.head);
    return isHead && found.head > block ? read(false) : found;
  };
}
