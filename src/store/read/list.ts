// Lists a wallet's delegations as of a block, a page at a time: incoming, then outgoing, each in the order of places.

import type { Version } from '../../registry/versions.ts';
import type { Dialect, Engine, Row } from '../engine.ts';
import { requireBlockNumber, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeNumber, decodeNumberOrNull } from '../rows/cells.ts';
import { type Cols, columns, namesOf, ofTable } from '../rows/columns.ts';
import { KEY, type KeyColumn, keyDecoder } from '../rows/key-columns.ts';
import { PACKED_SQL } from '../rows/packed.ts';
import { limited, once } from '../rows/sql.ts';
import type { Filter, HeldDelegation, ListPage, ListQuery, ListSide, PackedDelegation } from '../store.ts';
import type { HeldColumn, HeldColumns } from './held-columns.ts';
import { encodeWallet, listScans, ORDER, POSITION, requireList, SIDES } from './list-scan.ts';
import { AFTER_PINNED, createHeadReads, encodePinned, pinnedColumns, pinnedRequirement } from './pinned.ts';

type ListColumn = KeyColumn | HeldColumn | 'packed';

/** The columns of a span `s`, and the decoder of a row. */
export interface ListRows<D> {
  expressions(side: ListSide): Readonly<Partial<Record<ListColumn, string>>>;
  readonly joins?: string | undefined;
  decoder(col: Cols<ListColumn>, version: Version): (row: Row, side: ListSide) => D;
}

export const decodedRows = <D extends HeldDelegation>(held: HeldColumns<D>): ListRows<D> => ({
  expressions: () => ({ ...ofTable('s', KEY.names), ...held.expressions }),
  joins: held.joins,
  decoder(col, version) {
    const decodeKey = keyDecoder(col);
    const decodeHeld = held.decoder(col);
    return (row) => decodeHeld(decodeKey(version, row), row);
  },
});

/** The bytes of each, for a list that is only written. */
export const packedRows = (dialect: Dialect['name']): ListRows<PackedDelegation> => ({
  expressions: (side) => ({ packed: PACKED_SQL[dialect].one(side), ...ofTable('s', ['since_block', 'since_log']) }),
  decoder:
    ({ packed }) =>
    (row, side) => ({ side, bytes: row[packed] as Uint8Array }),
});

/** Returns the chain's row, then the spans in the order of the list. At the head no closed span can hold. */
export const listStatement = <D>(dialect: Dialect['name'], rows: ListRows<D>) =>
  once((version: Version, isHead: boolean, direction?: ListSide, after?: ListSide) => {
    const names = namesOf(rows.expressions('incoming'));
    const row = columns('side', 'first_block', 'first_log', 'until_block', 'unsettled_vault', ...names);
    const { col } = row;
    const scanned = { version, block: '$2', first: AFTER_PINNED, direction, after } as const;
    const { sides, limit, unsettledVault, scan } = listScans(dialect, scanned);
    const pinned = pinnedColumns(unsettledVault);
    // Mostly in columns of the spans: a column more costs something in each row.
    const chain = `SELECT ${row.select({
      side: pinned.is_rewritten,
      first_block: pinned.indexed_from,
      first_log: pinned.head_number,
      unsettled_vault: pinned.unsettled_vault,
    })} FROM chain c WHERE c.chain = $1`;
    const requirePinned = pinnedRequirement({
      is_rewritten: col.side,
      indexed_from: col.first_block,
      head_number: col.first_log,
      unsettled_vault: col.unsettled_vault,
    });
    // The driver of PostgreSQL returns a bigint as a text. A double is exact for all that are stored, and costs a third less. But two
    // halves are merged by the columns themselves.
    const hasDoubles = dialect === 'postgres' && isHead;
    const doubles = hasDoubles ? Object.fromEntries(POSITION.map((name) => [name, `s.${name}::float8`])) : {};
    // Each scan is in the order of its index, so that SQLite merges the two halves and stops at the limit. Spans that did not
    // hold at the block are returned too: a page reads no more than its limit, however often a delegation changed.
    const spans = (side: ListSide, half: 'open' | 'closed') => {
      const selected = row.select({
        side: String(SIDES[side].code),
        ...ofTable('s', ['first_block', 'first_log', 'until_block']),
        unsettled_vault: dialect === 'postgres' ? 'NULL::bytea' : 'NULL',
        ...rows.expressions(side),
        ...doubles,
      });
      return scan(side, half, selected, rows.joins);
    };
    // One side after the other, without a common order: outgoing delegations are not read before the incoming ones end.
    const lists = sides.map((side) => {
      const [open, closed] = (['open', 'closed'] as const).map((half) =>
        limited(dialect, spans(side, half), ORDER, limit),
      );
      const scans = isHead
        ? `${spans(side, 'open')} ORDER BY ${ORDER}`
        : `${open} UNION ALL ${closed} ORDER BY ${POSITION.join(', ')}`;
      return `SELECT * FROM (${scans} LIMIT ${limit}) AS ${side}`;
    });
    return {
      sql: `${[chain, ...lists].join('\n UNION ALL ')} LIMIT ${limit} + 1`,
      col,
      requirePinned,
      decodeHead: (chain: Row) => decodeNumber(chain[col.first_log]),
      isAfter: rowComparison(col),
      decodeSide: sideDecoder(col),
      decodePosition: positionDecoder(col),
      decodeRow: rows.decoder(col, version),
    };
  });

