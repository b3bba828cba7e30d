// Rolls a chain back to an older block and resumes it.

import { openStore } from '../store/open.ts';
import { UsageError } from './usage-error.ts';

/** Rolls back to the newest block at or below `to` whose hash is stored. */
export async function rewindChain(
  databaseUrl: string,
  chainId: number,
  to: number,
): Promise<{ readonly from: number; readonly to: number }> {
  const store = await openStore(databaseUrl, { mustExist: true });
  try {
    const state = await store.chain(chainId);
    if (state?.head == null) throw new UsageError(`Chain ${chainId} is not in this database.`);
    if (to >= state.head.number)
      throw new UsageError(`Nothing to roll back: chain ${chainId} is at block ${state.head.number}.`);
    const target = await store.newestBlock(chainId, to);
    if (target === null)
      throw new UsageError(`No block hash is stored at or below ${to}. Start again with an empty database.`);
    const { epoch, head } = await store.claim(chainId, state.firstBlock);
    // One commit: a running follower can claim the chain right after it.
    await store.apply({
      chainId,
      epoch,
      after: head,
      rollbackTo: target.number,
      blocks: [],
      head: target,
      resume: true,
    });
    return { from: state.head.number, to: target.number };
  } finally {
    await store.close();
  }
}
