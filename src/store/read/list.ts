// Lists a wallet's delegations as of a block, a page at a time: incoming, then outgoing, each in the order of places.

import type { Version } from '../../registry/versions.ts';
import type { Engine, Row } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeNumber, decodeNumberOrNull } from '../rows/cells.ts';
import { type At, columns, ofTable } from '../rows/columns.ts';
import type { Filter, ListPage, ListPosition, ListQuery, ListSide } from '../store.ts';
import { createHeadReads } from './at-head.ts';
import type { ListRows } from './list-rows.ts';
import { encodeWallet, listScans, ORDER, POSITION, requireList, SIDES } from './list-scan.ts';
import { once } from './once.ts';
import { AFTER_PINNED, encodePinned, pinnedColumns, pinnedRequirement } from './pinned.ts';
import { requireBlockNumber } from './refusals.ts';

/** The driver of PostgreSQL returns a bigint as a text. A double is exact for all that are stored, and costs a third less. */
const asDoubles = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, `s.${name} /*pg ::float8*/`]));

/** Returns the chain's row, then the spans in the order of the list. At the head no closed span can hold. */
export const listStatement = <D>(rows: ListRows<D>) =>
  once((version: Version, isHead: boolean, direction?: ListSide, after?: ListSide) => {
    const row = columns('side', 'first_block', 'first_log', 'until_block', 'unsettled_vault', ...rows.names);
    const { at } = row;
    const scanned = { version, block: '$2', first: AFTER_PINNED, direction, after } as const;
    const { sides, limit, unsettledVault, scan } = listScans(scanned);
    const pinned = pinnedColumns(unsettledVault);
    // Mostly in columns of the spans: a column more costs something in each row.
    const chain = `SELECT ${row.select({
      side: pinned.is_rewritten,
      first_block: pinned.indexed_from,
      first_log: pinned.head_number,
      unsettled_vault: pinned.unsettled_vault,
    })} FROM chain c WHERE c.chain = $1`;
    const requirePinned = pinnedRequirement({
      is_rewritten: at.side,
      indexed_from: at.first_block,
      head_number: at.first_log,
      unsettled_vault: at.unsettled_vault,
    });
    // Each scan is in the order of its index, so that SQLite merges the two halves and stops at the limit. Spans that did not
    // hold at the block are returned too: a page reads no more than its limit, however often a delegation changed.
    const spans = (side: ListSide, half: 'open' | 'closed') => {
      const selected = row.select({
        side: String(SIDES[side].code),
        ...ofTable('s', ['first_block', 'first_log', 'until_block']),
        unsettled_vault: 'NULL /*pg ::bytea*/',
        ...rows.expressions(side),
        // Two halves are merged by the columns themselves.
        ...(isHead ? asDoubles(POSITION) : {}),
      });
      return scan(side, half, selected, rows.joins);
    };
    const sorted = (side: ListSide, half: 'open' | 'closed') =>
      `/*pg (*/ ${spans(side, half)} /*pg ORDER BY ${ORDER} LIMIT ${limit})*/`;
    // One side after the other, without a common order: outgoing delegations are not read before the incoming ones end.
    const lists = sides.map((side) => {
      const scans = isHead
        ? `${spans(side, 'open')} ORDER BY ${ORDER}`
        : `${sorted(side, 'open')} UNION ALL ${sorted(side, 'closed')} ORDER BY ${POSITION.join(', ')}`;
      return `SELECT * FROM (${scans} LIMIT ${limit}) AS ${side}`;
    });
    return {
      sql: `${[chain, ...lists].join('\n UNION ALL ')} LIMIT ${limit} + 1`,
      at,
      requirePinned,
      decodeHead: (chain: Row) => decodeNumber(chain[at.first_log]),
      isAfter: rowComparison(at),
      decodeSide: sideDecoder(at),
      decodePosition: positionDecoder(at),
      decodeRow: rows.decoder(at, version),
    };
  });

type PositionColumns = At<'side' | (typeof POSITION)[number]>;

const sideDecoder =
  ({ side }: At<'side'>) =>
  (row: Row): ListSide =>
    decodeNumber(row[side]) === SIDES.incoming.code ? 'incoming' : 'outgoing';

const positionDecoder = ({ first_block, first_log, since_block, since_log, ...at }: PositionColumns) => {
  const decodeSide = sideDecoder(at);
  return (row: Row): ListPosition => ({
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
  const statementFor = listStatement(columnsOfRow);
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
    const { at, decodePosition } = statement;
    const delegations: D[] = [];
    const rows: Row[] = [];
    let before: Row | undefined;
    for (const row of spans) {
      // SQL promises no order of the two sides, and the position of the last row decides where the next page starts.
      if (before !== undefined && !statement.isAfter(row, before))
        throw new StoreError('failed', 'The database returned a list out of order.');
      before = row;
      const until = decodeNumberOrNull(row[at.until_block]);
      if (decodeNumber(row[at.since_block]) > pinned.block || (until !== null && until <= pinned.block)) continue;
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
