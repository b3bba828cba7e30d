// Lists the wallets that ever granted a wallet something with an expiry, by address, a page at a time. Which of them it acts for
// alone is decided by their own grants.

import { isAddress } from '../../registry/delegation.ts';
import type { Dialect, Engine } from '../engine.ts';
import { requireBlockNumber, requireLimit, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeHexOrNull, EMPTY, encodeHex } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import { CLASS_CELLS, encodeClass, isOfClass, spansBy } from '../rows/span-index.ts';
import { once, params } from '../rows/sql.ts';
import type { Store } from '../store.ts';
import { AFTER_PINNED, encodePinned, PINNED_NAMES, pinnedColumns, pinnedRequirement } from './pinned.ts';

const [WALLET, AFTER = '', ROWS, HASH] = params(AFTER_PINNED, 4);
const ROW = columns(...PINNED_NAMES, 'owner');
const requirePinned = pinnedRequirement(ROW.col);

/** Returns the chain's row and those of so many owners. It finds one owner at a time, which skips all grants of a pair at once. */
export const exclusiveOwnersStatement = once((dialect: Dialect['name'], classes: number): string => {
  const found = Array.from({ length: classes }, (_, turn) => {
    const cells = params(AFTER_PINNED + 4 + CLASS_CELLS * turn, CLASS_CELLS);
    const where = `n.hot = ${HASH} AND ${isOfClass('n', cells)} AND n.to_addr = ${WALLET} AND n.chain + 0 = $1`;
    const next = (after: string) =>
      `(SELECT n.from_addr FROM ${spansBy(dialect, 'exclusive_to', 'n', `${where} AND n.from_addr > ${after}`)} ORDER BY n.from_addr LIMIT 1)`;
    return `found${turn} (owner, turn) AS (SELECT ${next(AFTER)}, 1
      UNION ALL SELECT ${next(`found${turn}.owner`)}, turn + 1 FROM found${turn} WHERE owner IS NOT NULL AND turn < ${ROWS})`;
  });
  const owners = found.map((_, turn) => `SELECT owner FROM found${turn} WHERE owner IS NOT NULL`).join(' UNION ');
  return `WITH RECURSIVE ${found.join(',\n')}
    SELECT ${ROW.select(pinnedColumns(null))} FROM chain c WHERE c.chain = $1
    UNION ALL SELECT ${ROW.select({ owner: 'o.owner' })} FROM (${owners} ORDER BY owner LIMIT ${ROWS}) AS o`;
});

export function createExclusiveOwners(engine: Engine, hash: IndexHash): Store['exclusiveOwners'] {
  return async ({ chainId, wallet, classes, at: pinned, after, limit }) => {
    requireBlockNumber(pinned.block);
    requireLimit(limit);
    if (!isAddress(wallet)) throw new StoreError('bad-question', `wallet ${wallet} is not a lower-case address`);
    const place = after === undefined ? EMPTY : encodeHex(after);
    const rows = await engine.rows(exclusiveOwnersStatement(engine.dialect.name, classes.length), [
      ...encodePinned(chainId, pinned),
      ...[encodeHex(wallet), place, limit, hash.hot(chainId, wallet)],
      ...classes.flatMap(encodeClass),
    ]);
    const isOwner = (row: (typeof rows)[number]) => decodeHexOrNull(row[ROW.col.owner]) !== null;
    requirePinned(chainId, pinned.block, rows.find((row) => !isOwner(row)) ?? []);
    // SQL promises no order of what is joined.
    return rows
      .filter(isOwner)
      .map((row) => decodeHex(row[ROW.col.owner]))
      .sort();
  };
}
