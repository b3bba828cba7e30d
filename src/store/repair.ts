// Puts right what a provider told wrong: the logs of blocks, and their times.

import type { Address } from '../registry/delegation.ts';
import type { Version } from '../registry/versions.ts';
import { insertBlocks, insertLogs, newest, rewritten } from './commit.ts';
import { type DerivedWallet, deriveWallets, type Writing } from './derive.ts';
import { bytesOf, eventOf, hexOf, numberOf } from './encoding.ts';
import { StoreError } from './errors.ts';
import { resettle } from './settle.ts';
import type { BlockInput, BlockRef, ChainState, CommitResult, LogInput, Repair } from './store.ts';
import { LOG } from './tables.ts';

/** Replaces the logs of blocks by those given, and derives the spans of all wallets that either concern. */
export async function repair(writing: Writing, { epoch, blocks }: Repair): Promise<CommitResult> {
  const { tx, chainId } = writing;
  const before = await newest(tx, chainId, epoch);
  const [lowest] = blocks;
  if (lowest === undefined) return { state: before };
  const wallets = new Map<string, DerivedWallet & { readonly from: number }>();
  const note = (version: Version, wallet: Address, from: number) => {
    const name = version + wallet;
    if (!wallets.has(name)) wallets.set(name, { version, wallet, from });
  };
  for (const block of blocks) {
    await requirePlace(writing, before, block);
    for (const event of [...(await storedEvents(writing, block.number)), ...block.logs.map(({ event }) => event)]) {
      if ('delegation' in event) note(event.delegation.version, event.delegation.from, block.number);
      else note(1, event.from, block.number);
    }
    await tx.run('DELETE FROM log WHERE chain = $1 AND block = $2', [chainId, block.number]);
  }
  await insertBlocks(tx, chainId, blocks);
  await setTimes(writing, blocks);
  await insertLogs(tx, chainId, blocks);
  for (const { version, wallet, from } of wallets.values()) {
    if (version === 1) await resettle(writing, wallet, from, blocks);
  }
  await deriveWallets(writing, [...wallets.values()]);
  return { state: await rewritten(tx, before, lowest.number) };
}

/** Corrects the times of kept blocks; those are no longer a log's word. */
export async function retime(writing: Writing, epoch: number, blocks: readonly BlockRef[]): Promise<CommitResult> {
  const { tx, chainId } = writing;
  const before = await newest(tx, chainId, epoch);
  const changed = await setTimes(writing, blocks);
  if (changed === null) return { state: before };
  if (changed === before.head?.number) {
    const time = blocks.find(({ number }) => number === changed)?.timestamp ?? 0;
    await tx.run('UPDATE chain SET head_timestamp = $2 WHERE chain = $1', [chainId, time]);
  }
  return { state: await rewritten(tx, before, changed) };
}

/** Gives the lowest block whose time changed. */
async function setTimes({ tx, chainId }: Writing, blocks: readonly BlockRef[]): Promise<number | null> {
  let lowest: number | null = null;
  for (const { number, hash, timestamp } of blocks) {
    const [kept] = await tx.rows('SELECT timestamp FROM block WHERE chain = $1 AND number = $2 AND hash = $3', [
      chainId,
      number,
      bytesOf(hash),
    ]);
    if (kept === undefined) continue;
    if (numberOf(kept[0]) !== timestamp) lowest = Math.min(number, lowest ?? number);
    await tx.run('UPDATE block SET timestamp = $3, log_time = 0 WHERE chain = $1 AND number = $2', [
      chainId,
      number,
      timestamp,
    ]);
  }
  return lowest;
}

async function storedEvents({ tx, chainId }: Writing, block: number): Promise<LogInput['event'][]> {
  const rows = await tx.rows(`SELECT ${LOG} FROM log WHERE chain = $1 AND block = $2`, [chainId, block]);
  return rows.map((row) => eventOf(row, 2));
}

/** A repaired block must be one of the index, by its hash where that is kept. */
async function requirePlace(
  { tx, chainId }: Writing,
  { firstBlock, head }: ChainState,
  block: BlockInput,
): Promise<void> {
  const { number, hash } = block;
  const refuse = (why: string): never => {
    throw new StoreError('bad-batch', `Chain ${chainId}: block ${number} ${why}. Nothing was written.`);
  };
  if (number < firstBlock) refuse(`lies before the first, ${firstBlock}`);
  if (head === null || number > head.number) refuse('is not indexed');
  const [kept] = await tx.rows('SELECT hash FROM block WHERE chain = $1 AND number = $2', [chainId, number]);
  if (kept !== undefined && hexOf(kept[0]) !== hash) refuse(`is kept with another hash, ${hexOf(kept[0])}`);
}
