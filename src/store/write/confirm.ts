// Confirms stored blocks: sets their times from their headers, and marks those whose logs their hash is known to commit to.

import { decodeNumber, encodeHex } from '../rows/cells.ts';
import type { CommitResult, ConfirmedBlock } from '../store.ts';
import { type ChainWriter, lockChain, rewriteFrom } from './chain-writer.ts';

export async function confirm(
  writer: ChainWriter,
  epoch: number,
  blocks: readonly ConfirmedBlock[],
): Promise<CommitResult> {
  const { tx, chainId } = writer;
  const before = await lockChain(writer, epoch);
  const changed = await setConfirmed(writer, blocks);
  if (changed === null) return { state: before };
  const head = before.head && { ...before.head, ...blocks.find(({ hash }) => hash === before.head?.hash) };
  if (head !== null) await tx.run('UPDATE chain SET head_timestamp = $2 WHERE chain = $1', [chainId, head.timestamp]);
  return { state: await rewriteFrom(tx, { ...before, head }, changed) };
}

/** Gives the lowest block whose time changed. */
export async function setConfirmed(
  { tx, chainId }: ChainWriter,
  blocks: readonly ConfirmedBlock[],
): Promise<number | null> {
  let lowest: number | null = null;
  for (const { number, hash, timestamp, isProven } of blocks) {
    const [kept] = await tx.rows('SELECT timestamp FROM block WHERE chain = $1 AND number = $2 AND hash = $3', [
      chainId,
      number,
      encodeHex(hash),
    ]);
    if (kept === undefined) continue;
    if (decodeNumber(kept[0]) !== timestamp) lowest = Math.min(number, lowest ?? number);
    await tx.run(
      `UPDATE block SET timestamp = $3, log_time = 0${isProven ? ', unproven = 0' : ''} WHERE chain = $1 AND number = $2`,
      [chainId, number, timestamp],
    );
  }
  return lowest;
}
