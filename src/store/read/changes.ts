// Reads what began, ended or changed on a chain after a position, in the order of its logs, and whether history before the position
// has changed.

import type { Address } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import { comparePositions, endOfBlock, STEPS } from '../change-position.ts';
import type { Dialect, Param, Row } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { blockDecoder } from '../rows/block-row.ts';
import { decodeFlag, decodeHex, decodeNumber, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { columns, namesOf, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import { type SpanIndex, spansBy } from '../rows/span-index.ts';
import { asNumber, limited, once, params } from '../rows/sql.ts';
import type { AnswerBlock, Change, ChangePosition, ChangesPage, ChangesQuery, ChosenBlock, Store } from '../store.ts';
import { DETAILED, hashOf, PLAIN, timeOf, transactionOf } from './held-columns.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';

/** What a scan finds: a span, and the log that ended or began it. */
const OF_SPAN = ['casing', ...KEY.names, ...namesOf(PLAIN.expressions)] as const;
const FOUND = columns('step', 'at_block', 'at_log', 'is_wanted', 'version', ...OF_SPAN);

/** The lowest block that may have changed since a revision. */
const rewrittenFrom = (revision: string) =>
  `(SELECT min(w.from_block) FROM rewrite w WHERE w.chain = $1 AND w.revision > ${revision})`;
const isKnown = (revision: string, stamp: string) =>
  `EXISTS (SELECT 1 FROM revision k WHERE k.chain = $1 AND k.revision = ${revision} AND k.stamp = ${stamp})`;
/**
 * The lowest block of which the reader may have seen something else. If its revision was lost, history is the same up to its final
 * block, unless it was rewritten since; if that was lost too, nothing is sure.
 */
const AFTER_FINAL = `SELECT w.from_block FROM rewrite w WHERE w.chain = $1 AND w.revision > $12 UNION ALL SELECT CAST($11 AS BIGINT) + 1`;
const VOID_FROM = `CASE WHEN ${isKnown('$2', '$3')} THEN ${rewrittenFrom('$2')}
  WHEN ${isKnown('$12', '$13')} THEN (SELECT min(a.from_block) FROM (${AFTER_FINAL}) AS a) ELSE 0 END`;
/** The newest kept block before it. Blocks between the two have no logs: those with logs are all kept. */
const UNDO_TO = `(SELECT max(k.number) FROM block k WHERE k.chain = $1 AND k.number < (${VOID_FROM}))`;
/** The newest revision with a final head. Few are newer. */
const FINAL_REVISION = `(SELECT r.revision FROM revision r WHERE r.chain = $1 AND r.head <= c.verified
  ORDER BY r.revision DESC LIMIT 1)`;

/** Beside the chain's state: the newest block that still holds for the reader, and the newest final revision. */
const OF_CHAIN = {
  stamp: 'v.stamp',
  void_from: VOID_FROM,
  undo_number: 'u.number',
  undo_hash: 'u.hash',
  undo_timestamp: 'u.timestamp',
  final_revision: 'f.revision',
  final_stamp: 'f.stamp',
  final_head: 'f.head',
  final_rewritten: rewrittenFrom('f.revision'),
} as const;

/** A span that began and ended in one block held at the end of no block. */
const isNotEmpty = (span: string) => `(${span}.until_block IS NULL OR ${span}.since_block < ${span}.until_block)`;

type Step = keyof typeof STEPS;

/** What one scan finds its spans by: nothing but the chain, a wallet, by its hash, or a contract. */
const FOUND_BY = {
  all: null,
  from: { hash: 'cold', column: 'from_addr' },
  to: { hash: 'hot', column: 'to_addr' },
  contract: { hash: null, column: 'contract' },
} as const;
type By = keyof typeof FOUND_BY;

/** The two scans of spans: the one that the log at a position ended, and the one that it began. */
const SCANS = {
  ended: {
    block: 's.until_block',
    log: 's.until_log',
    order: 's.until_block, s.until_log, s.since_block, s.since_log',
    after: '$4, $5, $6, $7',
    indexes: { all: 'until', from: 'until_from', to: 'until_to', contract: 'until_contract' },
  },
  began: {
    block: 's.since_block',
    log: 's.since_log',
    order: 's.since_block, s.since_log',
    after: '$8, $9',
    // All are found by the primary key.
    indexes: { all: null, from: 'granted', to: 'received', contract: 'since_contract' },
  },
} as const satisfies Record<Step, { readonly indexes: Record<By, SpanIndex | null> } & Record<string, unknown>>;

/** The filters, those that leave least first, and the scans of each: a wallet is on either side. */
const FILTERS = {
  from: { scans: ['from'], matches: (address: string) => `s.from_addr = ${address}` },
  to: { scans: ['to'], matches: (address: string) => `s.to_addr = ${address}` },
  wallet: { scans: ['from', 'to'], matches: (address: string) => `${address} IN (s.from_addr, s.to_addr)` },
  contract: { scans: ['contract'], matches: (address: string) => `s.contract = ${address}` },
} as const;
type FilterName = keyof typeof FILTERS;

/** The spans of an address, as its index has them. */
function isFoundBy(dialect: Dialect['name'], by: By, address: string, hash: string): string {
  const found = FOUND_BY[by];
  if (found === null) return '';
  const [leading, value] = found.hash === null ? [found.column, address] : [found.hash, hash];
  // Always true. PostgreSQL expects fewer rows of the column's index with it, and prefers it to the primary key.
  const more = dialect === 'postgres' ? `AND s.${leading} BETWEEN ${value} AND ${value}` : '';
  return `AND s.${leading} = ${value} ${more}${found.hash === null ? '' : ` AND s.${found.column} = ${address}`}`;
}

const onlyIf = (condition: string, expression: string) => `CASE WHEN ${condition} THEN ${expression} END`;

/** Looked up for the changes of a page. What began has the same log twice: it is looked up once. */
const ofLogs = (dialect: Dialect['name']) => {
  const hasEnded = `s.step = ${STEPS.ended}`;
  // A span that the same log began, or ended. PostgreSQL might read the whole table for an EXISTS.
  const neighbour = (from: string) => `coalesce((SELECT 1 FROM ${from} AND ${isNotEmpty('n')} LIMIT 1), 0)`;
  const begun = 'span n WHERE n.chain = $1 AND n.since_block = s.at_block AND n.since_log = s.at_log';
  const ended = spansBy(dialect, 'until', 'n', 'n.chain = $1 AND n.until_log = s.at_log', { until: '= s.at_block' });
  const hasNeighbour = `CASE WHEN ${hasEnded} THEN ${neighbour(begun)} ELSE ${neighbour(ended)} END`;
  const joined = { at_hash: 'b.hash', at_timestamp: 'b.timestamp', at_transaction: 'l.transaction_hash' };
  const lookedUp = {
    at_hash: onlyIf('s.is_wanted = 1', hashOf('s.at_block')),
    at_timestamp: onlyIf('s.is_wanted = 1', timeOf('s.at_block')),
    at_transaction: onlyIf('s.is_wanted = 1', transactionOf('s.at_block', 's.at_log')),
  };
  return {
    ...(dialect === 'sqlite' ? joined : lookedUp),
    has_neighbour: onlyIf('s.is_wanted = 1', hasNeighbour),
    since_time: onlyIf(`s.is_wanted = 1 AND ${hasEnded}`, DETAILED.expressions.since_time),
    since_transaction: onlyIf(`s.is_wanted = 1 AND ${hasEnded}`, DETAILED.expressions.since_transaction),
  };
};

/** PostgreSQL might read the whole table for a join. */
const JOINS = `LEFT JOIN block b ON s.is_wanted = 1 AND b.chain = $1 AND b.number = s.at_block
  LEFT JOIN log l ON s.is_wanted = 1 AND l.chain = $1 AND l.block = s.at_block AND l.log_index = s.at_log`;

/** A change: what was found, the rest of its logs, and whether the same log ended one span and began the next. */
const NAMES = [...FOUND.names, ...namesOf(ofLogs('sqlite')), ...namesOf(OF_CHAIN)];
const { col } = stateStatement(NAMES, () => '');

/**
 * $2 and $3 are the revision and the stamp of the cursor, $4 to $9 where each scan continues, $10 is the limit, $11 to $13 are the
 * cursor's final block and its revision. Then come the addresses of the filters, and the hashes of the first one for its scans.
 * What only the other filters leave out is read as a position: a page never reads more than its limit.
 */
export const changesStatement = once(
  (dialect: Dialect['name'], isFinal: boolean, ...filters: readonly FilterName[]) => {
    const [first, ...others] = filters;
    const [address = '', ...rest] = params(14, filters.length);
    const hashes = params(14 + filters.length, 2);
    const wanted = others.map((name, turn) => FILTERS[name].matches(rest[turn] as string)).join(' AND ');
    const scan = (step: Step, by: By, hash = '') => {
      const { block, log, indexes, order, after } = SCANS[step];
      // To SQLite an address is after every number, and what a parameter is equal to is in any order: with it nothing is left to sort.
      const tie = dialect === 'sqlite' && step === 'began' && by !== 'all' ? `s.${FOUND_BY[by].column}` : null;
      const inOrder = `${tie ?? 's.since_block'} AS order_block, ${tie ?? 's.since_log'} AS order_log`;
      const selected = FOUND.select({
        ...ofTable('s', FOUND.names),
        step: String(STEPS[step]),
        at_block: block,
        at_log: log,
        is_wanted: wanted === '' ? '1' : asNumber(wanted),
      });
      const where = `s.chain = $1 ${isFoundBy(dialect, by, address, hash)} AND (${order}) > (${after}) AND ${isNotEmpty('s')}
      ${isFinal ? `AND ${block} <= (SELECT coalesce(h.verified, -1) FROM chain h WHERE h.chain = $1)` : ''}`;
      const index = indexes[by];
      const spans = index === null ? `span s WHERE ${where}` : spansBy(dialect, index, 's', where);
      return limited(dialect, `SELECT ${selected}, ${inOrder} FROM ${spans}`, order, '$10');
    };
    const scans = (first === undefined ? (['all'] as const) : FILTERS[first].scans).flatMap((by, turn) =>
      (Object.keys(STEPS) as Step[]).map((step) => scan(step, by, hashes[turn])),
    );
    // What ended began before, so the changes of one log are in the order of `since`.
    return stateStatement(
      NAMES,
      (
        select,
      ) => `SELECT ${select({ ...STATE, step: '-1', ...OF_CHAIN })} FROM chain c JOIN revision v ON v.chain = c.chain AND v.revision = c.revision
        LEFT JOIN block u ON u.chain = c.chain AND u.number = ${UNDO_TO}
        LEFT JOIN revision f ON f.chain = c.chain AND f.revision = ${FINAL_REVISION} WHERE c.chain = $1
      UNION ALL SELECT ${select({ ...ofTable('s', FOUND.names), ...ofLogs(dialect) })}
        FROM (${scans.join(' UNION ALL ')} ORDER BY at_block, at_log, order_block, order_log LIMIT $10) AS s ${dialect === 'sqlite' ? JOINS : ''}`,
    );
  },
);

const decodeUndo = blockDecoder({ number: col.undo_number, hash: col.undo_hash, timestamp: col.undo_timestamp });
const decodeBlock = blockDecoder({ number: col.at_block, hash: col.at_hash, timestamp: col.at_timestamp });
const decodeKey = keyDecoder(col);
const decodeHeld = {
  ended: DETAILED.decoder(col),
  began: DETAILED.decoder({ ...col, since_time: col.at_timestamp, since_transaction: col.at_transaction }),
};

const positionOf = (row: Row): ChangePosition => ({
  block: decodeNumber(row[col.at_block]),
  logIndex: decodeNumber(row[col.at_log]),
  step: decodeNumber(row[col.step]) === STEPS.ended ? 'ended' : 'began',
  since: { block: decodeNumber(row[col.since_block]), logIndex: decodeNumber(row[col.since_log]) },
});

/** Where each scan continues. A log that has ended something may begin something too. */
function encodePosition({ block, logIndex, step, since }: ChangePosition): Param[] {
  return step === 'ended'
    ? [block, logIndex, since.block, since.logIndex, block, logIndex - 1]
    : [block, logIndex, Number.MAX_SAFE_INTEGER, 0, block, logIndex];
}

const decodeChange = (row: Row, position: ChangePosition, { verified }: ChangesPage['chain']): Change => {
  const block = decodeBlock(row);
  const began = decodeFlag(row[col.has_neighbour]) ? 'changed' : 'began';
  return {
    type: position.step === 'ended' ? 'ended' : began,
    position,
    delegation: decodeHeld[position.step](decodeKey(decodeNumber(row[col.version]) as Version, row), row),
    block,
    logIndex: position.logIndex,
    transactionHash: decodeHex(row[col.at_transaction]),
    isFinal: verified !== null && block.number <= verified,
  };
};

/** The parameters of the filters, in the order of the statement. */
function encodeFilters(given: readonly (readonly [FilterName, Address])[], chainId: number, hash: IndexHash): Param[] {
  const hashes = given.slice(0, 1).flatMap(([name, address]) =>
    FILTERS[name].scans.flatMap((by) => {
      const column = FOUND_BY[by].hash;
      return column === null ? [] : [hash[column](chainId, address)];
    }),
  );
  return [...given.map(([, address]) => encodeHex(address)), ...hashes];
}

export const createChanges =
  (dialect: Dialect['name'], states: StateReader, hash: IndexHash): Store['changes'] =>
  async ({ chainId, after, isFinal, filter = {}, limit }: ChangesQuery): Promise<ChangesPage> => {
    const position = after?.position ?? endOfBlock(-1);
    const seen = after ?? { revision: Number.MAX_SAFE_INTEGER, stamp: -1 };
    const final = after?.final ?? { block: -1, revision: -1, stamp: -1 };
    const given = (Object.keys(FILTERS) as FilterName[]).flatMap((name) => {
      const address = filter[name];
      return address === undefined ? [] : [[name, address] as const];
    });
    const cells = [chainId, seen.revision, seen.stamp, ...encodePosition(position), limit];
    const finalCells = [final.block, final.revision, final.stamp, ...encodeFilters(given, chainId, hash)];
    const statement = changesStatement(dialect, isFinal, ...given.map(([name]) => name));
    const { rows, state: chain, head } = await states.one(chainId, statement, [...cells, ...finalCells]);
    const [chainRow = [], ...found] = rows;
    const { revision } = chain;
    const reached = { revision, stamp: decodeNumber(chainRow[col.stamp]), final: finalPointOf(chainRow) };
    const undo = after === null ? null : undoOf(chainRow, position);
    if (undo !== null)
      return { chain, undo, changes: [], next: { ...reached, position: endOfBlock(undo.number) }, isEnd: false };
    const isEnd = found.length < limit;
    const end = isFinal ? (chain.verified ?? -1) : head.number;
    let [last, own] = [endOfBlock(-1), endOfBlock(-1)];
    const changes: Change[] = [];
    for (const row of found) {
      [last, own] = [own, positionOf(row)];
      // What a wallet grants to itself is found on both sides.
      if (comparePositions(last, own) === 0 || !decodeFlag(row[col.is_wanted])) continue;
      // If a log ended a span to begin the next one, only the second is reported, as changed.
      if (own.step === 'began' || !decodeFlag(row[col.has_neighbour])) changes.push(decodeChange(row, own, chain));
    }
    const next = { ...reached, position: isEnd ? later(position, endOfBlock(end)) : own };
    return { chain, undo, changes, next, isEnd };
  };

/** The block after which everything is void for a reader that has reached a position. Null if nothing is. */
function undoOf(chainRow: Row, position: ChangePosition): AnswerBlock | null {
  const voidFrom = decodeNumberOrNull(chainRow[col.void_from]);
  if (voidFrom === null || voidFrom > position.block) return null;
  return decodeNumberOrNull(chainRow[col.undo_number]) === null ? GENESIS : decodeUndo(chainRow);
}

function finalPointOf(chainRow: Row): ChosenBlock | null {
  const revision = decodeNumberOrNull(chainRow[col.final_revision]);
  if (revision === null) return null;
  const rewritten = decodeNumberOrNull(chainRow[col.final_rewritten]) ?? Number.POSITIVE_INFINITY;
  const block = Math.min(decodeNumber(chainRow[col.final_head]), rewritten - 1);
  return { block, revision, stamp: decodeNumber(chainRow[col.final_stamp]) };
}

const later = (one: ChangePosition, other: ChangePosition) => (comparePositions(one, other) > 0 ? one : other);

/** The first block of every chain has no transactions. */
const GENESIS: AnswerBlock = { number: 0, hash: null, timestamp: null };
