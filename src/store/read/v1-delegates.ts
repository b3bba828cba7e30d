// Lists the delegates to which a v1 wallet had granted something before a log and that had it at a block.

import type { Address } from '../../registry/delegation.ts';
import type { Engine } from '../engine.ts';
import type { IndexHash } from '../index-hash.ts';
import { decodeHex, decodeNumber, encodeHex } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import type { Store } from '../store.ts';
import { isBelowHead } from './unsettled.ts';

/** A delegate's place in the list is its index hash. */
const ROW = columns('hot', 'to_addr');

const half = (name: 'open' | 'closed', until: string) => `SELECT ${ROW.sql} FROM (SELECT ${ROW.sql} FROM span
  INDEXED BY span_${name}_pair WHERE cold = $1 AND hot > $2 /*pg AND key >= 0*/ AND chain /*pg + 0*/ = $3 AND version = 1 AND from_addr = $4
    AND until_block ${until} AND (since_block /*pg + 0*/, since_log) < ($5, $6) ORDER BY hot LIMIT 1) AS ${name}`;
const SQL = `${half('open', 'IS NULL')} UNION ALL ${half('closed', `> $7 AND ${isBelowHead('$7', '$3')}`)} ORDER BY hot LIMIT 1`;

/** Reads one delegate at a time by the index of pairs, which skips all grants to the same delegate at once. */
export const createV1Delegates =
  (engine: Engine, hash: IndexHash): Store['v1Delegates'] =>
  async ({ chainId, vault, before, at, limit }) => {
    const found: Address[] = [];
    for (let place = -1; found.length < limit; ) {
      const params = [hash.cold(chainId, vault), place, chainId, encodeHex(vault), before.block, before.logIndex, at];
      const [row] = await engine.rows(SQL, params);
      if (row === undefined) break;
      place = decodeNumber(row[ROW.at.hot]);
      found.push(decodeHex(row[ROW.at.to_addr]));
    }
    return found;
  };
