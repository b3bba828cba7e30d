// Counts the v2 delegations that wallets ever granted, or were ever granted, each once: as many as the registry has in its lists of them.

import type { Dialect, Engine } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeNumber } from '../rows/cells.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { spansBy } from '../rows/span-index.ts';
import { once } from '../rows/sql.ts';
import type { GrantCount, Store } from '../store.ts';

const SIDES = {
  outgoing: { hash: 'cold', own: 'from_addr', index: 'granted' },
  incoming: { hash: 'hot', own: 'to_addr', index: 'received' },
} as const;
type Side = keyof typeof SIDES;

const PLACE = columns('hash', 'wallet', 'first_block', 'first_log');

/** Spans that are read at once. A wallet that has as many is not counted. */
export const MOST_SPANS = 2000;

/**
 * $1 is the chain, $2 the block, $3 the hash of a wallet: returns the places of the delegations of the wallets after it, in the order of
 * their hashes. All spans of a delegation have the place of its first grant, and no other delegation has it.
 */
export const grantPlacesStatement = once((dialect: Dialect['name'], side: Side) => {
  const { hash, own, index } = SIDES[side];
  // Without the sum, PostgreSQL might read the chain by its primary key.
  const where = `s.${hash} > $3 AND s.chain + 0 = $1 AND s.version = 2 AND s.first_block <= $2`;
  const place = { hash: `s.${hash}`, wallet: `s.${own}`, ...ofTable('s', ['first_block', 'first_log']) };
  return `SELECT ${PLACE.select(place)} FROM ${spansBy(dialect, index, 's', where)} ORDER BY s.${hash} LIMIT ${MOST_SPANS}`;
});

export function createGrantCounts(engine: Engine, hash: IndexHash): Pick<Store, 'grantCount' | 'grantCounts'> {
  const grantCounts: Store['grantCounts'] = async (chainId, list, block, after) => {
    const rows = await engine.rows(grantPlacesStatement(engine.dialect.name, list), [chainId, block, after ?? -1]);
    const { col } = PLACE;
    const groups = [...Map.groupBy(rows, (row) => decodeNumber(row[col.hash]))];
    const isEnd = rows.length < MOST_SPANS;
    // The last one may have more: it is left to the next page, or left out if it fills this one.
    const cut = isEnd ? undefined : groups.pop();
    return {
      counts: groups.map(([, [first = [], ...others]]): GrantCount => {
        const places = [first, ...others].map((row) => `${row[col.first_block]} ${row[col.first_log]}`);
        return { wallet: decodeHex(first[col.wallet]), count: new Set(places).size };
      }),
      next: cut === undefined ? null : (groups.at(-1)?.[0] ?? cut[0]),
    };
  };
  return {
    grantCounts,
    async grantCount(chainId, { wallet, list }, block) {
      const own = hash[SIDES[list].hash](chainId, wallet);
      const { counts, next } = await grantCounts(chainId, list, block, own - 1);
      return counts.find((one) => one.wallet === wallet)?.count ?? (next === own ? null : 0);
    },
  };
}
