// Reads what began, ended or changed on a chain after a position, in the order of its logs, and whether history before the position
// has changed.

import type { Version } from '../../registry/versions.ts';
import { comparePositions, endOfBlock, STEPS } from '../change-position.ts';
import type { Engine, Param, Row } from '../engine.ts';
import { blockDecoder } from '../rows/block-row.ts';
import { decodeFlag, decodeHex, decodeNumber, decodeNumberOrNull } from '../rows/cells.ts';
import { CHAIN, chainDecoder } from '../rows/chain-row.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import type { AnswerBlock, Change, ChangePosition, ChangesPage, ChangesQuery, Store } from '../store.ts';
import { DETAILED } from './held-columns.ts';
import { hashOf, LOOKED_UP, timeOf, transactionOf } from './lookups.ts';
import { once } from './once.ts';
import { notIndexed } from './refusals.ts';
import { asNumber } from './unsettled.ts';

/** Columns of the chain's row. */
const OF_CHAIN = ['stamp', 'is_known', 'rewritten_from', 'undo_number', 'undo_hash', 'undo_timestamp'] as const;
/** A change: the log that made it, its span, and whether the same log ended one span and began the next. */
const CHANGE = columns(
  'step',
  'at_block',
  'at_log',
  'at_hash',
  'at_timestamp',
  'at_transaction',
  'since_block',
  'since_log',
  'has_neighbour',
  'version',
  ...KEY.names,
  'amount',
  'since_time',
  'since_transaction',
);
const ROW = columns(...CHANGE.names, ...CHAIN.names, ...OF_CHAIN);
const { at } = ROW;

/** The step of the chain's row. */
const CHAIN_STEP = -1;

/** The lowest block that may have changed since revision $2. */
const REWRITTEN_FROM = '(SELECT min(w.from_block) FROM rewrite w WHERE w.chain = $1 AND w.revision > $2)';
/** The newest kept block before it. Blocks between the two have no logs: those with logs are all kept. */
const UNDO_TO = `(SELECT max(k.number) FROM block k WHERE k.chain = $1 AND k.number < ${REWRITTEN_FROM})`;

/** A span that began and ended in one block held at the end of no block. */
const isNotEmpty = (span: string) => `(${span}.until_block IS NULL OR ${span}.since_block < ${span}.until_block)`;

/** The two scans of spans: the one that the log at a position ended, and the one that it began. */
const SCANS = {
  ended: {
    block: 's.until_block',
    log: 's.until_log',
    index: 'INDEXED BY span_until',
    condition: 's.until_block IS NOT NULL /*pg AND s.chain >= 0*/ AND',
    order: 's.until_block, s.until_log, s.since_block, s.since_log',
    after: '$4, $5, $6, $7',
    /** Finds a span that the same log began. */
    neighbour: `SELECT 1 FROM span n WHERE n.chain = $1 AND n.since_block = s.until_block AND n.since_log = s.until_log`,
  },
  began: {
    block: 's.since_block',
    log: 's.since_log',
    index: '',
    condition: '',
    order: 's.since_block, s.since_log',
    after: '$8, $9',
    /** Finds a span that the same log ended. */
    neighbour: `SELECT 1 FROM span n INDEXED BY span_until WHERE n.chain = $1 /*pg AND n.chain >= 0*/
      AND n.until_block = s.since_block AND n.until_log = s.since_log`,
  },
} as const;

/** $2 and $3 are the revision and the stamp of the cursor, $4 to $9 where each scan continues, $10 is the limit. */
export const changesStatement = once((isFinal: boolean) => {
  const chain = ROW.select({
    step: String(CHAIN_STEP),
    ...ofTable('c', CHAIN.names),
    stamp: 'v.stamp',
    is_known: asNumber('EXISTS (SELECT 1 FROM revision k WHERE k.chain = $1 AND k.revision = $2 AND k.stamp = $3)'),
    rewritten_from: REWRITTEN_FROM,
    undo_number: 'u.number',
    undo_hash: 'u.hash',
    undo_timestamp: 'u.timestamp',
  });
  const scan = (step: 'ended' | 'began') => {
    const { block, log, index, condition, order, after, neighbour } = SCANS[step];
    const selected = CHANGE.select({
      step: String(STEPS[step]),
      at_block: block,
      at_log: log,
      at_hash: hashOf(block),
      at_timestamp: timeOf(block),
      at_transaction: transactionOf(block, log),
      // PostgreSQL might read the whole table for an EXISTS.
      has_neighbour: `coalesce((${neighbour} AND ${isNotEmpty('n')} LIMIT 1), 0)`,
      version: 's.version',
      ...ofTable('s', KEY.names),
      ...LOOKED_UP,
    });
    return `SELECT ${ROW.select(ofTable('e', CHANGE.names))} FROM (SELECT ${selected} FROM span s ${index}
      WHERE s.chain = $1 AND ${condition} (${order}) > (${after}) AND ${isNotEmpty('s')}
        ${isFinal ? `AND ${block} <= (SELECT coalesce(h.verified, -1) FROM chain h WHERE h.chain = $1)` : ''}
      ORDER BY ${order} LIMIT $10) AS e`;
  };
  return `SELECT ${chain} FROM chain c JOIN revision v ON v.chain = c.chain AND v.revision = c.revision
      LEFT JOIN block u ON u.chain = c.chain AND u.number = ${UNDO_TO} WHERE c.chain = $1
    UNION ALL ${scan('ended')} UNION ALL ${scan('began')}`;
});

