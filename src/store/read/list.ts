// Lists a wallet's delegations as of a block, a page at a time: incoming, then outgoing, each in the order of places.

import { isAddress } from '../../registry/delegation.ts';
import { hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import type { Cell, Engine, Param, Row } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { params } from '../rows/bulk.ts';
import { decodeNumber, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { type At, columns, ofTable } from '../rows/columns.ts';
import { KEY, keyDecoder } from '../rows/key-columns.ts';
import type { ListPage, ListPosition, ListQuery } from '../store.ts';
import { createHeadReads } from './at-head.ts';
import type { ListRows } from './list-rows.ts';
import { once } from './once.ts';
import { AFTER_PINNED, encodePinned, pinnedColumns, pinnedRequirement } from './pinned.ts';
import { requireBlockNumber } from './refusals.ts';
import { ALL_DELEGATES, isBelowHead, mayHaveEnded, oneDelegate, unsettledBy } from './unsettled.ts';

type Side = ListPosition['side'];

/** In the order of a list. `own` is the wallet's column, `other` that of the other wallet. */
const SIDES = {
  incoming: { code: 0, hash: 'hot', own: 'to_addr', other: 'from_addr', index: 'to' },
  outgoing: { code: 1, hash: 'cold', own: 'from_addr', other: 'to_addr', index: 'from' },
} as const;

const BOTH = ['incoming', 'outgoing'] as const;
const INCOMING = ['incoming'] as const;
const OUTGOING = ['outgoing'] as const;

/** The sides that a page reads: after an outgoing delegation there are no incoming ones. */
const sidesOf = (direction?: Side, after?: Side): readonly Side[] => {
  if ((direction ?? after) === 'outgoing') return OUTGOING;
  return direction === undefined ? BOTH : INCOMING;
};

const POSITION = ['first_block', 'first_log', 'since_block', 'since_log'] as const;

const [WALLET = '', LIMIT = ''] = params(AFTER_PINNED, 2);
/** The hash of the wallet on each side. */
const sideParam = (turn: number) => `$${AFTER_PINNED + 2 + turn}`;
/** The position after which the first side is read. */
const afterParams = (sides: number) => params(AFTER_PINNED + 2 + sides, POSITION.length);

function encodeParams({ chainId, wallet, direction, at, after, limit }: ListQuery, hash: IndexHash): Param[] {
  const cells = encodePinned(chainId, at);
  cells.push(encodeHex(wallet), limit);
  for (const side of sidesOf(direction, after?.side)) cells.push(hash[SIDES[side].hash](chainId, wallet));
  if (after !== undefined) cells.push(after.first.block, after.first.logIndex, after.since.block, after.since.logIndex);
  return cells;
}

const HALVES = {
  open: 's.until_block IS NULL',
  // Nothing has ended after the head, so a list as of the head never reads closed spans.
  closed: `s.until_block IS NOT NULL AND ${isBelowHead('$2')}`,
};

/** The driver of PostgreSQL returns a bigint as a text. A double is exact for all that are stored, and costs a third less. */
const asDoubles = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, `s.${name} /*pg ::float8*/`]));

