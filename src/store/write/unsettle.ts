// Discards what was recorded about a wallet's v1 revocations, so that the registry's state is read again.

import type { Address } from '../../registry/delegation.ts';
import { decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import type { CommitResult } from '../store.ts';
import type { ChainWriter } from './chain-writer.ts';
import { deriveWallets } from './derive.ts';
import { lockChain } from './lock-chain.ts';
import { rewriteFrom } from './rewrite.ts';

export async function unsettle(
  writer: ChainWriter,
  epoch: number,
  vault: Address,
  from: number,
): Promise<CommitResult> {
  const before = await lockChain(writer.tx, writer.chainId, epoch);
  const lowest = await discardSettlements(writer, vault, from);
  await deriveWallets(writer, [{ version: 1, wallet: vault }]);
  return { state: await rewriteFrom(writer.tx, before, lowest) };
}

/**
 * Discards everything about the wallet's revocations from a block on. Earlier ones that were settled by a later state go too: that
 * state could not tell them from the discarded ones. Gives the lowest block whose changes may differ. The wallet's spans must be
 * derived again.
 */
export async function discardSettlements({ tx, chainId }: ChainWriter, vault: Address, from: number): Promise<number> {
  const params = [chainId, encodeHex(vault), from];
  const affected = 'chain = $1 AND vault = $2 AND (block >= $3 OR read_block >= $3)';
  const [row] = await tx.rows(
    `SELECT min(d.block) FROM (SELECT block FROM v1_read WHERE ${affected}
      UNION ALL SELECT block FROM v1_pair WHERE ${affected}) AS d`,
    params,
  );
  await tx.run(`DELETE FROM v1_pair WHERE ${affected}`, params);
  await tx.run(`UPDATE v1_read SET read_block = NULL WHERE ${affected}`, params);
  return Math.min(from, decodeNumberOrNull(row?.[0] ?? null) ?? from);
}