type PositionColumns = Cols<'side' | (typeof POSITION)[number]>;

const sideDecoder =
  ({ side }: Cols<'side'>) =>
  (row: Row): ListSide =>
    decodeNumber(row[side]) === SIDES.incoming.code ? 'incoming' : 'outgoing';

const positionDecoder = ({ first_block, first_log, since_block, since_log, ...col }: PositionColumns) => {
  const decodeSide = sideDecoder(col);
  return (row: Row) => ({
    side: decodeSide(row),
    first: { block: decodeNumber(row[first_block]), logIndex: decodeNumber(row[first_log]) },
    since: { block: decodeNumber(row[since_block]), logIndex: decodeNumber(row[since_log]) },
  });
};

const rowComparison = ({ side, ...position }: PositionColumns) => {
  const order = [side, ...POSITION.map((name) => position[name])];
  return (row: Row, before: Row): boolean => {
    for (let turn = 0; turn < order.length; turn++) {
      const column = order[turn] as number;
      const distance = decodeNumber(row[column]) - decodeNumber(before[column]);
      if (distance !== 0) return distance > 0;
    }
    return false;
  };
};

export function createList<D>(
  engine: Engine,
  hash: IndexHash,
  columnsOfRow: ListRows<D>,
): (query: ListQuery & Filter<D>) => Promise<ListPage<D>> {
  const statementFor = listStatement(engine.dialect.name, columnsOfRow);
  const readAtHead = createHeadReads();
  return async (query) => {
    requireList(query);
    requireBlockNumber(query.at.block);
    const { chainId, version, direction, at: pinned, after, limit, matches } = query;
    const cells = [...encodePinned(chainId, pinned), ...encodeWallet(query, hash)];
    const { statement, spans } = await readAtHead(chainId, pinned.block, async (isHead) => {
      const statement = statementFor(version, isHead, direction, after?.side);
      const [chain = [], ...spans] = await engine.rows(statement.sql, cells);
      statement.requirePinned(chainId, pinned.block, chain);
      return { statement, spans, head: statement.decodeHead(chain) };
    });
    const { col, decodePosition } = statement;
    const delegations: D[] = [];
    const rows: Row[] = [];
    let before: Row | undefined;
    for (const row of spans) {
      // SQL promises no order of the two sides, and the position of the last row decides where the next page starts.
      if (before !== undefined && !statement.isAfter(row, before))
        throw new StoreError('failed', 'The database returned a list out of order.');
      before = row;
      const until = decodeNumberOrNull(row[col.until_block]);
      if (decodeNumber(row[col.since_block]) > pinned.block || (until !== null && until <= pinned.block)) continue;
      const delegation = statement.decodeRow(row, statement.decodeSide(row));
      if (matches !== undefined && !matches(delegation)) continue;
      delegations.push(delegation);
      rows.push(row);
    }
    const last = spans.length < limit ? undefined : spans.at(-1);
    return {
      delegations,
      positionOf: (index) => decodePosition(rows[index] as Row),
      next: last === undefined ? null : decodePosition(last),
    };
  };
}
