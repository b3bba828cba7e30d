// Reads the newest kept block at or before a time.

import { StoreError } from '../errors.ts';
import { BLOCK, blockDecoder } from '../rows/block-row.ts';
import { decodeNumber, decodeNumberOrNull } from '../rows/cells.ts';
import { ofTable } from '../rows/columns.ts';
import type { Store } from '../store.ts';
import { STATE, type StateReader, stateStatement } from './state-reader.ts';

const STATEMENT = stateStatement(
  [...BLOCK.names, 'next_number'],
  (select) => `SELECT ${select({
    ...STATE,
    ...ofTable('b', BLOCK.names),
    next_number: `(SELECT n.number FROM block n WHERE n.chain = $1 AND n.timestamp > $2
      ORDER BY n.timestamp, n.number LIMIT 1)`,
  })} FROM chain c
    LEFT JOIN (SELECT * FROM block WHERE chain = $1 AND timestamp <= $2
      ORDER BY timestamp DESC, number DESC LIMIT 1) b ON b.chain = c.chain
    WHERE c.chain = $1`,
);
const { at } = STATEMENT;
const decodeBlock = blockDecoder(at);

export const createBlockAt =
  (read: StateReader): Store['blockAt'] =>
  async (chainId, timestamp) => {
    const { rows, head } = await read(chainId, STATEMENT, [chainId, timestamp]);
    // Until a later time is seen, the next block may still have this one.
    if (timestamp >= head.timestamp)
      throw new StoreError('beyond-head', `Chain ${chainId} is indexed up to the time ${head.timestamp}.`);
    const [row = []] = rows;
    if (decodeNumberOrNull(row[at.number]) === null)
      throw new StoreError('before-first', `Chain ${chainId} is not indexed that far back.`);
    return { ...decodeBlock(row), next: decodeNumber(row[at.next_number]) };
  };
