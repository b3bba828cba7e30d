// Reads the logs of a range of blocks in order, a page at a time.

import type { Engine } from '../engine.ts';
import { BLOCK, blockDecoder } from '../rows/block-row.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { LOG, logDecoder } from '../rows/log-row.ts';
import type { Store } from '../store.ts';

const ROW = columns(...BLOCK.names, ...LOG.names);
const SQL = `SELECT ${ROW.select({ ...ofTable('b', BLOCK.names), ...ofTable('l', LOG.names) })}
  FROM log l JOIN block b ON b.chain = l.chain AND b.number = l.block
  WHERE l.chain = $1 AND l.block >= $2 AND l.block <= $3 AND (l.block, l.log_index) > ($4, $5)
  ORDER BY l.block, l.log_index LIMIT $6`;

const decodeBlock = blockDecoder(ROW.at);
const decodeLog = logDecoder(ROW.at);

export const createLogs =
  (engine: Engine): Store['logs'] =>
  async (chainId, { from, to, after, limit }) => {
    const rows = await engine.rows(SQL, [chainId, from, to, after?.block ?? -1, after?.logIndex ?? -1, limit]);
    return rows.map((row) => ({ ...decodeLog(row), block: decodeBlock(row) }));
  };
