// The statement that looks up many delegations as of one block.

import type { DelegationKey } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import type { BulkStatement, Chunk, Param } from '../engine.ts';
import { arrayParams, params } from '../rows/bulk.ts';
import { EMPTY } from '../rows/cells.ts';
import { type ColumnTypes, columns } from '../rows/columns.ts';
import { encodeKeyBetween, KEY_TYPES } from '../rows/key-columns.ts';
import { once } from './once.ts';

/** What the statement takes for each delegation: the position of its question, the index hashes, and the key. */
const TYPES: ColumnTypes = { position: 'bigint', hot: 'bigint', key: 'bigint', ...KEY_TYPES };
const NAMES = Object.keys(TYPES);

/** The cells that all delegations of one question share. */
export interface QuestionCells {
  readonly position: number;
  readonly hot: number;
  readonly from: Uint8Array;
  readonly to: Uint8Array;
}

/** In the order of `TYPES`. */
export const encodeLookup = (
  { position, hot, from, to }: QuestionCells,
  keyHash: number,
  key: DelegationKey,
): Param[] => [position, hot, keyHash, ...encodeKeyBetween(key, from, to)];

/** SQLite takes 256 delegations a statement; the last statement is filled up with rows that match nothing. */
export const CHUNK: Chunk = {
  size: 256,
  filler: Object.values(TYPES).map((type) => (type === 'bytea' ? EMPTY : -1)),
};

/** What the statement returns for each delegation that held. */
export const FOUND = columns('position', 'amount');

/** $1 is the chain, $2 the block; the lookups follow. At the head no closed span can hold. */
export const checkManyStatement = once((version: Version, isHead: boolean): BulkStatement => {
  const isSpan = (span: string) =>
    `${NAMES.slice(1)
      .map((name) => `${span}.${name} = q.${name}`)
      .join(' AND ')} AND ${span}.kind >= 0 AND ${span}.chain = $1 AND ${span}.version = ${version}`;
  const found = FOUND.select({ position: 'q.position', amount: 's.amount' });
  const open = `SELECT ${found} FROM q CROSS JOIN span s INDEXED BY span_open_vault
    WHERE ${isSpan('s')} AND s.until_block IS NULL AND s.since_block <= $2`;
  // As in a single check: of the closed spans only the first to end after the block can hold at it.
  const ended = (what: string, index: string) => `SELECT ${what} FROM span e ${index}
    WHERE ${isSpan('e')} AND e.until_block > $2 AND e.since_block < e.until_block ORDER BY e.until_block LIMIT 1`;
  const closed = `SELECT ${found} FROM q CROSS JOIN span s
    WHERE s.rowid = (${ended('e.rowid', 'INDEXED BY span_closed_vault')}) AND s.since_block <= $2`;
  const rows = Array.from(
    { length: CHUNK.size },
    (_, row) => `(${params(3 + row * NAMES.length, NAMES.length).join(', ')})`,
  );
  return {
    sqlite: `WITH q (${NAMES.join(', ')}) AS (VALUES ${rows.join(', ')}) ${isHead ? open : `${open} UNION ALL ${closed}`}`,
    postgres: `SELECT ${found} FROM unnest(${arrayParams(Object.values(TYPES), 3)}) AS q (${NAMES.join(', ')})
      CROSS JOIN LATERAL (
        (SELECT o.amount FROM span o WHERE ${isSpan('o')} AND o.until_block IS NULL AND o.since_block <= $2 LIMIT 1)
        UNION ALL
        (SELECT f.amount FROM (${ended('e.amount, e.since_block', '')}) AS f WHERE f.since_block <= $2)) AS s`,
  };
});
