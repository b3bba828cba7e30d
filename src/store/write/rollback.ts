// Removes everything above a block, and reopens what ended above it.

import { decodeHex, decodeNumber } from '../rows/cells.ts';
import type { ChainWriter } from './chain-writer.ts';
import { deriveWallets } from './derive.ts';

export const ROLL_BACK = [
  'DELETE FROM span WHERE chain = $1 AND since_block > $2',
  'UPDATE span INDEXED BY span_until SET until_block = NULL, until_log = NULL WHERE chain = $1 /*pg AND chain >= 0*/ AND until_block > $2',
  'DELETE FROM log WHERE chain = $1 AND block > $2',
  'DELETE FROM block WHERE chain = $1 AND number > $2',
  'DELETE FROM v1_pair WHERE chain = $1 AND block > $2',
  'DELETE FROM v1_read WHERE chain = $1 AND block > $2',
];

/** Gives the lowest block whose changes may differ. */
export async function rollBack(writer: ChainWriter, to: number): Promise<number> {
  const { tx, chainId } = writer;
  for (const statement of ROLL_BACK) await tx.run(statement, [chainId, to]);
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
  await deriveWallets(
    writer,
    [...vaults].map((wallet) => ({ version: 1, wallet })),
  );
  return discarded.reduce((lowest, [, block]) => Math.min(lowest, decodeNumber(block)), to + 1);
}
