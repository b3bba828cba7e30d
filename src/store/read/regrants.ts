// Reads the v1 grants of a wallet after a log and up to a block, in order.

import type { Engine } from '../engine.ts';
import { encodeHex } from '../rows/cells.ts';
import { decodeLog, LOG } from '../rows/log-row.ts';
import type { Store } from '../store.ts';

export const createRegrants =
  (engine: Engine): Store['regrants'] =>
  async (chainId, vault, after, to) => {
    const rows = await engine.rows(
      `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND (block, log_index) > ($2, $3) AND block <= $4 AND version = 1
        AND from_addr = $5 ORDER BY block, log_index`,
      [chainId, after.block, after.logIndex, to, encodeHex(vault)],
    );
    return rows.flatMap((row) => {
      const { event, block, logIndex } = decodeLog(row);
      return event.type === 'granted' ? [{ key: event.delegation, granted: { block, logIndex } }] : [];
    });
  };
