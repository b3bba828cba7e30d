// Lists a wallet's delegations as of the head, for a list that is only written: each side is one cell.

import type { Version } from '../../registry/versions.ts';
import type { Dialect } from '../engine.ts';
import { unsettledRevocation } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHexOrNull, decodeNumber } from '../rows/cells.ts';
import { PACKED_SQL, packedColumns } from '../rows/packed.ts';
import { once } from '../rows/sql.ts';
import type { ListPosition, ListSide, PackedDelegations, Store } from '../store.ts';
import { encodeWallet, listScans, ORDER, requireList } from './list-scan.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';
import { HEAD } from './unsettled.ts';

/** Fits a place into 64 bits: no block has so many logs. */
const LOG_BITS = 24;
const AFTER_ALL = { block: Number.MAX_SAFE_INTEGER, logIndex: 0 };

const sideNames = <S extends ListSide>(side: S) =>
  [`${side}_count`, `${side}_bytes`, `${side}_block`, `${side}_log`] as const;
const NAMES = ['stamp', 'unsettled_vault', ...sideNames('incoming'), ...sideNames('outgoing')] as const;

/** Returns one row. As of the head all open spans hold, and no others. */
export const listNowStatement = once(
  (dialect: Dialect['name'], version: Version, direction?: ListSide, after?: ListSide) => {
    const scanned = { version, block: HEAD, first: 2, direction, after } as const;
    const { sides, limit, unsettledVault, scan } = listScans(dialect, scanned);
    const withs = sides.map((side, turn) => {
      // Outgoing delegations are not read before the incoming ones end.
      const most = turn === 0 ? limit : `${limit} - (SELECT size FROM ${sides[0]})`;
      const spans = `${scan(side, 'open', `${ORDER}, ${packedColumns(side)}`)} ORDER BY ${ORDER} LIMIT ${most}`;
      return `${side} AS (SELECT count(*) AS size, ${PACKED_SQL[dialect].all(side, ORDER)} AS bytes,
      max((s.first_block << ${LOG_BITS}) + s.first_log) AS last FROM (${spans}) AS s)`;
    });
    const ofSides = sides.map((side) => ({
      [`${side}_count`]: `${side}.size`,
      [`${side}_bytes`]: `${side}.bytes`,
      [`${side}_block`]: `${side}.last >> ${LOG_BITS}`,
      [`${side}_log`]: `${side}.last & ${2 ** LOG_BITS - 1}`,
    }));
    const statement = stateStatement(
      NAMES,
      (select) => `WITH ${withs.join(', ')} SELECT ${select({
        ...STATE,
        stamp: 'v.stamp',
        unsettled_vault: unsettledVault === null ? 'NULL' : `(${unsettledVault})`,
        ...Object.assign({}, ...ofSides),
      })}
    FROM chain c JOIN revision v ON v.chain = c.chain AND v.revision = c.revision, ${sides.join(', ')} WHERE c.chain = $1`,
    );
    return { ...statement, sides };
  },
);

export function createListNow(dialect: Dialect['name'], states: StateReader, hash: IndexHash): Store['listNow'] {
  return async (query) => {
    requireList(query);
    const { chainId, version, direction, after, limit } = query;
    const statement = listNowStatement(dialect, version, direction, after?.side);
    const { col, sides } = statement;
    const { rows, state, head } = await states.one(chainId, statement, [chainId, ...encodeWallet(query, hash)]);
    const [row = []] = rows;
    const vault = decodeHexOrNull(row[col.unsettled_vault]);
    if (vault !== null) throw unsettledRevocation(vault);
    const parts: PackedDelegations[] = [];
    let room = limit;
    let last: ListPosition | null = null;
    for (const side of sides) {
      const count = decodeNumber(row[col[`${side}_count`]]);
      if (count === 0) continue;
      parts.push({ side, count, bytes: row[col[`${side}_bytes`]] as Uint8Array });
      room -= count;
      // The last span has the highest place. No other span of its delegation holds at the head.
      const first = { block: decodeNumber(row[col[`${side}_block`]]), logIndex: decodeNumber(row[col[`${side}_log`]]) };
      last = { side, first, since: AFTER_ALL };
    }
    return { chain: state, block: head, stamp: decodeNumber(row[col.stamp]), parts, next: room > 0 ? null : last };
  };
}
