// Derives every span of a chain again from its logs.

import { StoreError } from '../errors.ts';
import { CHAIN, decodeChain } from '../rows/chain-row.ts';
import { drawStamp } from '../stamp.ts';
import type { ChainWriter } from './chain-writer.ts';
import { deriveChain } from './derive.ts';
import { rewriteFrom } from './rewrite.ts';

export async function rebuild(writer: ChainWriter): Promise<void> {
  const { tx, chainId } = writer;
  const [row] = await tx.rows(
    `UPDATE chain SET commits = commits + 1, stamp = $2 WHERE chain = $1 RETURNING ${CHAIN.sql}`,
    [chainId, drawStamp()],
  );
  if (row === undefined) throw new StoreError('not-started', `Chain ${chainId} is not in this store.`);
  const state = decodeChain(row);
  await deriveChain(writer);
  await rewriteFrom(tx, state, state.firstBlock);
}
