// Reads v1 revocations that name no delegate, and what is known about them.

import type { Engine, Param } from '../engine.ts';
import { BLOCK, blockDecoder } from '../rows/block-row.ts';
import { decodeHex, decodeNumber, decodeNumberOrNull, EMPTY, encodeHex } from '../rows/cells.ts';
import { columns, ofTable } from '../rows/columns.ts';
import { REVOCATION_LOGS } from '../rows/revocation-logs.ts';
import type { Revocation, Store } from '../store.ts';

type RevocationReads = Pick<Store, 'unsettledVaults' | 'revocations' | 'openRevocations'>;

const ROW = columns('vault', 'read_block', ...BLOCK.names);
const decodeBlock = blockDecoder(ROW.at);

export function createRevocationReads(engine: Engine): RevocationReads {
  async function revocationsWhere(chainId: number, condition: string, params: readonly Param[]): Promise<Revocation[]> {
    const rows = await engine.rows(
      `SELECT ${ROW.select({ ...ofTable('r', ['vault', 'read_block']), ...ofTable('b', BLOCK.names) })}
        FROM v1_read r JOIN block b ON b.chain = r.chain AND b.number = r.block WHERE r.chain = $1 AND ${condition}`,
      [chainId, ...params],
    );
    const found: Revocation[] = [];
    for (const row of rows) {
      const [vault, block] = [decodeHex(row[ROW.at.vault]), decodeBlock(row)];
      const revocation = [chainId, encodeHex(vault), block.number];
      const logs = await engine.rows(
        `SELECT log_index ${REVOCATION_LOGS} AND block = $3 ORDER BY log_index`,
        revocation,
      );
      const ended = await engine.rows(
        'SELECT delegate, ended_by FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3 AND ended_by IS NOT NULL',
        revocation,
      );
      found.push({
        vault,
        block,
        logIndexes: logs.map(([logIndex]) => decodeNumber(logIndex)),
        ended: ended.map(([delegate, endedBy]) => ({ delegate: decodeHex(delegate), endedBy: decodeNumber(endedBy) })),
        readAt: decodeNumberOrNull(row[ROW.at.read_block]),
      });
    }
    return found;
  }

  return {
    async unsettledVaults(chainId, after, limit) {
      const rows = await engine.rows(
        `SELECT DISTINCT vault FROM v1_read INDEXED BY v1_unread WHERE chain = $1 AND vault > $2
          AND (read_block IS NULL OR read_block > block) AND read_block IS NULL ORDER BY vault LIMIT $3`,
        [chainId, after === null ? EMPTY : encodeHex(after), limit],
      );
      return rows.map(([vault]) => decodeHex(vault));
    },

    revocations: (chainId, { from, to }) =>
      revocationsWhere(chainId, 'r.block >= $2 AND r.block <= $3 ORDER BY r.block, r.vault', [from, to]),

    openRevocations: (chainId, vault, limit) =>
      revocationsWhere(chainId, 'r.vault = $2 AND r.read_block IS NULL ORDER BY r.block LIMIT $3', [
        encodeHex(vault),
        limit,
      ]),
  };
}
