// Brings spans up to date with logs, inside the writer's transaction.

import type { Address, DelegationKey } from '../registry/delegation.ts';
import type { Version } from '../registry/versions.ts';
import {
  amountCell,
  amountOf,
  bytesOf,
  DELEGATE_REVOKED,
  eventOf,
  hexOf,
  keyCells,
  keyOf,
  numberOf,
} from './encoding.ts';
import type { Param, Row, WriteTransaction } from './engine.ts';
import type { IndexHash } from './index-hash.ts';
import { endStored } from './revoke.ts';
import { type AppliedBlock, type AppliedLog, createSpanSet, namedBy, type Span, type SpanChanges } from './spans.ts';
import type { LogPosition } from './store.ts';
import { CLOSE_SPAN, INSERT_SPAN, LOAD_OPEN_KEY, LOG } from './tables.ts';

/** A writer's transaction on one chain. */
export interface Writing {
  readonly tx: WriteTransaction;
  readonly chainId: number;
  readonly short: IndexHash;
}

/** Applies blocks to the stored spans, which are as of the block before. Memory grows with the blocks, not with wallets. */
export async function deriveBlocks(writing: Writing, blocks: readonly AppliedBlock[]): Promise<void> {
  const { tx, chainId } = writing;
  const rows = await tx.each(
    LOAD_OPEN_KEY,
    [...namedBy(blocks).values()].map((key) => [chainId, ...shortCells(writing, key), key.version, ...keyCells(key)]),
  );
  const spans = createSpanSet(rows.map(storedSpan));
  for (const { number, logs } of blocks) for (const log of logs) spans.apply(number, log);
  await writeSpans(writing, spans.changes());
  await noteRevocations(writing, blocks);
}

export interface DerivedWallet {
  readonly version: Version;
  readonly wallet: Address;
}

/** Derives all spans of some wallets again from their logs, in one pass over the chain's logs. */
export async function deriveWallets(writing: Writing, wallets: readonly DerivedWallet[]): Promise<void> {
  const { tx, chainId, short } = writing;
  for (const { version, wallet } of wallets) {
    for (const half of ['open_from WHERE until_block IS NULL', 'closed_from WHERE until_block IS NOT NULL']) {
      await tx.run(
        `DELETE FROM span INDEXED BY span_${half} AND cold = $1 /*pg AND cold >= 0*/ AND chain = $2 AND version = $3 AND from_addr = $4`,
        [short.cold(chainId, wallet), chainId, version, bytesOf(wallet)],
      );
    }
  }
  const names = new Set(wallets.map(({ version, wallet }) => version + wallet));
  if (names.size > 0) await deriveLogs(writing, (row) => names.has(numberOf(row[2]) + hexOf(row[4])));
}

/** Derives every span of a chain again from its logs. */
export async function deriveChain(writing: Writing): Promise<void> {
  await writing.tx.run('DELETE FROM span WHERE chain = $1', [writing.chainId]);
  await deriveLogs(writing, () => true);
}

async function deriveLogs(writing: Writing, matches: (row: Row) => boolean): Promise<void> {
  const { tx, chainId } = writing;
  const settled = await settledEnds(tx, chainId);
  for await (const page of logPages(tx, chainId))
    await deriveBlocks(writing, groupBlocks(page.filter(matches), settled));
}

/** How many logs are in memory at once while everything is derived again. */
const REBUILD_LOGS = 5000;

/** A chain's logs in order, in pages of whole blocks. */
async function* logPages(tx: WriteTransaction, chainId: number): AsyncGenerator<Row[]> {
  for (let done = -1; ; ) {
    const page = await tx.rows(
      `SELECT ${LOG} FROM log WHERE chain = $1 AND block > $2 ORDER BY block, log_index LIMIT $3`,
      [chainId, done, REBUILD_LOGS],
    );
    const last = page.at(-1);
    if (last === undefined) return;
    done = numberOf(last[0]);
    const rest = await tx.rows(
      `SELECT ${LOG} FROM log WHERE chain = $1 AND block = $2 AND log_index > $3 ORDER BY log_index`,
      [chainId, done, numberOf(last[1])],
    );
    yield [...page, ...rest];
  }
}

