// SQL conditions for v1 revocations that name no delegate: whether it is unknown if one of them ended a delegation.
//
// SQLite is told its index by name, because its planner would read a whole chain rather than use half an index. PostgreSQL
// does not have INDEXED BY and is not shown it. Only PostgreSQL is shown what is in /*pg …*/: the condition that is unique to
// the right index.

/** The head, in a statement that reads the chain's row as `c`. */
export const HEAD = 'c.head_number';

/** Only at a block below the head can something have ended later. */
export const isBelowHead = (block: string, chain = '$1') =>
  `EXISTS (SELECT 1 FROM chain h WHERE h.chain = ${chain} AND h.head_number > ${block})`;

/** Revocations `r` at or before the block that were not settled by then. */
export const unsettledBy = (block: string, chain = '$1') => `FROM v1_read r INDEXED BY v1_unread
  WHERE r.chain = ${chain} AND (r.read_block IS NULL OR r.read_block > r.block)
    AND r.block <= ${block} AND (r.read_block IS NULL OR r.read_block > ${block})`;

/** Which delegates of a wallet a condition is about. */
interface Delegates {
  /** Condition on span `p`. */
  readonly spans: string;
  /** Condition on settled pair `k`. */
  readonly pairs: string;
  readonly index: 'pair' | 'from';
}

export const oneDelegate = (hot: string, to: string): Delegates => ({
  spans: `p.hot = ${hot} /*pg AND p.key >= 0*/ AND p.to_addr = ${to}`,
  pairs: `k.delegate = ${to}`,
  index: 'pair',
});
export const ALL_DELEGATES: Delegates = { spans: '1 = 1 /*pg AND p.cold >= 0*/', pairs: '1 = 1', index: 'from' };

/**
 * True where a delegation that was granted before revocation `r` held at the block and it is unknown whether `r` ended it, or
 * where only the state of a later block showed that it did. The place of a v1 span is its own grant.
 */
export function mayHaveEnded({ spans, pairs, index }: Delegates, block: string, chain = '$1'): string {
  const settled = (condition: string) => `EXISTS (SELECT 1 FROM v1_pair k WHERE k.chain = ${chain} AND k.vault = r.vault
    AND k.block = r.block AND ${condition})`;
  const half = (
    name: 'open' | 'closed',
    until: string,
  ) => `EXISTS (SELECT 1 FROM span p INDEXED BY span_${name}_${index}
    WHERE p.cold = r.cold AND ${spans} AND p.chain /*pg + 0*/ = ${chain} AND p.version = 1 AND p.from_addr = r.vault AND p.until_block ${until}
      AND p.first_block <= r.block AND NOT ${settled(`k.delegate = p.to_addr AND k.read_block <= ${block}`)})`;
  // Nothing has ended after the head.
  const ended = block === HEAD ? '' : `OR (${isBelowHead(block, chain)} AND ${half('closed', `> ${block}`)})`;
  return `(${half('open', 'IS NULL')} ${ended}
    OR ${settled(`${pairs} AND k.ended_by IS NOT NULL AND k.read_block > ${block}`)})`;
}

/** True where it is unknown whether a revocation ended what one wallet had granted another. */
export const isPairUnsettled = (pair: { from: string; to: string; hot: string }, block: string, chain = '$1') =>
  `EXISTS (SELECT 1 ${unsettledBy(block, chain)} AND r.vault = ${pair.from} AND ${mayHaveEnded(oneDelegate(pair.hot, pair.to), block, chain)})`;

/** A condition as 1 or 0 in both engines. */
export const asNumber = (condition: string) => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;