const decodeState = chainDecoder(at);
const decodeUndo = blockDecoder({ number: at.undo_number, hash: at.undo_hash, timestamp: at.undo_timestamp });
const decodeBlock = blockDecoder({ number: at.at_block, hash: at.at_hash, timestamp: at.at_timestamp });
const decodeKey = keyDecoder(at);
const decodeHeld = DETAILED.decoder(at);

const positionOf = (row: Row): ChangePosition => ({
  block: decodeNumber(row[at.at_block]),
  logIndex: decodeNumber(row[at.at_log]),
  step: decodeNumber(row[at.step]) === STEPS.ended ? 'ended' : 'began',
  since: { block: decodeNumber(row[at.since_block]), logIndex: decodeNumber(row[at.since_log]) },
});

/** Where each scan continues. A log that has ended something may begin something too. */
function encodePosition({ block, logIndex, step, since }: ChangePosition): Param[] {
  return step === 'ended'
    ? [block, logIndex, since.block, since.logIndex, block, logIndex - 1]
    : [block, logIndex, Number.MAX_SAFE_INTEGER, 0, block, logIndex];
}

const decodeChange = (row: Row, { verified }: { readonly verified: number | null }): Change => {
  const position = positionOf(row);
  const block = decodeBlock(row);
  const began = decodeFlag(row[at.has_neighbour]) ? 'changed' : 'began';
  return {
    type: position.step === 'ended' ? 'ended' : began,
    position,
    delegation: decodeHeld(decodeKey(decodeNumber(row[at.version]) as Version, row), row),
    block,
    logIndex: position.logIndex,
    transactionHash: decodeHex(row[at.at_transaction]),
    isFinal: verified !== null && block.number <= verified,
  };
};

export const createChanges =
  (engine: Engine): Store['changes'] =>
  async ({ chainId, after, isFinal, limit }: ChangesQuery): Promise<ChangesPage> => {
    const position = after?.position ?? endOfBlock(-1);
    const seen = after ?? { revision: Number.MAX_SAFE_INTEGER, stamp: -1 };
    const cells = [chainId, seen.revision, seen.stamp, ...encodePosition(position), limit];
    const [chainRow, ...rows] = await engine.rows(changesStatement(isFinal), cells);
    if (chainRow === undefined) throw notIndexed(chainId);
    const chain = decodeState(chainRow);
    if (chain.head === null) throw notIndexed(chainId);
    const revision = { revision: chain.revision, stamp: decodeNumber(chainRow[at.stamp]) };
    const undo = after === null ? null : undoOf(chainRow, position);
    if (undo !== null)
      return { chain, undo, changes: [], next: { ...revision, position: endOfBlock(undo.number) }, isEnd: false };
    // Each scan has its first changes in order, so the first of both together are the next ones.
    const found = rows.map((row) => ({ row, position: positionOf(row) }));
    found.sort((one, other) => comparePositions(one.position, other.position));
    const page = found.slice(0, limit);
    const isEnd = found.length < limit;
    const end = isFinal ? (chain.verified ?? -1) : chain.head.number;
    // If a log ended a span to begin the next one, only the second is reported, as changed.
    const reported = page.filter(
      ({ row, position: { step } }) => step === 'began' || !decodeFlag(row[at.has_neighbour]),
    );
    return {
      chain,
      undo: null,
      changes: reported.map(({ row }) => decodeChange(row, chain)),
      next: { ...revision, position: isEnd ? later(position, endOfBlock(end)) : (page.at(-1)?.position ?? position) },
      isEnd,
    };
  };

/** The block after which everything is void for a reader that has reached a position. Null if nothing is. */
function undoOf(chainRow: Row, position: ChangePosition): AnswerBlock | null {
  // History was lost with the cursor's revision. That may have begun at an earlier block.
  if (!decodeFlag(chainRow[at.is_known])) return GENESIS;
  const rewrittenFrom = decodeNumberOrNull(chainRow[at.rewritten_from]);
  if (rewrittenFrom === null || rewrittenFrom > position.block) return null;
  return decodeNumberOrNull(chainRow[at.undo_number]) === null ? GENESIS : decodeUndo(chainRow);
}

const later = (one: ChangePosition, other: ChangePosition) => (comparePositions(one, other) > 0 ? one : other);

/** The first block of every chain has no transactions. */
const GENESIS: AnswerBlock = { number: 0, hash: null, timestamp: null };
