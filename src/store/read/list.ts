// Lists a wallet's delegations as of a block, oldest first, a page at a time.

import { isAddress } from '../../registry/delegation.ts';
import { hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import type { Engine, Param } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeFlag, decodeHexOrNull, decodeNumber, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import type { HeldDelegation, ListPage, ListQuery } from '../store.ts';
import type { HeldColumns } from './held-columns.ts';
import { once } from './once.ts';
import { historyChanged, requireBlockNumber, requireIndexed, unsettledRevocation } from './refusals.ts';
import { ALL_DELEGATES, asNumber, isBelowHead, mayHaveEnded, oneDelegate, unsettledBy } from './unsettled.ts';

function encodeParams({ chainId, version, wallet, direction, at, after, limit }: ListQuery, hash: IndexHash): Param[] {
  return [
    chainId,
    version,
    encodeHex(wallet),
    at.block,
    at.revision,
    after?.block ?? -1,
    after?.logIndex ?? -1,
    limit,
    at.seen ?? at.revision,
    at.stamp ?? -1,
    ...(direction === 'incoming' ? [] : [hash.cold(chainId, wallet)]),
    ...(direction === 'outgoing' ? [] : [hash.hot(chainId, wallet)]),
  ];
}

const HALVES = {
  open: 's.until_block IS NULL',
  // Nothing has ended after the head, so a list as of the head never reads closed spans.
  closed: `s.until_block IS NOT NULL AND ${isBelowHead('$4')}`,
};

/** The store is behind the revision $9, or history up to block $4 changed since revision $5, or $5 has another stamp than $10. */
const IS_REWRITTEN = `c.revision < $9 OR EXISTS (SELECT 1 FROM rewrite w
    WHERE w.chain = $1 AND w.revision > $5 AND w.from_block <= $4)
  OR (NOT EXISTS (SELECT 1 FROM revision v WHERE v.chain = $1 AND v.revision = $5 AND v.stamp = $10) AND $10 >= 0)`;

/** Returns the chain's row, then the spans. */
export const listStatement = <D extends HeldDelegation>(held: HeldColumns<D>) =>
  once((version: Version, direction?: 'incoming' | 'outgoing') => {
    const row = columns(
      'first_block',
      'head_number',
      'is_rewritten',
      'unsettled_vault',
      'until_block',
      ...KEY.names,
      ...held.names,
    );
    const [cold, hot] = ['$11', direction === undefined ? '$12' : '$11'];
    const sides = (['from', 'to'] as const).filter((side) => direction !== (side === 'from' ? 'incoming' : 'outgoing'));
    const unsettled = sides.map((side) =>
      side === 'from'
        ? `(r.vault = $3 AND ${mayHaveEnded(ALL_DELEGATES, '$4')})`
        : mayHaveEnded(oneDelegate(hot, '$3'), '$4'),
    );
    // Before every span in the order of the page.
    const chain = `SELECT ${row.select({
      first_block: 'c.first_block',
      head_number: 'c.head_number',
      is_rewritten: asNumber(IS_REWRITTEN),
      unsettled_vault: hasUnnamedRevocations(version)
        ? `(SELECT r.vault ${unsettledBy('$4')} AND (${unsettled.join(' OR ')}) LIMIT 1)`
        : 'NULL',
      since_block: '-1',
      since_log: '-1',
    })} FROM chain c WHERE c.chain = $1`;
    const span = row.select({ until_block: 's.until_block', ...ofTable('s', KEY.names), ...held.expressions });
    // Each scan is in the order of its index, so that SQLite merges them and stops at the limit.
    const scan = (side: 'from' | 'to', half: 'open' | 'closed') => `/*pg (*/ SELECT ${span}
      FROM span s INDEXED BY span_${half}_${side} ${held.joins}
      WHERE ${side === 'from' ? `s.cold = ${cold} /*pg AND s.cold >= 0*/` : `s.hot = ${hot} /*pg AND s.hot >= 0*/`} AND s.chain = $1 AND s.version = $2
        AND s.${side}_addr = $3 AND ${HALVES[half]} AND s.since_block <= $4 AND (s.since_block, s.since_log) > ($6, $7)
        ${side === 'to' && direction === undefined ? 'AND s.from_addr <> $3' : ''}
      /*pg ORDER BY s.since_block, s.since_log LIMIT $8)*/`;
    const scans = sides.flatMap((side) => [scan(side, 'open'), scan(side, 'closed')]);
    const sql = `${[chain, ...scans].join('\n UNION ALL ')} ORDER BY since_block, since_log LIMIT $8 + 1`;
    return { sql, at: row.at, decodeKey: keyDecoder(row.at), decodeHeld: held.decoder(row.at) };
  });

function requireList({ wallet, at, limit }: ListQuery): void {
  if (!isAddress(wallet)) throw new StoreError('bad-question', `wallet ${wallet} is not a lower-case address`);
  requireBlockNumber(at.block);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new StoreError('bad-question', `limit ${limit} is not 1 or more`);
}

export function createList<D extends HeldDelegation>(
  engine: Engine,
  hash: IndexHash,
  held: HeldColumns<D>,
): (query: ListQuery) => Promise<ListPage<D>> {
  const statementFor = listStatement(held);
  return async (query) => {
    requireList(query);
    const { chainId, version, direction, at: pinned, limit, matches } = query;
    const { sql, at, decodeKey, decodeHeld } = statementFor(version, direction);
    const [chain = [], ...spans] = await engine.rows(sql, encodeParams(query, hash));
    if (decodeFlag(chain[at.is_rewritten])) throw historyChanged(chainId, pinned.block);
    const [first, head] = [decodeNumberOrNull(chain[at.first_block]), decodeNumberOrNull(chain[at.head_number])];
    requireIndexed(chainId, pinned.block, first, head);
    const vault = decodeHexOrNull(chain[at.unsettled_vault]);
    if (vault !== null) throw unsettledRevocation(vault);
    const delegations: D[] = [];
    for (const row of spans) {
      const until = decodeNumberOrNull(row[at.until_block]);
      if (until !== null && until <= pinned.block) continue;
      const delegation = decodeHeld(decodeKey(version, row), row);
      if (matches === undefined || matches(delegation)) delegations.push(delegation);
    }
    const last = spans.length < limit ? undefined : spans.at(-1);
    const next = last && { block: decodeNumber(last[at.since_block]), logIndex: decodeNumber(last[at.since_log]) };
    return { delegations, next: next ?? null };
  };
}
