// Deletes finalized blocks that no answer needs. Blocks with logs, blocks whose state settled a revocation, and the lowest
// block are kept.

import type { WriteTransaction } from '../engine.ts';
import type { ChainState } from '../store.ts';

export async function pruneBlocks(
  tx: WriteTransaction,
  { chainId, verified }: ChainState,
  below: number,
): Promise<void> {
  await tx.run(
    `DELETE FROM block WHERE chain = $1 AND number < $2 AND number >= $3
      AND number > (SELECT min(number) FROM block lowest WHERE lowest.chain = $1)
      AND NOT EXISTS (SELECT 1 FROM log WHERE log.chain = $1 AND log.block = block.number)
      AND NOT EXISTS (SELECT 1 FROM v1_read r INDEXED BY v1_unread WHERE r.chain = $1
        AND (r.read_block IS NULL OR r.read_block > r.block) AND r.read_block = block.number)`,
    [chainId, below, verified ?? 0],
  );
}
