// Queues v1 revocations that name no delegate until the registry's state settles them.

import { encodeHex } from '../rows/cells.ts';
import type { ChainWriter } from './chain-writer.ts';
import type { AppliedBlock } from './span-set.ts';

/** The place of a v1 span is its own grant. */
const hasEarlier = (half: 'open' | 'closed', until: string) => `EXISTS (SELECT 1 FROM span INDEXED BY span_${half}_from
  WHERE cold = $4 /*pg AND cold >= 0*/ AND chain = $1 AND version = 1 AND from_addr = $2 AND until_block ${until}
    AND (first_block, first_log) < ($3, $5))`;

/** A revocation of a wallet that had granted nothing before it ended nothing. */
const QUEUE = `INSERT INTO v1_read (chain, vault, block, cold, read_block) SELECT $1, $2, $3, $4, NULL
  WHERE ${hasEarlier('open', 'IS NULL')} OR ${hasEarlier('closed', 'IS NOT NULL')} ON CONFLICT DO NOTHING`;

/** The spans of these blocks must have been written before. */
export async function queueRevocations(
  { tx, chainId, hash }: ChainWriter,
  blocks: readonly AppliedBlock[],
): Promise<void> {
  for (const { number, logs } of blocks) {
    for (const { event, revoked, logIndex } of logs) {
      if (event.type !== 'unknownRevoked' || revoked) continue;
      await tx.run(QUEUE, [chainId, encodeHex(event.from), number, hash.cold(chainId, event.from), logIndex]);
    }
  }
}
