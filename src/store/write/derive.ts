// Derives spans from logs: of new blocks, of some wallets, or of a whole chain.

import type { Address } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import type { Dialect, Row, WriteTransaction } from '../engine.ts';
import { decodeHex, decodeNumber, encodeHex } from '../rows/cells.ts';
import { columns } from '../rows/columns.ts';
import { decodeLog, LOG, type StoredLog } from '../rows/log-row.ts';
import { spansBy } from '../rows/span-index.ts';
import { once } from '../rows/sql.ts';
import { type ChainWriter, type LockedWriter, rewriteFrom } from './chain-writer.ts';
import { loadSpans, writeSpans } from './span-rows.ts';
import { type AppliedBlock, type AppliedLog, createSpanSet, namedBy } from './span-set.ts';

/** Applies blocks to the stored spans, which are as of the block before. Memory grows with the blocks, not with wallets. */
export async function deriveBlocks(writer: ChainWriter, blocks: readonly AppliedBlock[]): Promise<void> {
  const spans = createSpanSet(await loadSpans(writer, namedBy(blocks)));
  for (const { number, logs } of blocks) for (const log of logs) spans.apply(number, log);
  await writeSpans(writer, spans.changes());
  await queueRevocations(writer, blocks);
}

export type DerivedWallet = { readonly version: Version; readonly wallet: Address };

/** Derives all spans of some wallets again from their logs, in one pass over the chain's logs. */
export async function deriveWallets(writer: ChainWriter, wallets: readonly DerivedWallet[]): Promise<void> {
  const { tx, chainId, hash } = writer;
  for (const { version, wallet } of wallets) {
    for (const index of ['open_from', 'closed_from'] as const) {
      const isOfWallet = 's.cold = $1 AND s.chain = $2 AND s.version = $3 AND s.from_addr = $4';
      const cells = [hash.cold(chainId, wallet), chainId, version, encodeHex(wallet)];
      await tx.run(`DELETE FROM ${spansBy(tx.dialect, index, 's', isOfWallet)}`, cells);
    }
  }
  const names = new Set(wallets.map(({ version, wallet }) => version + wallet));
  const isOfWallet = (row: Row) => names.has(decodeNumber(row[LOG.col.version]) + decodeHex(row[LOG.col.from_addr]));
  if (names.size > 0) await deriveLogs(writer, isOfWallet);
}

/** Derives every span of a chain again from its logs. */
export async function rebuild(writer: LockedWriter): Promise<void> {
  await writer.tx.run('DELETE FROM span WHERE chain = $1', [writer.chainId]);
  await deriveLogs(writer, () => true);
  await rewriteFrom(writer, writer.before.firstBlock);
}

async function deriveLogs(writer: ChainWriter, matches: (row: Row) => boolean): Promise<void> {
  const { tx, chainId } = writer;
  const settled = await readSettledEnds(tx, chainId);
  for await (const page of logPages(tx, chainId))
    await deriveBlocks(writer, groupByBlock(page.filter(matches).map(decodeLog), settled));
}

/** How many logs are in memory at once. */
const PAGE_LOGS = 5000;

/** A chain's logs in order, in pages of whole blocks, as rows of `LOG`: most of them are filtered before they are decoded. */
async function* logPages(tx: WriteTransaction, chainId: number): AsyncGenerator<Row[]> {
  for (let done = -1; ; ) {
    const page = await tx.rows(
      `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND block > $2 ORDER BY block, log_index LIMIT $3`,
      [chainId, done, PAGE_LOGS],
    );
    const last = page.at(-1);
    if (last === undefined) return;
    done = decodeNumber(last[LOG.col.block]);
    const rest = await tx.rows(
      `SELECT ${LOG.sql} FROM log WHERE chain = $1 AND block = $2 AND log_index > $3 ORDER BY log_index`,
      [chainId, done, decodeNumber(last[LOG.col.log_index])],
    );
    yield [...page, ...rest];
  }
}

/** The delegates that the registry's state showed to be revoked by a log, by the log's wallet and position. */
type SettledEnds = ReadonlyMap<string, readonly Address[]>;
const nameOf = (vault: string, block: number, logIndex: number) => `${vault} ${block} ${logIndex}`;

const ENDED = columns('vault', 'block', 'ended_by', 'delegate');

/** Of one wallet, or of all. */
export async function readSettledEnds(tx: WriteTransaction, chainId: number, vault?: Address): Promise<SettledEnds> {
  const rows = await tx.rows(
    `SELECT ${ENDED.sql} FROM v1_pair WHERE chain = $1 AND ended_by IS NOT NULL
      ${vault === undefined ? '' : 'AND vault = $2'}`,
    [chainId, ...(vault === undefined ? [] : [encodeHex(vault)])],
  );
  const ends = new Map<string, Address[]>();
  for (const row of rows) {
    const block = decodeNumber(row[ENDED.col.block]);
    const name = nameOf(decodeHex(row[ENDED.col.vault]), block, decodeNumber(row[ENDED.col.ended_by]));
    ends.getOrInsertComputed(name, () => []).push(decodeHex(row[ENDED.col.delegate]));
  }
  return ends;
}

/** Groups logs, which come in the order of the chain, by block. */
export function groupByBlock(logs: readonly StoredLog[], settled: SettledEnds): AppliedBlock[] {
  const blocks: { number: number; logs: AppliedLog[] }[] = [];
  for (const { block: number, logIndex, event, revoked } of logs) {
    if (blocks.at(-1)?.number !== number) blocks.push({ number, logs: [] });
    const ended = event.type === 'unknownRevoked' ? (settled.get(nameOf(event.from, number, logIndex)) ?? []) : [];
    blocks.at(-1)?.logs.push({ logIndex, event, revoked, ended });
  }
  return blocks;
}

/** A revocation of a wallet that had granted nothing before it ended nothing. The place of a v1 span is its own grant. */
const queueStatement = once((dialect: Dialect['name']) => {
  const where = `s.cold = $4 AND s.chain = $1 AND s.version = 1 AND s.from_addr = $2
    AND (s.first_block, s.first_log) < ($3, $5)`;
  const [open, closed] = (['open_from', 'closed_from'] as const).map((index) => spansBy(dialect, index, 's', where));
  return `INSERT INTO v1_read (chain, vault, block, cold, read_block) SELECT $1, $2, $3, $4, NULL
    WHERE EXISTS (SELECT 1 FROM ${open}) OR EXISTS (SELECT 1 FROM ${closed}) ON CONFLICT DO NOTHING`;
});

/** Queues v1 revocations that name no delegate until the registry's state settles them. The spans must have been written before. */
async function queueRevocations({ tx, chainId, hash }: ChainWriter, blocks: readonly AppliedBlock[]): Promise<void> {
  for (const { number, logs } of blocks) {
    for (const { event, revoked, logIndex } of logs) {
      if (event.type !== 'unknownRevoked' || revoked) continue;
      const cold = hash.cold(chainId, event.from);
      await tx.run(queueStatement(tx.dialect), [chainId, encodeHex(event.from), number, cold, logIndex]);
    }
  }
}
