// Derives spans from logs: of new blocks, of some wallets, or of a whole chain.

import type { Address } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import type { Row } from '../engine.ts';
import { decodeHex, decodeNumber, encodeHex } from '../rows/cells.ts';
import { decodeLog, LOG } from '../rows/log-row.ts';
import type { ChainWriter } from './chain-writer.ts';
import { logPages } from './log-pages.ts';
import { queueRevocations } from './queue-revocations.ts';
import { groupByBlock, readSettledEnds } from './settled-ends.ts';
import { loadSpans, writeSpans } from './span-rows.ts';
import { type AppliedBlock, createSpanSet, namedBy } from './span-set.ts';

/** Applies blocks to the stored spans, which are as of the block before. Memory grows with the blocks, not with wallets. */
export async function deriveBlocks(writer: ChainWriter, blocks: readonly AppliedBlock[]): Promise<void> {
  const spans = createSpanSet(await loadSpans(writer, namedBy(blocks)));
  for (const { number, logs } of blocks) for (const log of logs) spans.apply(number, log);
  await writeSpans(writer, spans.changes());
  await queueRevocations(writer, blocks);
}

export interface DerivedWallet {
  readonly version: Version;
  readonly wallet: Address;
}

/** Derives all spans of some wallets again from their logs, in one pass over the chain's logs. */
export async function deriveWallets(writer: ChainWriter, wallets: readonly DerivedWallet[]): Promise<void> {
  const { tx, chainId, hash } = writer;
  for (const { version, wallet } of wallets) {
    for (const half of ['open_from WHERE until_block IS NULL', 'closed_from WHERE until_block IS NOT NULL']) {
      await tx.run(
        `DELETE FROM span INDEXED BY span_${half} AND cold = $1 /*pg AND cold >= 0*/ AND chain = $2 AND version = $3 AND from_addr = $4`,
        [hash.cold(chainId, wallet), chainId, version, encodeHex(wallet)],
      );
    }
  }
  const names = new Set(wallets.map(({ version, wallet }) => version + wallet));
  const isOfWallet = (row: Row) => names.has(decodeNumber(row[LOG.at.version]) + decodeHex(row[LOG.at.from_addr]));
  if (names.size > 0) await deriveLogs(writer, isOfWallet);
}

/** Derives every span of a chain again from its logs. */
export async function deriveChain(writer: ChainWriter): Promise<void> {
  await writer.tx.run('DELETE FROM span WHERE chain = $1', [writer.chainId]);
  await deriveLogs(writer, () => true);
}

async function deriveLogs(writer: ChainWriter, matches: (row: Row) => boolean): Promise<void> {
  const { tx, chainId } = writer;
  const settled = await readSettledEnds(tx, chainId);
  for await (const page of logPages(tx, chainId))
    await deriveBlocks(writer, groupByBlock(page.filter(matches).map(decodeLog), settled));
}