/** Whom the registry's state showed to be revoked, by wallet, block and log. */
type SettledEnds = ReadonlyMap<string, readonly Address[]>;
const endName = (vault: string, block: number, logIndex: number) => `${vault} ${block} ${logIndex}`;

/** Of one wallet, or of all. */
async function settledEnds(tx: WriteTransaction, chainId: number, wallet?: Address): Promise<SettledEnds> {
  const rows = await tx.rows(
    `SELECT vault, block, ended_by, delegate FROM v1_pair WHERE chain = $1 AND ended_by IS NOT NULL
      ${wallet === undefined ? '' : 'AND vault = $2'}`,
    [chainId, ...(wallet === undefined ? [] : [bytesOf(wallet)])],
  );
  const ends = new Map<string, Address[]>();
  for (const [vault, block, endedBy, delegate] of rows) {
    const name = endName(hexOf(vault), numberOf(block), numberOf(endedBy));
    ends.set(name, [...(ends.get(name) ?? []), hexOf(delegate)]);
  }
  return ends;
}

function groupBlocks(rows: readonly Row[], settled: SettledEnds): AppliedBlock[] {
  const blocks: { number: number; logs: AppliedLog[] }[] = [];
  for (const row of rows) {
    const [number, logIndex] = [numberOf(row[0]), numberOf(row[1])];
    if (blocks.at(-1)?.number !== number) blocks.push({ number, logs: [] });
    const event = eventOf(row, 2);
    const ended = event.type === 'unknownRevoked' ? (settled.get(endName(event.from, number, logIndex)) ?? []) : [];
    blocks.at(-1)?.logs.push({ logIndex, event, revoked: row[11] === null ? null : hexOf(row[11]), ended });
  }
  return blocks;
}

const PAIR_IS =
  'cold = $1 AND hot = $2 /*pg AND key >= 0*/ AND chain /*pg + 0*/ = $3 AND version = 1 AND from_addr = $4 AND to_addr = $5';

/**
 * Everything from a v1 wallet to a delegate ended with a log: what began before ends there, and what was granted after it
 * began anew, even where it counted as granted again.
 */
export async function endPair(writing: Writing, from: Address, to: Address, at: LogPosition): Promise<void> {
  const { tx, chainId, short } = writing;
  const pair = [short.cold(chainId, from), short.hot(chainId, to), chainId, bytesOf(from), bytesOf(to)];
  const place = [...pair, at.block, at.logIndex];
  for (const half of [
    'open_pair SET until_block = $6 WHERE until_block IS NULL',
    'closed_pair SET until_block = $6 WHERE until_block > $6',
  ]) {
    await tx.run(
      `UPDATE span INDEXED BY span_${half} AND ${PAIR_IS} AND (since_block /*pg + 0*/, since_log) < ($6, $7)`,
      place,
    );
  }
  await tx.run(
    `DELETE FROM span INDEXED BY span_closed_pair WHERE until_block = $6 AND since_block = $6 AND ${PAIR_IS}`,
    [...pair, at.block],
  );
  const rows = await tx.rows(
    `SELECT ${LOG} FROM log WHERE chain = $1 AND (block, log_index) > ($2, $3) AND version = 1 AND from_addr = $4
      ORDER BY block, log_index`,
    [chainId, at.block, at.logIndex, bytesOf(from)],
  );
  if (rows.length === 0) return;
  for (const half of ['open_pair WHERE until_block IS NULL', 'closed_pair WHERE until_block IS NOT NULL']) {
    await tx.run(
      `DELETE FROM span INDEXED BY span_${half} AND ${PAIR_IS} AND (since_block /*pg + 0*/, since_log) > ($6, $7)`,
      place,
    );
  }
  // What concerns this pair alone, or the whole wallet: of that, all else has been applied already.
  const blocks = groupBlocks(rows, await settledEnds(tx, chainId, from)).map(({ number, logs }) => ({
    number,
    logs: logs.flatMap((log) => ofPair(log, from, to)),
  }));
  const spans = createSpanSet([]);
  for (const { number, logs } of blocks) for (const log of logs) spans.apply(number, log);
  const { opened } = spans.changes();
  await writeSpans(writing, { opened, closed: [], ends: [] });
}

