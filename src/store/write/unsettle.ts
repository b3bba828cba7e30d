// Discards what was recorded about a wallet's v1 revocations, so that the registry's state is read again.

import type { Address } from '../../registry/delegation.ts';
import type { Row } from '../engine.ts';
import { decodeNumber, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { REVOCATION_LOGS } from '../rows/revocation-logs.ts';
import type { BlockInput, CommitResult } from '../store.ts';
import type { ChainWriter } from './chain-writer.ts';
import { deriveWallets } from './derive.ts';
import { lockChain } from './lock-chain.ts';
import { rewriteFrom } from './rewrite.ts';

/**
 * Discards everything about the wallet's revocations from a block on. Earlier ones that were settled by a later state go too:
 * that state could not tell them from the discarded ones.
 */
export async function unsettle(
  writer: ChainWriter,
  epoch: number,
  vault: Address,
  from: number,
): Promise<CommitResult> {
  const { tx, chainId } = writer;
  const before = await lockChain(tx, chainId, epoch);
  const params = [chainId, encodeHex(vault), from];
  const affected = 'chain = $1 AND vault = $2 AND (block >= $3 OR read_block >= $3)';
  const [row] = await tx.rows(
    `SELECT min(d.block) FROM (SELECT block FROM v1_read WHERE ${affected}
      UNION ALL SELECT block FROM v1_pair WHERE ${affected}) AS d`,
    params,
  );
  await tx.run(`DELETE FROM v1_pair WHERE ${affected}`, params);
  await tx.run(`UPDATE v1_read SET read_block = NULL WHERE ${affected}`, params);
  await deriveWallets(writer, [{ version: 1, wallet: vault }]);
  return { state: await rewriteFrom(tx, before, lower(from, row)) };
}

/**
 * The logs of a wallet were replaced from a block on. What the state of a revocation's own block showed stays true. What a later
 * state showed depended on the logs and is discarded. A revocation with unexplained logs is queued again, because there may be
 * new delegates. Gives the lowest block whose changes may differ.
 */
export async function unsettleReplaced(
  { tx, chainId }: ChainWriter,
  vault: Address,
  from: number,
  replaced: readonly BlockInput[],
): Promise<number> {
  const bytes = encodeHex(vault);
  const params = [chainId, bytes, from];
  // The logs of a replaced block may have other indexes.
  for (const { number } of replaced)
    await tx.run('DELETE FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3', [chainId, bytes, number]);
  const isLater = 'chain = $1 AND vault = $2 AND read_block >= $3 AND read_block > block';
  const [row] = await tx.rows(`SELECT min(block) FROM v1_pair WHERE ${isLater}`, params);
  await tx.run(`DELETE FROM v1_pair WHERE ${isLater}`, params);
  const logs = new Map<number, number>();
  for (const [cell] of await tx.rows(`SELECT block ${REVOCATION_LOGS} AND block >= $3`, params)) {
    const block = decodeNumber(cell);
    logs.set(block, (logs.get(block) ?? 0) + 1);
  }
  const reads = await tx.rows(
    'SELECT block FROM v1_read WHERE chain = $1 AND vault = $2 AND (block >= $3 OR read_block >= $3)',
    params,
  );
  for (const [cell] of reads) {
    const block = decodeNumber(cell);
    const revocation = [chainId, bytes, block];
    const [[explained] = []] = await tx.rows(
      `SELECT count(DISTINCT ended_by) FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3
        AND ended_by IS NOT NULL`,
      revocation,
    );
    const count = logs.get(block) ?? (block < from ? null : 0);
    if (count === 0) {
      await tx.run('DELETE FROM v1_read WHERE chain = $1 AND vault = $2 AND block = $3', revocation);
    } else if (count === null || decodeNumber(explained) < count) {
      await tx.run('UPDATE v1_read SET read_block = NULL WHERE chain = $1 AND vault = $2 AND block = $3', revocation);
    }
  }
  return lower(from, row);
}

const lower = (block: number, row: Row | undefined) => Math.min(block, decodeNumberOrNull(row?.[0] ?? null) ?? block);
