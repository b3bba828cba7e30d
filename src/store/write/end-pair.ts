// Ends everything from a v1 wallet to a delegate with a log: spans that began before it end there, and grants after it begin
// new spans, even if they had counted as repeated grants.

import type { Address } from '../../registry/delegation.ts';
import type { Dialect } from '../engine.ts';
import { encodeHex } from '../rows/cells.ts';
import { decodeLog, LOG } from '../rows/log-row.ts';
import { isInIndex, type SpanIndex } from '../rows/span-index.ts';
import { indexedBy, once } from '../rows/sql.ts';
import type { LogPosition } from '../store.ts';
import type { ChainWriter } from './chain-writer.ts';
import { groupByBlock, readSettledEnds } from './derive.ts';
import { writeSpans } from './span-rows.ts';
import { type AppliedLog, createSpanSet } from './span-set.ts';

const IS_PAIR = 'cold = $1 AND hot = $2 AND chain + 0 = $3 AND from_addr = $4 AND to_addr = $5';

/** $6 and $7 are the log's position. */
export const endPairStatements = once((dialect: Dialect['name']) => {
  const by = (index: SpanIndex) => `span${indexedBy(dialect, `span_${index}`)}`;
  const isOfPair = (index: SpanIndex, until?: string) => `${isInIndex(dialect, index, '', until)} AND ${IS_PAIR}`;
  const end = (index: SpanIndex, until?: string) =>
    `UPDATE ${by(index)} SET until_block = $6, until_log = $7 WHERE ${isOfPair(index, until)}
      AND (since_block + 0, since_log) < ($6, $7)`;
  return {
    // Of two logs of one block that end a span, the first counts.
    endBefore: [end('open_pair'), `${end('closed_pair', '>= $6')} AND (until_block, until_log) > ($6, $7)`],
    deleteEmpty: `DELETE FROM ${by('closed_pair')} WHERE ${isOfPair('closed_pair', '= $6')} AND since_block + 0 = $6`,
    deleteAfter: (['open_pair', 'closed_pair'] as const).map(
      (index) => `DELETE FROM ${by(index)} WHERE ${isOfPair(index)} AND (since_block + 0, since_log) > ($6, $7)`,
    ),
  };
});

export async function endPair(writer: ChainWriter, from: Address, to: Address, at: LogPosition): Promise<void> {
  const { tx, chainId, hash } = writer;
  const pair = [hash.cold(chainId, from), hash.hot(chainId, to), chainId, encodeHex(from), encodeHex(to)];
  const params = [...pair, at.block, at.logIndex];
  const { endBefore, deleteEmpty, deleteAfter } = endPairStatements(tx.dialect);
  for (const statement of endBefore) await tx.run(statement, params);
  await tx.run(deleteEmpty, [...pair, at.block]);
  const rows = await tx.rows(
    `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND (block, log_index) > ($2, $3) AND version = 1 AND from_addr = $4
      ORDER BY block, log_index`,
    [chainId, at.block, at.logIndex, encodeHex(from)],
  );
  if (rows.length === 0) return;
  for (const statement of deleteAfter) await tx.run(statement, params);
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
