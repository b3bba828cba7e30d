// Reads every grant that a wallet made or got, with its end, the newest grant first, as of a block.

import type { Version } from '../../registry/versions.ts';
import type { Dialect, Engine, Param, Row } from '../engine.ts';
import { requireBlockNumber } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeFlag, decodeHex, decodeNumber, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { type Cols, columns, namesOf, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import { spansBy } from '../rows/span-index.ts';
import { once, params } from '../rows/sql.ts';
import type { HistoryEntry, ListSide, LogPosition, Store } from '../store.ts';
import { IS_SETTLED } from '../views.ts';
import { DETAILED, timeOf, transactionOf } from './held-columns.ts';
import { listScans, requireList, SIDES, sidesOf } from './list-scan.ts';
import { AFTER_PINNED, encodePinned, PINNED_NAMES, pinnedColumns, pinnedRequirement } from './pinned.ts';

const OF_SPAN = {
  version: 's.version',
  ...ofTable('s', KEY.names),
  ...DETAILED.expressions,
  until_block: 's.until_block',
  until_log: 's.until_log',
  until_time: timeOf('s.until_block'),
  until_transaction: transactionOf('s.until_block', 's.until_log'),
};
const ENTRY = columns(...namesOf(OF_SPAN));
const ROW = columns(...ENTRY.names, ...PINNED_NAMES);
const { col } = ROW;
const INDEXES = { outgoing: 'granted', incoming: 'received' } as const satisfies Record<ListSide, string>;

export const historyStatement = once((dialect: Dialect['name'], direction?: ListSide) => {
  const sides = sidesOf(direction);
  const scanned = { version: 1, block: '$2', first: AFTER_PINNED, direction, after: undefined } as const;
  const { unsettledVault } = listScans(dialect, scanned);
  const [wallet, limit, ...rest] = params(AFTER_PINNED, 2 + sides.length + 2);
  const [sinceBlock, sinceLog] = rest.slice(sides.length);
  const scan = (side: ListSide, turn: number) => {
    const { hash, own } = SIDES[side];
    const conditions = [
      `s.${hash} = ${rest[turn]} AND s.chain = $1 AND s.${own} = ${wallet}`,
      `s.since_block <= $2 AND (s.since_block, s.since_log) < (${sinceBlock}, ${sinceLog})`,
      '(s.until_block IS NULL OR s.since_block < s.until_block)',
    ];
    if (side === 'outgoing' && direction === undefined) conditions.push(`s.to_addr <> ${wallet}`);
    return `SELECT ${ROW.select(ofTable('h', ENTRY.names))} FROM (SELECT ${ENTRY.select(OF_SPAN)}
        FROM ${spansBy(dialect, INDEXES[side], 's', conditions.join(' AND '))}
        ORDER BY s.since_block DESC, s.since_log DESC LIMIT ${limit}) AS h`;
  };
  return `SELECT ${ROW.select(pinnedColumns(unsettledVault))} FROM chain c WHERE c.chain = $1
    UNION ALL ${sides.map(scan).join(' UNION ALL ')}`;
});

const requirePinned = pinnedRequirement(col);
const decodeKey = keyDecoder(col);
const decodeHeld = DETAILED.decoder(col);

const decodeEntry = (row: Row, block: number): HistoryEntry => ({
  ...decodeHeld(decodeKey(decodeNumber(row[col.version]) as Version, row), row),
  until: untilOf(row, col, block),
});

/** What ended after the block had not ended at it. */
function untilOf(row: Row, at: Cols<(typeof ENTRY.names)[number]>, block: number): HistoryEntry['until'] {
  const until = decodeNumberOrNull(row[at.until_block]);
  if (until === null || until > block) return null;
  return {
    block: until,
    logIndex: decodeNumber(row[at.until_log]),
    timestamp: decodeNumber(row[at.until_time]),
    transactionHash: decodeHex(row[at.until_transaction]),
  };
}

const START: LogPosition = { block: Number.MAX_SAFE_INTEGER, logIndex: 0 };

const ALL = columns(...ENTRY.names, 'is_settled');
const decodeAllKey = keyDecoder(ALL.col);
const decodeAllHeld = DETAILED.decoder(ALL.col);

/** The grants of a chain, in the order of its logs. */
const GRANTS = `SELECT ${ALL.select({ ...OF_SPAN, is_settled: IS_SETTLED })} FROM span s
  WHERE s.chain = $1 AND s.since_block <= $2 AND (s.since_block, s.since_log) > ($3, $4)
    AND (s.until_block IS NULL OR s.since_block < s.until_block)
  ORDER BY s.since_block, s.since_log LIMIT $5`;

export const createGrants =
  (engine: Engine): Store['grants'] =>
  async (chainId, to, after, limit) => {
    const rows = await engine.rows(GRANTS, [chainId, to, after?.block ?? -1, after?.logIndex ?? -1, limit]);
    return rows.map((row) => {
      const version = decodeNumber(row[ALL.col.version]) as Version;
      const delegation = decodeAllHeld(decodeAllKey(version, row), row);
      return { ...delegation, until: untilOf(row, ALL.col, to), isSettled: decodeFlag(row[ALL.col.is_settled]) };
    });
  };

export const createHistory =
  (engine: Engine, hash: IndexHash): Store['history'] =>
  async ({ chainId, wallet, direction, at: pinned, after = START, limit }) => {
    requireList({ chainId, version: 1, wallet, limit });
    requireBlockNumber(pinned.block);
    const cells: Param[] = [...encodePinned(chainId, pinned), encodeHex(wallet), limit];
    for (const side of sidesOf(direction)) cells.push(hash[SIDES[side].hash](chainId, wallet));
    cells.push(after.block, after.logIndex);
    const [chainRow = [], ...rows] = await engine.rows(historyStatement(engine.dialect.name, direction), cells);
    requirePinned(chainId, pinned.block, chainRow);
    const entries = rows.map((row) => decodeEntry(row, pinned.block));
    entries.sort((one, other) => other.since.block - one.since.block || other.since.logIndex - one.since.logIndex);
    const page = entries.slice(0, limit);
    const last = entries.length < limit ? undefined : page.at(-1);
    return {
      entries: page,
      next: last === undefined ? null : { block: last.since.block, logIndex: last.since.logIndex },
    };
  };
