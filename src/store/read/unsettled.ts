// SQL conditions for v1 revocations that name no delegate: whether it is unknown if one of them ended a delegation.

import type { Dialect } from '../engine.ts';
import { spansBy } from '../rows/span-index.ts';
import { indexedBy } from '../rows/sql.ts';

/** The head, in a statement that reads the chain's row as `c`. */
export const HEAD = 'c.head_number';

/** Only at a block below the head can something have ended later. */
export const isBelowHead = (block: string, chain = '$1') =>
  `EXISTS (SELECT 1 FROM chain h WHERE h.chain = ${chain} AND h.head_number > ${block})`;

/** Revocations `r` at or before the block that were not settled by then. */
export const unsettledBy = (
  dialect: Dialect['name'],
  block: string,
  chain = '$1',
) => `FROM v1_read r${indexedBy(dialect, 'v1_unsettled')}
  WHERE r.chain = ${chain} AND (r.read_block IS NULL OR r.read_block > r.block)
    AND r.block <= ${block} AND (r.read_block IS NULL OR r.read_block > ${block})`;

/** One delegate of a wallet, whose index hash is known. */
interface Delegate {
  readonly to: string;
  readonly hot: string;
}

/**
 * True where a delegation that was granted before revocation `r` held at the block and it is unknown whether `r` ended it, or
 * where only the state of a later block showed that it did: to one delegate, or to any. The place of a v1 span is its own grant.
 */
export function mayHaveEnded(dialect: Dialect['name'], delegate: Delegate | null, block: string, chain = '$1'): string {
  const settled = (condition: string) => `EXISTS (SELECT 1 FROM v1_pair k WHERE k.chain = ${chain} AND k.vault = r.vault
    AND k.block = r.block AND ${condition})`;
  const isOf = delegate === null ? '' : `AND p.hot = ${delegate.hot} AND p.to_addr = ${delegate.to}`;
  // Without the sum, PostgreSQL might read the chain by its primary key.
  const chainOf = dialect === 'postgres' ? 'p.chain + 0' : 'p.chain';
  const held = (half: 'open' | 'closed', until: string) => {
    const where = `p.cold = r.cold ${isOf} AND ${chainOf} = ${chain} AND p.version = 1 AND p.from_addr = r.vault
      AND p.first_block <= r.block AND NOT ${settled(`k.delegate = p.to_addr AND k.read_block <= ${block}`)}`;
    return `EXISTS (SELECT 1 FROM ${spansBy(dialect, `${half}_${delegate === null ? 'from' : 'pair'}`, 'p', where, { until })})`;
  };
  // Nothing has ended after the head.
  const ended = block === HEAD ? '' : `OR (${isBelowHead(block, chain)} AND ${held('closed', `> ${block}`)})`;
  const isPair = delegate === null ? '' : `k.delegate = ${delegate.to} AND`;
  return `(${held('open', 'IS NULL')} ${ended}
    OR ${settled(`${isPair} k.ended_by IS NOT NULL AND k.read_block > ${block}`)})`;
}

/** True where it is unknown whether a revocation ended what one wallet had granted another. */
export const isPairUnsettled = (
  dialect: Dialect['name'],
  { from, ...delegate }: Delegate & { readonly from: string },
  block: string,
  chain = '$1',
) =>
  `EXISTS (SELECT 1 ${unsettledBy(dialect, block, chain)} AND r.vault = ${from} AND ${mayHaveEnded(dialect, delegate, block, chain)})`;
