// Fences writers: only the newest writer of a chain may commit.

import type { WriteTransaction } from '../engine.ts';
import { StoreError } from '../errors.ts';
import { CHAIN, decodeChain } from '../rows/chain-row.ts';
import { drawStamp } from '../stamp.ts';
import type { ChainState } from '../store.ts';

/** Counts the commit and holds the chain's row until the transaction ends. */
export async function lockChain(tx: WriteTransaction, chainId: number, epoch: number): Promise<ChainState> {
  const [row] = await tx.rows(
    `UPDATE chain SET commits = commits + 1, stamp = $3 WHERE chain = $1 AND epoch = $2 RETURNING ${CHAIN.sql}`,
    [chainId, epoch, drawStamp()],
  );
  if (row !== undefined) return decodeChain(row);
  const [chain] = await tx.rows('SELECT 1 FROM chain WHERE chain = $1', [chainId]);
  if (chain === undefined) throw new StoreError('not-started', `Chain ${chainId} was never claimed.`);
  throw new StoreError('overtaken', `Chain ${chainId}: another writer has claimed the chain since epoch ${epoch}.`);
}
