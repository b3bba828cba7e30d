// Settles v1 revocations that name no delegate: records, pair by pair, what the registry's state showed, or discards it.

import type { Address } from '../../registry/delegation.ts';
import type { Param } from '../engine.ts';
import { rejectWrite, StoreError } from '../errors.ts';
import { decodeHex, decodeNumberOrNull, encodeHex } from '../rows/cells.ts';
import { REVOCATION_LOGS } from '../rows/log-row.ts';
import { insertInto } from '../rows/sql.ts';
import type { BlockInput, ChainState, Settlement } from '../store.ts';
import { type ChainWriter, type LockedWriter, rewriteFrom } from './chain-writer.ts';
import { deriveWallets } from './derive.ts';
import { endPair } from './end-pair.ts';
import type { AppliedLog } from './span-set.ts';

/** The logs of a new block, with the delegates that its settlements say they ended. */
export function addSettledEnds({ logs, settlements = [] }: BlockInput): readonly AppliedLog[] {
  if (settlements.length === 0) return logs;
  return logs.map((log) => {
    const { event, logIndex } = log;
    if (event.type !== 'unknownRevoked') return log;
    const own = settlements.filter(({ vault }) => vault === event.from).flatMap(({ pairs }) => pairs);
    return { ...log, ended: own.filter(({ endedBy }) => endedBy === logIndex).map(({ delegate }) => delegate) };
  });
}

const INSERT_PAIR = insertInto(
  'v1_pair',
  { chain: 'bigint', vault: 'bytea', block: 'bigint', delegate: 'bytea', ended_by: 'bigint', read_block: 'bigint' },
  'ON CONFLICT (chain, vault, block, delegate) DO UPDATE SET ended_by = excluded.ended_by, read_block = excluded.read_block',
);

/** Records settlements whose ends the spans have already. */
export async function recordSettlements({ tx, chainId }: ChainWriter, settlements: readonly Settlement[]) {
  for (const { vault, block, readAt, pairs, complete } of settlements) {
    const bytes = encodeHex(vault);
    // A delegate that was revoked twice is recorded with the later log.
    const last = new Map(pairs.map((pair) => [pair.delegate, pair]));
    const rows: Param[][] = [];
    for (const { delegate, endedBy, knownFrom = readAt } of last.values())
      rows.push([chainId, bytes, block.number, encodeHex(delegate), endedBy, knownFrom]);
    await tx.each(INSERT_PAIR, rows);
    if (!complete) continue;
    const revocation = [chainId, bytes, block.number, readAt];
    // A complete settlement says the same of every delegate without a row.
    await tx.run(
      'DELETE FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3 AND ended_by IS NULL AND read_block >= $4',
      revocation,
    );
    await tx.run('UPDATE v1_read SET read_block = $4 WHERE chain = $1 AND vault = $2 AND block = $3', revocation);
  }
}

export async function settle(writer: LockedWriter, settlements: readonly Settlement[], commits: number | undefined) {
  const { chainId, before } = writer;
  // This commit is counted already.
  if (commits !== undefined && before.commits !== commits + 1)
    throw new StoreError('rewritten', `Chain ${chainId}: something was written since the state was read.`);
  let changedFrom: number | null = null;
  for (const { vault, block, pairs } of settlements) {
    await requireRevocation(writer, vault, block);
    for (const { delegate, endedBy } of pairs) {
      if (endedBy === null) continue;
      await endPair(writer, vault, delegate, { block: block.number, logIndex: endedBy });
      changedFrom = Math.min(block.number, changedFrom ?? block.number);
    }
  }
  await recordSettlements(writer, settlements);
  return changedFrom === null ? before : await rewriteFrom(writer, changedFrom);
}

const FIND_REVOCATION = `SELECT 1 ${REVOCATION_LOGS} AND block = $3 LIMIT 1`;

async function requireRevocation({ tx, chainId }: ChainWriter, vault: Address, block: Settlement['block']) {
  const { number, hash } = block;
  const [kept] = await tx.rows('SELECT hash FROM block WHERE chain = $1 AND number = $2', [chainId, number]);
  const found = await tx.rows(FIND_REVOCATION, [chainId, encodeHex(vault), number]);
  if (kept === undefined || decodeHex(kept[0]) !== hash || found.length === 0)
    rejectWrite(chainId, `block ${number} (${hash}) has no revocation of ${vault} to settle`, 'rewritten');
}

/** Discards what was recorded about a wallet's v1 revocations, so that the registry's state is read again. */
export async function unsettle(writer: LockedWriter, vault: Address, from: number): Promise<ChainState> {
  const lowest = await discardSettlements(writer, vault, from);
  await deriveWallets(writer, [{ version: 1, wallet: vault }]);
  return await rewriteFrom(writer, lowest);
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
