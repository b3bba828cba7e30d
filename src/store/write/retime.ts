// Corrects the times of stored blocks by their headers.

import { decodeNumber, encodeHex } from '../rows/cells.ts';
import type { BlockRef, CommitResult } from '../store.ts';
import type { ChainWriter } from './chain-writer.ts';
import { lockChain } from './lock-chain.ts';
import { rewriteFrom } from './rewrite.ts';

export async function retime(writer: ChainWriter, epoch: number, blocks: readonly BlockRef[]): Promise<CommitResult> {
  const { tx, chainId } = writer;
  const before = await lockChain(tx, chainId, epoch);
  const changed = await setTimes(writer, blocks);
  if (changed === null) return { state: before };
  if (changed === before.head?.number) {
    const time = blocks.find(({ number }) => number === changed)?.timestamp ?? 0;
    await tx.run('UPDATE chain SET head_timestamp = $2 WHERE chain = $1', [chainId, time]);
  }
  return { state: await rewriteFrom(tx, before, changed) };
}

/** Gives the lowest block whose time changed. */
export async function setTimes({ tx, chainId }: ChainWriter, blocks: readonly BlockRef[]): Promise<number | null> {
  let lowest: number | null = null;
  for (const { number, hash, timestamp } of blocks) {
    const [kept] = await tx.rows('SELECT timestamp FROM block WHERE chain = $1 AND number = $2 AND hash = $3', [
      chainId,
      number,
      encodeHex(hash),
    ]);
    if (kept === undefined) continue;
    if (decodeNumber(kept[0]) !== timestamp) lowest = Math.min(number, lowest ?? number);
    await tx.run('UPDATE block SET timestamp = $3, log_time = 0 WHERE chain = $1 AND number = $2', [
      chainId,
      number,
      timestamp,
    ]);
  }
  return lowest;
}
