// Records that answers from a block on may differ from those of earlier revisions.

import type { WriteTransaction } from '../engine.ts';
import { stampRevision } from '../stamp.ts';
import type { ChainState } from '../store.ts';

export async function recordRewrite(tx: WriteTransaction, before: ChainState, fromBlock: number): Promise<void> {
  await tx.run('INSERT INTO rewrite (chain, revision, from_block) VALUES ($1, $2, $3)', [
    before.chainId,
    before.revision + 1,
    fromBlock,
  ]);
}

/** Starts a new revision after stored history changed. Lists that were pinned at or after the block must start again. */
export async function rewriteFrom(tx: WriteTransaction, before: ChainState, fromBlock: number): Promise<ChainState> {
  await recordRewrite(tx, before, fromBlock);
  const state = { ...before, revision: before.revision + 1 };
  await stampRevision(tx, state);
  await tx.run('UPDATE chain SET revision = $2 WHERE chain = $1', [before.chainId, state.revision]);
  return state;
}
