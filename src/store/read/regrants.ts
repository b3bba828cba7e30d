// Reads the newest grant of each v1 delegation of a wallet, of those after a log and up to a block.

import { delegationId } from '../../registry/delegation.ts';
import type { Engine } from '../engine.ts';
import { encodeHex } from '../rows/cells.ts';
import { decodeLog, LOG } from '../rows/log-row.ts';
import type { LogPosition, Store } from '../store.ts';

export const createRegrants =
  (engine: Engine): Store['regrants'] =>
  async (chainId, vault, after, to) => {
    const rows = await engine.rows(
      `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND (block, log_index) > ($2, $3) AND block <= $4 AND version = 1
        AND from_addr = $5 ORDER BY block, log_index`,
      [chainId, after.block, after.logIndex, to, encodeHex(vault)],
    );
    const newest = new Map<string, LogPosition>();
    for (const { event, block, logIndex } of rows.map(decodeLog)) {
      if (event.type === 'granted') newest.set(delegationId(event.delegation), { block, logIndex });
    }
    return newest;
  };
