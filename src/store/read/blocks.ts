// Reads kept blocks by their numbers.

import type { Engine } from '../engine.ts';
import { BLOCK, decodeBlock } from '../rows/block-row.ts';
import { decodeNumber } from '../rows/cells.ts';
import type { Store } from '../store.ts';

export function createBlockReads(
  engine: Engine,
): Pick<Store, 'newestBlock' | 'blocks' | 'uncheckedTimes' | 'unprovenBlocks' | 'newestUnproven'> {
  return {
    async newestBlock(chainId, atMost) {
      const [row] = await engine.rows(
        `SELECT ${BLOCK.sql} FROM block WHERE chain = $1 AND number <= $2 ORDER BY number DESC LIMIT 1`,
        [chainId, atMost],
      );
      return row === undefined ? null : decodeBlock(row);
    },

    async blocks(chainId, { from, to }) {
      const rows = await engine.rows(
        `SELECT ${BLOCK.sql} FROM block WHERE chain = $1 AND number >= $2 AND number <= $3 ORDER BY number`,
        [chainId, from, to],
      );
      return rows.map(decodeBlock);
    },

    async uncheckedTimes(chainId, { from, to, limit }) {
      const rows = await engine.rows(
        `SELECT ${BLOCK.sql} FROM block INDEXED BY block_log_time
          WHERE chain = $1 AND number >= $2 AND number <= $3 AND log_time = 1 ORDER BY number LIMIT $4`,
        [chainId, from, to, limit],
      );
      return rows.map(decodeBlock);
    },

    async newestUnproven() {
      const rows = await engine.rows(
        `SELECT c.chain, (SELECT max(b.number) FROM block b INDEXED BY block_unproven
          WHERE b.chain = c.chain AND b.unproven = 1) FROM chain c`,
        [],
      );
      return new Map(
        rows.flatMap(([chain, number]) => (number == null ? [] : [[decodeNumber(chain), decodeNumber(number)]])),
      );
    },

    async unprovenBlocks(chainId, { from, to, limit }) {
      const rows = await engine.rows(
        `SELECT ${BLOCK.sql} FROM block INDEXED BY block_unproven
          WHERE chain = $1 AND number >= $2 AND number <= $3 AND unproven = 1 ORDER BY number DESC LIMIT $4`,
        [chainId, from, to, limit],
      );
      return rows.map(decodeBlock);
    },
  };
}
