// Stamps commits and revisions with random numbers. After a restored backup, or a failover that lost commits, their counts
// repeat; an equal stamp means the same history up to that point.

import type { WriteTransaction } from './engine.ts';
import type { ChainState } from './store.ts';

/** Below 2^52, so that its sum with a count is exact. */
export function drawStamp(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 20) * 2 ** 32 + low;
}

/** Stamps a new revision of a chain. */
export const stampRevision = (tx: WriteTransaction, { chainId, revision, head }: ChainState) =>
  tx.run('INSERT INTO revision (chain, revision, stamp, head) VALUES ($1, $2, $3, $4)', [
    chainId,
    revision,
    drawStamp(),
    head?.number ?? 0,
  ]);
