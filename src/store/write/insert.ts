// Inserts blocks and their logs, and confirms stored blocks.

import type { WriteTransaction } from '../engine.ts';
import { decodeNumber, encodeHex } from '../rows/cells.ts';
import { encodeEvent, LOG_TYPES } from '../rows/log-row.ts';
import { insertInto } from '../rows/sql.ts';
import type { BlockInput, BlockRef, ChainState, ConfirmedBlock } from '../store.ts';
import { type ChainWriter, type LockedWriter, rewriteFrom } from './chain-writer.ts';

const INSERT_BLOCK = insertInto(
  'block',
  { chain: 'bigint', number: 'bigint', hash: 'bytea', timestamp: 'bigint', log_time: 'smallint', unproven: 'smallint' },
  'ON CONFLICT DO NOTHING',
);

export async function insertBlocks(
  tx: WriteTransaction,
  chainId: number,
  blocks: readonly (BlockRef & Partial<BlockInput>)[],
): Promise<void> {
  await tx.each(
    INSERT_BLOCK,
    blocks.map(({ number, hash, timestamp, timeFrom, isProven, logs = [] }) => [
      chainId,
      number,
      encodeHex(hash),
      timestamp,
      timeFrom === 'log' ? 1 : 0,
      logs.length > 0 && !isProven ? 1 : 0,
    ]),
  );
}

const INSERT_LOG = insertInto('log', { chain: 'bigint', ...LOG_TYPES });

export async function insertLogs(tx: WriteTransaction, chainId: number, blocks: readonly BlockInput[]): Promise<void> {
  await tx.each(
    INSERT_LOG,
    blocks.flatMap(({ number, logs }) =>
      logs.map(({ logIndex, event, transactionHash, revoked }) => [
        chainId,
        number,
        logIndex,
        ...encodeEvent(event),
        encodeHex(transactionHash),
        revoked ? encodeHex(revoked) : null,
      ]),
    ),
  );
}

/** Sets the times of blocks from their headers, and marks those whose logs their hash is known to commit to. */
export async function confirm(writer: LockedWriter, blocks: readonly ConfirmedBlock[]): Promise<ChainState> {
  const { before } = writer;
  const changed = await setConfirmed(writer, blocks);
  if (changed === null) return before;
  const head = before.head && { ...before.head, ...blocks.find(({ hash }) => hash === before.head?.hash) };
  return rewriteFrom({ ...writer, before: { ...before, head } }, changed);
}

/** Gives the lowest block whose time changed. */
export async function setConfirmed({ tx, chainId }: ChainWriter, blocks: readonly ConfirmedBlock[]) {
  let lowest: number | null = null;
  for (const { number, hash, timestamp, isProven } of blocks) {
    const found = 'SELECT timestamp FROM block WHERE chain = $1 AND number = $2 AND hash = $3';
    const [kept] = await tx.rows(found, [chainId, number, encodeHex(hash)]);
    if (kept === undefined) continue;
    if (decodeNumber(kept[0]) !== timestamp) lowest = Math.min(number, lowest ?? number);
    await tx.run(
      `UPDATE block SET timestamp = $3, log_time = 0${isProven ? ', unproven = 0' : ''} WHERE chain = $1 AND number = $2`,
      [chainId, number, timestamp],
    );
  }
  return lowest;
}
