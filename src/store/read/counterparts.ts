// Lists the wallets that granted a wallet something that answers a question, or that it granted such a thing, by address, a page
// at a time.

import { grantingKeys, type Question } from '../../registry/check.ts';
import { type Address, type DelegationKey, isAddress } from '../../registry/delegation.ts';
import { hasUnnamedRevocations, neverGrants } from '../../registry/versions.ts';
import type { Dialect, Engine, Param, Row } from '../engine.ts';
import { requireBlockNumber, requireLimit, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, EMPTY, encodeHex } from '../rows/cells.ts';
import { columns, namesOf } from '../rows/columns.ts';
import { spansBy } from '../rows/span-index.ts';
import { limited, params } from '../rows/sql.ts';
import type { CounterpartQuery, DetailedDelegation, Store } from '../store.ts';
import { requireQuestion } from './check.ts';
import { JOINED } from './held-columns.ts';
import { byShape, cellsOfKeys, encodeKeys, isSpan, type SpanCells } from './key-spans.ts';
import {
  AFTER_PINNED,
  createHeadReads,
  encodePinned,
  PINNED_NAMES,
  pinnedColumns,
  pinnedRequirement,
} from './pinned.ts';
import { mayHaveEnded, unsettledBy } from './unsettled.ts';

/** `own` is the column of the wallet, `other` that of the counterparts. */
const SIDES = {
  vaults: { hash: 'hot', own: 'to_addr', other: 'from_addr', index: 'vault' },
  delegates: { hash: 'cold', own: 'from_addr', other: 'to_addr', index: 'delegate' },
} as const;
type Side = keyof typeof SIDES;

const [WALLET = '', AFTER = '', ROWS = '', HASH = ''] = params(AFTER_PINNED, 4);

/** A counterpart has at most an open and a closed span of each key. */
const rowsPerCounterpart = (keys: number) => 2 * keys;

/**
 * Returns the chain's row, then rows ordered by counterpart. As of the head no closed span can hold, and none is read. A row may have
 * no span, or one that did not hold at the block: it says that the counterpart was looked at, so that a page reads a bounded number of
 * rows whatever it finds.
 */
export function counterpartStatement(
  dialect: Dialect['name'],
  side: Side,
  keys: readonly DelegationKey[],
  isHead: boolean,
) {
  const { hash, own, other, index } = SIDES[side];
  const row = columns(...PINNED_NAMES, 'other', 'position', ...namesOf(JOINED.expressions));
  const isUnsettled =
    side === 'vaults'
      ? mayHaveEnded(dialect, { hot: HASH, to: WALLET }, '$2')
      : `r.vault = ${WALLET} AND ${mayHaveEnded(dialect, null, '$2')}`;
  const hasV1 = keys.some(({ version }) => hasUnnamedRevocations(version));
  const chain = `SELECT ${row.select({
    ...pinnedColumns(hasV1 ? `SELECT r.vault ${unsettledBy(dialect, '$2')} AND ${isUnsettled} LIMIT 1` : null),
    // Before every address.
    other: "''",
  })} FROM chain c WHERE c.chain = $1`;
  const parts = cellsOfKeys(keys, AFTER_PINNED + 4).map(({ key, ...rest }, position) => {
    const ofKey = { [hash]: HASH, key } as SpanCells;
    const exact = (span: string) => `${isSpan(span, { ...ofKey, [own]: WALLET, ...rest })} AND ${span}.chain + 0 = $1`;
    // Finds one counterpart at a time, which skips all spans of a pair at once.
    const next = (after: string) => `(SELECT n.${other}
      FROM ${spansBy(dialect, `closed_${index}`, 'n', `${isSpan('n', ofKey)} AND n.${other} > ${after}`)} ORDER BY n.${other} LIMIT 1)`;
    const ended = `ended${position} (other, turn) AS (SELECT ${next(AFTER)}, 1
      UNION ALL SELECT ${next(`ended${position}.other`)}, turn + 1 FROM ended${position} WHERE other IS NOT NULL AND turn < ${ROWS})`;
    const select = (address: string) =>
      `SELECT ${row.select({ other: address, position: String(position), ...JOINED.expressions })}`;
    const open = `${select(`s.${other}`)} FROM ${spansBy(dialect, `open_${index}`, 's', `${exact('s')} AND s.${other} > ${AFTER}`, JOINED)}`;
    // As in a check: of the closed spans only the first to end after the block can hold at it.
    const isLast = `${exact('e')} AND e.${other} = v.other AND e.since_block < e.until_block`;
    const last = (what: string) =>
      `(SELECT ${what} FROM ${spansBy(dialect, `closed_${index}`, 'e', isLast, { until: '> $2' })} ORDER BY e.until_block LIMIT 1)`;
    const joined =
      dialect === 'sqlite'
        ? `LEFT JOIN span s ON s.rowid = ${last('e.rowid')}`
        : `LEFT JOIN LATERAL ${last('e.*')} AS s ON true`;
    const closed = `${select('v.other')} FROM ended${position} v ${joined} ${JOINED.joins} WHERE v.other IS NOT NULL`;
    const scans = (isHead ? [open] : [open, closed]).map((scan) => limited(dialect, scan, 'other', ROWS));
    return { ended, scans };
  });
  const all = [chain, ...parts.flatMap(({ scans }) => scans)].join('\n UNION ALL ');
  const ends = isHead ? '' : `WITH RECURSIVE ${parts.map(({ ended }) => ended).join(',\n')}`;
  const { col } = row;
  return {
    sql: `${ends} ${all} ORDER BY other LIMIT ${ROWS} + 1`,
    col,
    requirePinned: pinnedRequirement(col),
    decodeHeld: JOINED.decoder(col),
  };
}
type CounterpartStatement = ReturnType<typeof counterpartStatement>;

