// Reads every grant that a wallet made or got, with its end, the newest grant first, as of a block.

import type { Version } from '../../registry/versions.ts';
import type { Engine, Param, Row } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { params } from '../rows/bulk.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import type { HistoryEntry, ListSide, LogPosition, Store } from '../store.ts';
import { DETAILED } from './held-columns.ts';
import { listScans, requireList, SIDES, sidesOf } from './list-scan.ts';
import { LOOKED_UP, timeOf, transactionOf } from './lookups.ts';
import { once } from './once.ts';
import { AFTER_PINNED, encodePinned, PINNED_NAMES, pinnedColumns, pinnedRequirement } from './pinned.ts';
import { requireBlockNumber } from './refusals.ts';

const ENTRY = columns(
  'version',
  ...KEY.names,
  ...DETAILED.names,
  'until_block',
  'until_log',
  'until_time',
  'until_transaction',
);
const ROW = columns(...ENTRY.names, ...PINNED_NAMES);
const { at } = ROW;
const INDEXES = {
  outgoing: { name: 'span_granted', own: 's.since_block >= 0' },
  incoming: { name: 'span_received', own: 's.since_log >= 0' },
} as const satisfies Record<ListSide, object>;

export const historyStatement = once((direction?: ListSide) => {
  const sides = sidesOf(direction);
  const scanned = { version: 1, block: '$2', first: AFTER_PINNED, direction, after: undefined } as const;
  const { unsettledVault } = listScans(scanned);
  const [wallet, limit, ...rest] = params(AFTER_PINNED, 2 + sides.length + 2);
  const [sinceBlock, sinceLog] = rest.slice(sides.length);
  const scan = (side: ListSide, turn: number) => {
    const { hash, own } = SIDES[side];
    const index = INDEXES[side];
    const selected = ENTRY.select({
      version: 's.version',
      ...ofTable('s', KEY.names),
      ...LOOKED_UP,
      until_block: 's.until_block',
      until_log: 's.until_log',
      until_time: timeOf('s.until_block'),
      until_transaction: transactionOf('s.until_block', 's.until_log'),
    });
    return `SELECT ${ROW.select(ofTable('h', ENTRY.names))} FROM (SELECT ${selected}
        FROM span s INDEXED BY ${index.name}
        WHERE s.${hash} = ${rest[turn]} /*pg AND ${index.own}*/ AND s.chain = $1 AND s.${own} = ${wallet}
          AND s.since_block <= $2 AND (s.since_block, s.since_log) < (${sinceBlock}, ${sinceLog})
          AND (s.until_block IS NULL OR s.since_block < s.until_block)
          ${side === 'outgoing' && direction === undefined ? `AND s.to_addr <> ${wallet}` : ''}
        ORDER BY s.since_block DESC, s.since_log DESC LIMIT ${limit}) AS h`;
  };
  return `SELECT ${ROW.select(pinnedColumns(unsettledVault))} FROM chain c WHERE c.chain = $1
    UNION ALL ${sides.map(scan).join(' UNION ALL ')}`;
});

const requirePinned = pinnedRequirement(at);
const decodeKey = keyDecoder(at);
const decodeHeld = DETAILED.decoder(at);

/** What ended after the block had not ended at it. */
function decodeEntry(row: Row, block: number): HistoryEntry {
  const delegation = decodeHeld(decodeKey(decodeNumber(row[at.version]) as Version, row), row);
  const until = decodeNumberOrNull(row[at.until_block]);
  if (until === null || until > block) return { ...delegation, until: null };
  return {
    ...delegation,
    until: {
      block: until,
      logIndex: decodeNumber(row[at.until_log]),
      timestamp: decodeNumber(row[at.until_time]),
      transactionHash: decodeHex(row[at.until_transaction]),
    },
  };
}

const START: LogPosition = { block: Number.MAX_SAFE_INTEGER, logIndex: 0 };

export const createHistory =
  (engine: Engine, hash: IndexHash): Store['history'] =>
  async ({ chainId, wallet, direction, at: pinned, after = START, limit }) => {
    requireList({ chainId, version: 1, wallet, limit });
    requireBlockNumber(pinned.block);
    const cells: Param[] = [...encodePinned(chainId, pinned), encodeHex(wallet), limit];
    for (const side of sidesOf(direction)) cells.push(hash[SIDES[side].hash](chainId, wallet));
    cells.push(after.block, after.logIndex);
    const [chainRow = [], ...rows] = await engine.rows(historyStatement(direction), cells);
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
