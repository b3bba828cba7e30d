// Makes a writer the only one of its chain: every earlier writer is fenced off by the new epoch.

import type { WriteTransaction } from '../engine.ts';
import { CHAIN, decodeChain } from '../rows/chain-row.ts';
import { drawStamp, stampRevision } from '../stamp.ts';
import type { ChainState } from '../store.ts';

export async function claim(
  tx: WriteTransaction,
  chainId: number,
  firstBlock: number,
  partial: boolean,
): Promise<ChainState> {
  const [row = []] = await tx.rows(
    `INSERT INTO chain (chain, epoch, first_block, revision, commits, stamp, partial) VALUES ($1, 1, $2, 0, 0, $3, $4)
      ON CONFLICT (chain) DO UPDATE SET epoch = chain.epoch + 1, commits = chain.commits + 1, stamp = excluded.stamp
      RETURNING ${CHAIN.sql}`,
    [chainId, firstBlock, drawStamp(), partial ? 1 : 0],
  );
  const state = decodeChain(row);
  if (state.epoch === 1) await stampRevision(tx, state);
  return state;
}
