// Removes blocks: everything above one, or finalized ones that no answer needs.

import type { Dialect } from '../engine.ts';
import { decodeHex, decodeNumber } from '../rows/cells.ts';
import { isInIndex } from '../rows/span-index.ts';
import { indexedBy, once } from '../rows/sql.ts';
import type { ChainWriter, LockedWriter } from './chain-writer.ts';
import { deriveWallets } from './derive.ts';

export const rollBackStatements = once((dialect: Dialect['name']) => [
  'DELETE FROM span WHERE chain = $1 AND since_block > $2',
  `UPDATE span${indexedBy(dialect, 'span_until')} SET until_block = NULL, until_log = NULL
    WHERE ${isInIndex(dialect, 'until', '', '> $2')} AND chain = $1`,
  'DELETE FROM log WHERE chain = $1 AND block > $2',
  'DELETE FROM block WHERE chain = $1 AND number > $2',
  'DELETE FROM v1_pair WHERE chain = $1 AND block > $2',
  'DELETE FROM v1_read WHERE chain = $1 AND block > $2',
]);

/** Removes everything above a block, and reopens what ended above it. Gives the lowest block whose changes may differ. */
export async function rollBack(writer: ChainWriter, to: number): Promise<number> {
  const { tx, chainId } = writer;
  for (const statement of rollBackStatements(tx.dialect)) await tx.run(statement, [chainId, to]);
  // State that was read on the abandoned branch proves nothing on this one: what it ended is open again.
  const discarded = await tx.rows(
    `SELECT vault, block FROM v1_read WHERE chain = $1 AND read_block > $2
      UNION SELECT vault, block FROM v1_pair WHERE chain = $1 AND read_block > $2`,
    [chainId, to],
  );
  if (discarded.length === 0) return to + 1;
  await tx.run('DELETE FROM v1_pair WHERE chain = $1 AND read_block > $2', [chainId, to]);
  await tx.run('UPDATE v1_read SET read_block = NULL WHERE chain = $1 AND read_block > $2', [chainId, to]);
  const vaults = new Set(discarded.map(([vault]) => decodeHex(vault)));
  const wallets = [...vaults].map((wallet) => ({ version: 1, wallet }) as const);
  await deriveWallets(writer, wallets);
  return discarded.reduce((lowest, [, block]) => Math.min(lowest, decodeNumber(block)), to + 1);
}

/** Deletes finalized blocks. Blocks with logs, blocks whose state settled a revocation, and the lowest block are kept. */
export async function pruneBlocks({ tx, chainId, before }: LockedWriter, below: number): Promise<void> {
  await tx.run(
    `DELETE FROM block WHERE chain = $1 AND number < $2 AND number >= $3
      AND number > (SELECT min(number) FROM block lowest WHERE lowest.chain = $1)
      AND NOT EXISTS (SELECT 1 FROM log WHERE log.chain = $1 AND log.block = block.number)
      AND NOT EXISTS (SELECT 1 FROM v1_read r${indexedBy(tx.dialect, 'v1_unsettled')} WHERE r.chain = $1
        AND (r.read_block IS NULL OR r.read_block > r.block) AND r.read_block = block.number)`,
    [chainId, below, before.verified ?? 0],
  );
}
