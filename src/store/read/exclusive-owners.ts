// Lists the wallets that ever granted a wallet something with an expiry, by address, a page at a time. Which of them it acts for
// alone is decided by their own grants.

import { isAddress, KINDS } from '../../registry/delegation.ts';
import type { Dialect, Engine, Param } from '../engine.ts';
import { requireBlockNumber, requireLimit, StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeHexOrNull, EMPTY, encodeHex, encodeUint } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import { RIGHTS_ID, spansBy } from '../rows/span-index.ts';
import { once, params } from '../rows/sql.ts';
import type { Store } from '../store.ts';
import { isSpan } from './key-spans.ts';
import { AFTER_PINNED, encodePinned, PINNED_NAMES, pinnedColumns, pinnedRequirement } from './pinned.ts';

const [WALLET = '', AFTER = '', ROWS = '', HASH = ''] = params(AFTER_PINNED, 4);
const FIRST_CLASS = AFTER_PINNED + 4;
const ROW = columns(...PINNED_NAMES, 'owner');
const requirePinned = pinnedRequirement(ROW.col);

/** Returns the chain's row and those of so many owners. It finds one owner at a time, which skips all grants of a pair at once. */
export const exclusiveOwnersStatement = once((dialect: Dialect['name'], classes: number): string => {
  const found = Array.from({ length: classes }, (_, turn) => {
    const [id, kind = '', contract = '', token_id = ''] = params(FIRST_CLASS + 4 * turn, 4);
    const where = [
      isSpan('n', { hot: HASH, kind, contract, token_id, to_addr: WALLET }),
      `${RIGHTS_ID.replace('rights', 'n.rights')} = ${id} AND n.chain + 0 = $1`,
    ].join(' AND ');
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
    for (const one of [wallet, after ?? wallet])
      if (!isAddress(one)) throw new StoreError('bad-question', `wallet ${one} is not a lower-case address`);
    const cells: Param[] = encodePinned(chainId, pinned);
    cells.push(encodeHex(wallet), after === undefined ? EMPTY : encodeHex(after), limit, hash.hot(chainId, wallet));
    for (const { id, kind, contract, tokenId } of classes) {
      cells.push(encodeHex(id), KINDS[kind].code, contract === null ? EMPTY : encodeHex(contract));
      cells.push(tokenId === null ? EMPTY : encodeUint(tokenId));
    }
    const rows = await engine.rows(exclusiveOwnersStatement(engine.dialect.name, classes.length), cells);
    const chain = rows.find((row) => decodeHexOrNull(row[ROW.col.owner]) === null) ?? [];
    requirePinned(chainId, pinned.block, chain);
    return rows
      .filter((row) => row !== chain)
      .map((row) => decodeHex(row[ROW.col.owner]))
      .sort();
  };
}