function ofPair(log: AppliedLog, from: Address, to: Address): AppliedLog[] {
  const { event, revoked, ended = [], logIndex } = log;
  if ('delegation' in event) return event.delegation.to === to ? [log] : [];
  if (event.type === 'vaultRevoked') return [log];
  const revokes = event.type === 'delegateRevoked' ? event.to === to : revoked === to || ended.includes(to);
  return revokes ? [{ logIndex, event: { type: 'delegateRevoked', from, to } }] : [];
}

/**
 * A revocation that names no delegate waits for the registry's state, unless the wallet had granted nothing before it. Stands
 * behind the spans of its own block.
 */
async function noteRevocations({ tx, chainId, short }: Writing, blocks: readonly AppliedBlock[]): Promise<void> {
  for (const { number, logs } of blocks) {
    for (const { event, revoked, logIndex } of logs) {
      if (event.type !== 'unknownRevoked' || revoked) continue;
      const { from } = event;
      const earlier = (
        half: 'open' | 'closed',
        until: string,
      ) => `EXISTS (SELECT 1 FROM span INDEXED BY span_${half}_from
        WHERE cold = $4 /*pg AND cold >= 0*/ AND chain = $1 AND version = 1 AND from_addr = $2 AND until_block ${until}
          AND (since_block, since_log) < ($3, $5))`;
      await tx.run(
        `INSERT INTO v1_read (chain, vault, block, cold, read_block) SELECT $1, $2, $3, $4, NULL
          WHERE ${earlier('open', 'IS NULL')} OR ${earlier('closed', 'IS NOT NULL')} ON CONFLICT DO NOTHING`,
        [chainId, bytesOf(from), number, short.cold(chainId, from), logIndex],
      );
    }
  }
}

/** The v1 revocations of one wallet in one block that name no delegate. $1 chain, $2 vault */
export const REVOCATION_LOGS = `SELECT block, log_index FROM log
  WHERE chain = $1 AND version = 1 AND kind = ${DELEGATE_REVOKED} AND from_addr = $2 AND to_addr = $2 AND revoked IS NULL`;

function storedSpan(row: Row): Span {
  const version = Number(row[2]) as Version;
  return {
    delegation: { ...keyOf(version, row, 3), amount: amountOf(row[9]) },
    since: { block: numberOf(row[0]), logIndex: numberOf(row[1]) },
    until: null,
    stored: true,
  };
}

async function writeSpans(writing: Writing, { opened, closed, ends }: SpanChanges): Promise<void> {
  const { tx, chainId } = writing;
  await endStored(writing, ends);
  await tx.each(
    CLOSE_SPAN,
    closed.map(({ since, until }) => [chainId, since.block, since.logIndex, until]),
  );
  await tx.each(
    INSERT_SPAN,
    opened.map(({ delegation, since, until }): Param[] => [
      chainId,
      ...shortCells(writing, delegation),
      since.block,
      since.logIndex,
      delegation.version,
      ...keyCells(delegation),
      amountCell(delegation),
      until,
    ]),
  );
}

/** cold, hot, key */
const shortCells = ({ short, chainId }: Writing, key: DelegationKey) =>
  [short.cold(chainId, key.from), short.hot(chainId, key.to), short.key(key)] as const;
