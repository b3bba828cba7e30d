// Ends everything from a v1 wallet to a delegate with a log: spans that began before it end there, and grants after it begin
// new spans, even if they had counted as repeated grants.

import type { Address } from '../../registry/delegation.ts';
import { encodeHex } from '../rows/cells.ts';
import { decodeLog, LOG } from '../rows/log-row.ts';
import type { LogPosition } from '../store.ts';
import type { ChainWriter } from './chain-writer.ts';
import { groupByBlock, readSettledEnds } from './settled-ends.ts';
import { writeSpans } from './span-rows.ts';
import { type AppliedLog, createSpanSet } from './span-set.ts';

const IS_PAIR =
  'cold = $1 AND hot = $2 /*pg AND key >= 0*/ AND chain /*pg + 0*/ = $3 AND version = 1 AND from_addr = $4 AND to_addr = $5';

/** $6 and $7 are the log's position. */
export const END_BEFORE = [
  ['open_pair', 'until_block IS NULL'],
  // Of two logs of one block that end a span, the first counts.
  ['closed_pair', 'until_block >= $6 AND (until_block, until_log) > ($6, $7)'],
].map(
  ([half, condition]) =>
    `UPDATE span INDEXED BY span_${half} SET until_block = $6, until_log = $7 WHERE ${condition} AND ${IS_PAIR} AND (since_block /*pg + 0*/, since_log) < ($6, $7)`,
);

export const DELETE_EMPTY = `DELETE FROM span INDEXED BY span_closed_pair WHERE until_block = $6
  AND since_block /*pg + 0*/ = $6 AND ${IS_PAIR}`;

export const DELETE_AFTER = ['open_pair WHERE until_block IS NULL', 'closed_pair WHERE until_block IS NOT NULL'].map(
  (half) =>
    `DELETE FROM span INDEXED BY span_${half} AND ${IS_PAIR} AND (since_block /*pg + 0*/, since_log) > ($6, $7)`,
);

export async function endPair(writer: ChainWriter, from: Address, to: Address, at: LogPosition): Promise<void> {
  const { tx, chainId, hash } = writer;
  const pair = [hash.cold(chainId, from), hash.hot(chainId, to), chainId, encodeHex(from), encodeHex(to)];
  const params = [...pair, at.block, at.logIndex];
  for (const statement of END_BEFORE) await tx.run(statement, params);
  await tx.run(DELETE_EMPTY, [...pair, at.block]);
  const rows = await tx.rows(
    `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND (block, log_index) > ($2, $3) AND version = 1 AND from_addr = $4
      ORDER BY block, log_index`,
    [chainId, at.block, at.logIndex, encodeHex(from)],
  );
  if (rows.length === 0) return;
  for (const statement of DELETE_AFTER) await tx.run(statement, params);
  const spans = createSpanSet({ open: [], places: new Map() });
  for (const { number, logs } of groupByBlock(rows.map(decodeLog), await readSettledEnds(tx, chainId, from))) {
    for (const log of logs.flatMap((one) => partOfPair(one, from, to))) spans.apply(number, log);
  }
  const { opened } = spans.changes();
  // The ends in these logs were applied to all other pairs of the wallet before.
  await writeSpans(writer, { opened, closed: [], ends: [] });
}

/** What a log of the wallet means for this pair alone. */
function partOfPair(log: AppliedLog, from: Address, to: Address): AppliedLog[] {
  const { event, revoked, ended = [], logIndex } = log;
  if ('delegation' in event) return event.delegation.to === to ? [log] : [];
  if (event.type === 'vaultRevoked') return [log];
  const revokes = event.type === 'delegateRevoked' ? event.to === to : revoked === to || ended.includes(to);
  return revokes ? [{ logIndex, event: { type: 'delegateRevoked', from, to } }] : [];
}