/** Returns the chain's row, then the spans in the order of the list. At the head no closed span can hold. */
export const listStatement = <D>(rows: ListRows<D>) =>
  once((version: Version, isHead: boolean, direction?: Side, after?: Side) => {
    const row = columns('side', 'first_block', 'first_log', 'until_block', ...KEY.names, ...rows.names);
    const { at } = row;
    const sides = sidesOf(direction, after).map((side, turn) => ({ side, hash: sideParam(turn) }));
    const unsettled = sides.map(({ side, hash }) =>
      side === 'incoming'
        ? mayHaveEnded(oneDelegate(hash, WALLET), '$2')
        : `(r.vault = ${WALLET} AND ${mayHaveEnded(ALL_DELEGATES, '$2')})`,
    );
    const pinned = pinnedColumns(
      hasUnnamedRevocations(version)
        ? `SELECT r.vault ${unsettledBy('$2')} AND (${unsettled.join(' OR ')}) LIMIT 1`
        : null,
    );
    // In columns of the spans: a column more costs something in each row.
    const chain = `SELECT ${row.select({
      side: pinned.is_rewritten,
      first_block: pinned.indexed_from,
      first_log: pinned.head_number,
      from_addr: pinned.unsettled_vault,
    })} FROM chain c WHERE c.chain = $1`;
    const requirePinned = pinnedRequirement({
      is_rewritten: at.side,
      indexed_from: at.first_block,
      head_number: at.first_log,
      unsettled_vault: at.from_addr,
    });
    const order = POSITION.map((name) => `s.${name}`).join(', ');
    // Each scan is in the order of its index, so that SQLite merges the two halves and stops at the limit. Spans that did not
    // hold at the block are returned too: a page reads no more than its limit, however often a delegation changed.
    const scan = ({ side, hash }: (typeof sides)[number], half: 'open' | 'closed') => {
      const { code, hash: column, own, other, index } = SIDES[side];
      const selected = row.select({
        side: String(code),
        ...ofTable('s', ['first_block', 'first_log', 'until_block', ...KEY.names]),
        ...rows.expressions,
        // The reader knows the wallet, and a column more costs something in each row.
        [own]: 'NULL /*pg ::bytea*/',
        // Two halves are merged by the columns themselves.
        ...(isHead ? asDoubles(POSITION) : {}),
      });
      return `SELECT ${selected} FROM span s INDEXED BY span_${half}_${index} ${rows.joins}
        WHERE s.${column} = ${hash} /*pg AND s.${column} >= 0*/ AND s.chain = $1 AND s.version = ${version}
          AND s.${own} = ${WALLET} AND ${HALVES[half]} AND s.first_block <= $2
          ${side === after ? `AND (${order}) > (${afterParams(sides.length).join(', ')})` : ''}
          ${side === 'outgoing' && direction === undefined ? `AND s.${other} <> ${WALLET}` : ''}`;
    };
    const sorted = (one: (typeof sides)[number], name: 'open' | 'closed') =>
      `/*pg (*/ ${scan(one, name)} /*pg ORDER BY ${order} LIMIT ${LIMIT})*/`;
    // One side after the other, without a common order: outgoing delegations are not read before the incoming ones end.
    const lists = sides.map((one) => {
      const scans = isHead
        ? `${scan(one, 'open')} ORDER BY ${order}`
        : `${sorted(one, 'open')} UNION ALL ${sorted(one, 'closed')} ORDER BY ${POSITION.join(', ')}`;
      return `SELECT * FROM (${scans} LIMIT ${LIMIT}) AS ${one.side}`;
    });
    const sql = `${[chain, ...lists].join('\n UNION ALL ')} LIMIT ${LIMIT} + 1`;
    return {
      sql,
      at,
      requirePinned,
      decodeHead: (chain: Row) => decodeNumber(chain[at.first_log]),
      isAfter: rowComparison(at),
      decodePosition: positionDecoder(at),
      decodeKey: keyDecoder(at),
      decodeRow: rows.decoder(at, version),
    };
  });

function requireList({ wallet, direction, at, after, limit }: ListQuery): void {
  if (!isAddress(wallet)) throw new StoreError('bad-question', `wallet ${wallet} is not a lower-case address`);
  requireBlockNumber(at.block);
  if (after !== undefined && after.side !== (direction ?? after.side))
    throw new StoreError(
      'bad-question',
      `a position among the ${after.side} delegations is not in a list of ${direction} ones`,
    );
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new StoreError('bad-question', `limit ${limit} is not 1 or more`);
}

type PositionColumns = At<'side' | (typeof POSITION)[number]>;

const positionDecoder =
  ({ side, first_block, first_log, since_block, since_log }: PositionColumns) =>
  (row: Row): ListPosition => ({
    side: decodeNumber(row[side]) === SIDES.incoming.code ? 'incoming' : 'outgoing',
    first: { block: decodeNumber(row[first_block]), logIndex: decodeNumber(row[first_log]) },
    since: { block: decodeNumber(row[since_block]), logIndex: decodeNumber(row[since_log]) },
  });

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
): (query: ListQuery) => Promise<ListPage<D>> {
  const statementFor = listStatement(columnsOfRow);
  const readAtHead = createHeadReads();
  return async (query) => {
    requireList(query);
    const { chainId, version, direction, at: pinned, after, limit, matches } = query;
    const cells = encodeParams(query, hash);
    const { statement, spans } = await readAtHead(chainId, pinned.block, async (isHead) => {
      const statement = statementFor(version, isHead, direction, after?.side);
      const [chain = [], ...spans] = await engine.rows(statement.sql, cells);
      statement.requirePinned(chainId, pinned.block, chain);
      return { statement, spans, head: statement.decodeHead(chain) };
    });
    const { at, decodePosition } = statement;
    const delegations: D[] = [];
    const rows: Row[] = [];
    const wallet = encodeHex(query.wallet);
    let before: Row | undefined;
    for (const row of spans) {
      (row as Cell[])[decodeNumber(row[at.side]) === SIDES.incoming.code ? at.to_addr : at.from_addr] = wallet;
      // SQL promises no order of the two sides, and the position of the last row decides where the next page starts.
      if (before !== undefined && !statement.isAfter(row, before))
        throw new StoreError('failed', 'The database returned a list out of order.');
      before = row;
      const until = decodeNumberOrNull(row[at.until_block]);
      if (decodeNumber(row[at.since_block]) > pinned.block || (until !== null && until <= pinned.block)) continue;
      if (matches !== undefined && !matches(statement.decodeKey(version, row))) continue;
      delegations.push(statement.decodeRow(row));
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
