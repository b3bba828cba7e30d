// Writes what the follower knows about its chain, apart from delegations.

import type { WriteTransaction } from '../engine.ts';
import { jsonText } from '../json.ts';
import type { ChainState, Report } from '../store.ts';
import { lockChain } from './lock-chain.ts';

export async function report(
  tx: WriteTransaction,
  chainId: number,
  epoch: number,
  changes: Report,
): Promise<ChainState> {
  const before = await lockChain(tx, chainId, epoch);
  const { confirmedAt, tip, halt, confirmed, partial, disputes, proving, provable } = { ...before, ...changes };
  await tx.run(
    `UPDATE chain SET confirmed_at = $2, tip = $3, halt = $4, confirmed = $5, partial = $6, disputes = $7,
      proving = $8, provable = $9 WHERE chain = $1`,
    [
      chainId,
      confirmedAt,
      tip,
      halt === null ? null : jsonText(halt),
      confirmed,
      partial ? 1 : 0,
      disputes.length === 0 ? null : jsonText(disputes),
      proving ? 1 : 0,
      provable === null ? null : Number(provable),
    ],
  );
  return { ...before, confirmedAt, tip, halt, confirmed, partial, disputes, proving, provable };
}
