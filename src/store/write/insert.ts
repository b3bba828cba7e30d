// Inserts blocks and their logs.

import type { WriteTransaction } from '../engine.ts';
import { encodeHex } from '../rows/cells.ts';
import { encodeEvent, LOG_TYPES } from '../rows/log-row.ts';
import { insertInto } from '../rows/sql.ts';
import type { BlockInput, BlockRef } from '../store.ts';

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