/** Stands for both wallets where only the rest of a key matters. */
const ANYONE: Address = `0x${'f'.repeat(40)}`;

function requireQuery({ wallet, at, after, limit }: CounterpartQuery): void {
  requireBlockNumber(at.block);
  for (const [name, value] of Object.entries({ wallet, after: after ?? wallet })) {
    if (!isAddress(value)) throw new StoreError('bad-question', `${name} ${value} is not a lower-case address`);
  }
  requireLimit(limit);
}

export function createCounterparts(engine: Engine, hash: IndexHash, side: Side): Store[Side] {
  const readAtHead = createHeadReads();
  const statementFor = byShape((keys, isHead) => counterpartStatement(engine.dialect.name, side, keys, isHead));
  return async (query) => {
    requireQuery(query);
    const { chainId, target, wallet, after, at: pinned, limit } = query;
    const question = { ...target, from: ANYONE, to: ANYONE } as Question;
    requireQuestion(question);
    const keys = grantingKeys(question);
    const mostRows = limit + rowsPerCounterpart(keys.length);
    const cells: Param[] = encodePinned(chainId, pinned);
    cells.push(encodeHex(wallet), after === undefined ? EMPTY : encodeHex(after), mostRows);
    cells.push(hash[SIDES[side].hash](chainId, wallet), ...encodeKeys(keys, hash));
    const { statement, rows } = await readAtHead(chainId, pinned.block, async (isHead) => {
      const statement = statementFor(keys, isHead);
      const [chain = [], ...rows] = await engine.rows(statement.sql, cells);
      statement.requirePinned(chainId, pinned.block, chain);
      return { statement, rows, head: decodeNumber(chain[statement.col.head_number]) };
    });
    return toPage(decodeGranting(side, query, keys, statement, rows), rows.length < mostRows, limit);
  };
}

/** The delegations of each counterpart that held at the block, each at the position of its key. */
function decodeGranting(
  side: Side,
  { wallet, at: pinned }: CounterpartQuery,
  keys: readonly DelegationKey[],
  { col, decodeHeld }: CounterpartStatement,
  rows: readonly Row[],
): Map<Address, DetailedDelegation[]> {
  const found = new Map<Address, DetailedDelegation[]>();
  for (const row of rows) {
    const other = decodeHex(row[col.other]);
    const position = decodeNumber(row[col.position]);
    const since = decodeNumberOrNull(row[col.since_block]);
    const key = keys[position] as DelegationKey;
    const granting = found.getOrInsertComputed(other, () => []);
    const pair = side === 'vaults' ? { from: other, to: wallet } : { from: wallet, to: other };
    if (since !== null && since <= pinned.block && !neverGrants(key.version, pair.from))
      granting[position] = decodeHeld({ ...key, ...pair }, row);
  }
  return found;
}

/** Without the end of the list, the last counterpart may lack some of its rows and is left to the next page. */
function toPage(found: ReadonlyMap<Address, readonly DetailedDelegation[]>, isEnd: boolean, limit: number) {
  const complete = [...found].slice(0, isEnd ? undefined : -1);
  const end = complete.at(-1)?.[0];
  if (!isEnd && end === undefined)
    throw new StoreError('failed', 'The database returned too many rows of one counterpart.');
  const counterparts = complete
    // Positions without a delegation are left out.
    .map(([wallet, granting]) => ({ wallet, granting: granting.flat() }))
    .filter(({ granting }) => granting.length > 0);
  const last = counterparts[limit - 1]?.wallet;
  if (last !== undefined && last !== end) return { counterparts: counterparts.slice(0, limit), next: last };
  return { counterparts, next: isEnd ? null : (end ?? null) };
}
