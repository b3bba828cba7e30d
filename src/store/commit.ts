// What changes of the store are made of.

import { CHAIN_COLUMNS, chainStateOf } from './chain-state.ts';
import { bytesOf, eventCells } from './encoding.ts';
import type { WriteTransaction } from './engine.ts';
import { StoreError } from './errors.ts';
import { drawStamp, stampRevision } from './stamp.ts';
import type { BlockInput, BlockRef, ChainState } from './store.ts';
import { INSERT_BLOCK, INSERT_LOG } from './tables.ts';

/** Lets only the newest writer through, and holds the chain's row until the commit. */
export async function newest(tx: WriteTransaction, chainId: number, epoch: number): Promise<ChainState> {
  const [row] = await tx.rows(
    `UPDATE chain SET commits = commits + 1, stamp = $3 WHERE chain = $1 AND epoch = $2
      RETURNING ${CHAIN_COLUMNS.join()}`,
    [chainId, epoch, drawStamp()],
  );
  if (row !== undefined) return chainStateOf(row);
  const [chain] = await tx.rows('SELECT 1 FROM chain WHERE chain = $1', [chainId]);
  if (chain === undefined) throw new StoreError('not-started', `Chain ${chainId} was never claimed.`);
  throw new StoreError('overtaken', `Chain ${chainId}: epoch ${epoch} is over, another writer has taken the chain.`);
}

export async function insertBlocks(
  tx: WriteTransaction,
  chainId: number,
  blocks: readonly (BlockRef & Pick<BlockInput, 'timeFrom'>)[],
): Promise<void> {
  await tx.each(
    INSERT_BLOCK,
    blocks.map(({ number, hash, timestamp, timeFrom }) => [
      chainId,
      number,
      bytesOf(hash),
      timestamp,
      timeFrom === 'log' ? 1 : 0,
    ]),
  );
}

export async function insertLogs(tx: WriteTransaction, chainId: number, blocks: readonly BlockInput[]): Promise<void> {
  await tx.each(
    INSERT_LOG,
    blocks.flatMap(({ number, logs }) =>
      logs.map(({ logIndex, event, transactionHash, revoked }) => [
        chainId,
        number,
        logIndex,
        ...eventCells(event),
        bytesOf(transactionHash),
        revoked ? bytesOf(revoked) : null,
      ]),
    ),
  );
}

/** From the first block on, answers as of this revision may differ from those before. */
export async function recordRewrite(tx: WriteTransaction, before: ChainState, from: number): Promise<void> {
  await tx.run('INSERT INTO rewrite (chain, revision, from_block) VALUES ($1, $2, $3)', [
    before.chainId,
    before.revision + 1,
    from,
  ]);
}

/** A change of what is stored already: everybody who holds an answer from that block on must ask again. */
export async function rewritten(tx: WriteTransaction, before: ChainState, from: number): Promise<ChainState> {
  await recordRewrite(tx, before, from);
  const revision = before.revision + 1;
  await stampRevision(tx, before.chainId, revision);
  await tx.run('UPDATE chain SET revision = $2 WHERE chain = $1', [before.chainId, revision]);
  return { ...before, revision };
}
