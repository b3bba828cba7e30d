// Lists the wallets that granted a wallet something that answers a question, or that it granted such a thing, by address, a page
// at a time.

import { faultOfQuestion, grantingKeys, type Question } from '../../registry/check.ts';
import { type Address, type DelegationKey, isAddress } from '../../registry/delegation.ts';
import { neverGrants } from '../../registry/versions.ts';
import type { Dialect, Engine, Param, Row } from '../engine.ts';
import { StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { params } from '../rows/bulk.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, EMPTY, encodeHex } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import { encodeKey } from '../rows/key-columns.ts';
import type { CounterpartPage, CounterpartQuery, DetailedDelegation } from '../store.ts';
import { createHeadReads } from './at-head.ts';
import { countV1 } from './check-now.ts';
import { DETAILED } from './held-columns.ts';
import { once } from './once.ts';
import { AFTER_PINNED, encodePinned, PINNED_NAMES, pinnedColumns, pinnedRequirement } from './pinned.ts';
import { requireBlockNumber } from './refusals.ts';
import { ALL_DELEGATES, mayHaveEnded, oneDelegate, unsettledBy } from './unsettled.ts';

/** `own` is the column of the wallet, `other` that of the counterparts. PostgreSQL picks the index by `condition`. */
const SIDES = {
  vaults: {
    hash: 'hot',
    own: 'to_addr',
    other: 'from_addr',
    index: 'vault',
    condition: 'kind >= 0',
    unsettled: (hash: string, wallet: string) => mayHaveEnded(oneDelegate(hash, wallet), '$2'),
  },
  delegates: {
    hash: 'cold',
    own: 'from_addr',
    other: 'to_addr',
    index: 'delegate',
    condition: 'first_log >= 0',
    unsettled: (_: string, wallet: string) => `r.vault = ${wallet} AND ${mayHaveEnded(ALL_DELEGATES, '$2')}`,
  },
} as const;
type Side = keyof typeof SIDES;

const [WALLET = '', AFTER = '', ROWS = '', HASH = ''] = params(AFTER_PINNED, 4);
const KEY_PARAMS = 5;
const keyParams = (position: number) => params(AFTER_PINNED + 4 + KEY_PARAMS * position, KEY_PARAMS);

/** A counterpart has at most an open and a closed span of each key. */
const rowsPerCounterpart = (keys: number) => 2 * keys;

/**
 * Returns the chain's row, then rows ordered by counterpart. As of the head no closed span can hold, and none is read. A row may have
 * no span, or one that did not hold at the block: it says that the counterpart was looked at, so that a page reads a bounded number of
 * rows whatever it finds.
 */
export const counterpartStatement = once(
  (dialect: Dialect['name'], side: Side, keysOfV2: number, keysOfV1: number, isHead: boolean) => {
    const { hash, own, other, index, condition, unsettled } = SIDES[side];
    const row = columns(...PINNED_NAMES, 'other', 'position', ...DETAILED.names);
    const chain = `SELECT ${row.select({
      ...pinnedColumns(
        keysOfV1 > 0 ? `SELECT r.vault ${unsettledBy('$2')} AND ${unsettled(HASH, WALLET)} LIMIT 1` : null,
      ),
      // Before every address.
      other: "''",
    })} FROM chain c WHERE c.chain = $1`;
    const keys = Array.from({ length: keysOfV2 + keysOfV1 }, (_, position) => {
      const [key = '', kind, contract, tokenId, rights] = keyParams(position);
      const isKey = (span: string) =>
        `${span}.${hash} = ${HASH} AND ${span}.key = ${key} /*pg AND ${span}.${condition}*/`;
      const isExact = (span: string) => `${isKey(span)} AND ${span}.chain /*pg + 0*/ = $1
        AND ${span}.version = ${position < keysOfV2 ? 2 : 1} AND ${span}.${own} = ${WALLET} AND ${span}.kind = ${kind}
        AND ${span}.contract = ${contract} AND ${span}.token_id = ${tokenId} AND ${span}.rights = ${rights}`;
      // Finds one counterpart at a time, which skips all spans of a pair at once.
      const next = (after: string) => `(SELECT n.${other} FROM span n INDEXED BY span_closed_${index}
        WHERE ${isKey('n')} AND n.until_block IS NOT NULL AND n.${other} > ${after} ORDER BY n.${other} LIMIT 1)`;
      const ended = `ended${position} (other, turn) AS (SELECT ${next(AFTER)}, 1
        UNION ALL SELECT ${next(`ended${position}.other`)}, turn + 1 FROM ended${position} WHERE other IS NOT NULL AND turn < ${ROWS})`;
      const select = (address: string) =>
        `SELECT ${row.select({ other: address, position: String(position), ...DETAILED.expressions })}`;
      const open = `${select(`s.${other}`)} FROM span s INDEXED BY span_open_${index} ${DETAILED.joins}
        WHERE ${isExact('s')} AND s.until_block IS NULL AND s.${other} > ${AFTER}`;
      // Spans of one delegation never overlap: of the closed ones only the first to end after the block can hold at it.
      const last = (what: string) => `(SELECT ${what} FROM span e INDEXED BY span_closed_${index}
        WHERE ${isExact('e')} AND e.${other} = v.other AND e.until_block > $2 AND e.since_block < e.until_block
        ORDER BY e.until_block LIMIT 1)`;
      const joined =
        dialect === 'sqlite'
          ? `LEFT JOIN span s ON s.rowid = ${last('e.rowid')}`
          : `LEFT JOIN LATERAL ${last('e.*')} AS s ON true`;
      const closed = `${select('v.other')} FROM ended${position} v ${joined} ${DETAILED.joins} WHERE v.other IS NOT NULL`;
      const scans = (isHead ? [open] : [open, closed]).map(
        (scan) => `/*pg (*/ ${scan} /*pg ORDER BY other LIMIT ${ROWS})*/`,
      );
      return { ended, scans };
    });
    const all = [chain, ...keys.flatMap(({ scans }) => scans)].join('\n UNION ALL ');
    const ends = isHead ? '' : `WITH RECURSIVE ${keys.map(({ ended }) => ended).join(',\n')}`;
    const { at } = row;
    return {
      sql: `${ends} ${all} ORDER BY other LIMIT ${ROWS} + 1`,
      at,
      requirePinned: pinnedRequirement(at),
      decodeHeld: DETAILED.decoder(at),
    };
  },
);

/** Stands for both wallets where only the rest of a key matters. */
const ANYONE: Address = `0x${'f'.repeat(40)}`;

function requireQuery({ wallet, at, after, limit }: CounterpartQuery): void {
  requireBlockNumber(at.block);
  for (const [name, value] of Object.entries({ wallet, after: after ?? wallet })) {
    if (!isAddress(value)) throw new StoreError('bad-question', `${name} ${value} is not a lower-case address`);
  }
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new StoreError('bad-question', `limit ${limit} is not 1 or more`);
}

function keysOf(target: CounterpartQuery['target']): DelegationKey[] {
  const question = { ...target, from: ANYONE, to: ANYONE } as Question;
  const fault = faultOfQuestion(question);
  if (fault !== null) throw new StoreError('bad-question', fault);
  return grantingKeys(question);
}

function encodeParams(
  side: Side,
  { chainId, wallet, at, after }: CounterpartQuery,
  keys: readonly DelegationKey[],
  mostRows: number,
  hash: IndexHash,
): Param[] {
  const cells = encodePinned(chainId, at);
  cells.push(encodeHex(wallet), after === undefined ? EMPTY : encodeHex(after), mostRows);
  cells.push(hash[SIDES[side].hash](chainId, wallet));
  for (const key of keys) {
    const [kind, , , contract, tokenId, rights] = encodeKey(key);
    cells.push(hash.key(key), kind, contract, tokenId, rights);
  }
  return cells;
}

export function createCounterparts(
  engine: Engine,
  hash: IndexHash,
  side: Side,
): (query: CounterpartQuery) => Promise<CounterpartPage> {
  const readAtHead = createHeadReads();
  return async (query) => {
    requireQuery(query);
    const { chainId, target, at: pinned, limit } = query;
    const keys = keysOf(target);
    const keysOfV1 = countV1(keys);
    const mostRows = limit + rowsPerCounterpart(keys.length);
    const cells = encodeParams(side, query, keys, mostRows, hash);
    const { statement, rows } = await readAtHead(chainId, pinned.block, async (isHead) => {
      const statement = counterpartStatement(engine.dialect.name, side, keys.length - keysOfV1, keysOfV1, isHead);
      const [chain = [], ...rows] = await engine.rows(statement.sql, cells);
      statement.requirePinned(chainId, pinned.block, chain);
      return { statement, rows, head: decodeNumber(chain[statement.at.head_number]) };
    });
    return toPage(decodeGranting(side, query, keys, statement, rows), rows.length < mostRows, limit);
  };
}

/** The delegations of each counterpart that held at the block, each at the position of its key. */
function decodeGranting(
  side: Side,
  { wallet, at: pinned }: CounterpartQuery,
  keys: readonly DelegationKey[],
  { at, decodeHeld }: ReturnType<typeof counterpartStatement>,
  rows: readonly Row[],
): Map<Address, DetailedDelegation[]> {
  const found = new Map<Address, DetailedDelegation[]>();
  for (const row of rows) {
    const other = decodeHex(row[at.other]);
    const position = decodeNumber(row[at.position]);
    const since = decodeNumberOrNull(row[at.since_block]);
    const key = keys[position] as DelegationKey;
    let granting = found.get(other);
    if (granting === undefined) {
      granting = [];
      found.set(other, granting);
    }
    const pair = side === 'vaults' ? { from: other, to: wallet } : { from: wallet, to: other };
    if (since !== null && since <= pinned.block && !neverGrants(key.version, pair.from))
      granting[position] = decodeHeld({ ...key, ...pair }, row);
  }
  return found;
}

/** Without the end of the list, the last counterpart may lack some of its rows and is left to the next page. */
function toPage(
  found: ReadonlyMap<Address, readonly DetailedDelegation[]>,
  isEnd: boolean,
  limit: number,
): CounterpartPage {
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
