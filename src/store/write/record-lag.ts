// Records the lag of a chain, and forgets what is older than a day.

import type { WriteTransaction } from '../engine.ts';
import { LAG_KEPT_SECONDS, type LagSample } from '../lag.ts';
import { lockChain } from './lock-chain.ts';

export async function recordLag(
  tx: WriteTransaction,
  epoch: number,
  { chainId, at, seconds }: LagSample,
): Promise<void> {
  await lockChain(tx, chainId, epoch);
  // After a restart, the same ten minutes can have two samples.
  await tx.run(
    `INSERT INTO lag (chain, at, seconds) VALUES ($1, $2, $3)
      ON CONFLICT (chain, at) DO UPDATE SET seconds = excluded.seconds WHERE excluded.seconds > lag.seconds`,
    [chainId, at, seconds],
  );
  // Later ones are of a clock that was ahead.
  await tx.run('DELETE FROM lag WHERE chain = $1 AND (at <= $2 OR at > $3)', [chainId, at - LAG_KEPT_SECONDS, at]);
}
