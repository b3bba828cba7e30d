// Reads as of a block that was chosen at an earlier revision: what they take, and when they must fail.

import type { Param, Row } from '../engine.ts';
import { decodeFlag, decodeHexOrNull, decodeNumberOrNull } from '../rows/cells.ts';
import type { At } from '../rows/columns.ts';
import type { ListQuery } from '../store.ts';
import { historyChanged, requireIndexed, unsettledRevocation } from './refusals.ts';
import { asNumber } from './unsettled.ts';

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
  ({ indexed_from, head_number, is_rewritten, unsettled_vault }: At<PinnedName>) =>
  (chainId: number, block: number, row: Row): void => {
    if (decodeFlag(row[is_rewritten])) throw historyChanged(chainId, block);
    requireIndexed(chainId, block, decodeNumberOrNull(row[indexed_from]), decodeNumberOrNull(row[head_number]));
    const vault = decodeHexOrNull(row[unsettled_vault]);
    if (vault !== null) throw unsettledRevocation(vault);
  };
