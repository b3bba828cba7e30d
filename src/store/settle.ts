// v1 revocations that name no delegate: what the registry's state told about them, by pair.

import type { Address } from '../registry/delegation.ts';
import { newest, rewritten } from './commit.ts';
import { deriveWallets, endPair, REVOCATION_LOGS, type Writing } from './derive.ts';
import { bytesOf, hexOf, numberOf, numberOrNull } from './encoding.ts';
import { StoreError } from './errors.ts';
import type { AppliedLog } from './spans.ts';
import type { BlockInput, CommitResult, Settlement } from './store.ts';
import { INSERT_PAIR } from './tables.ts';

/** A new block's logs with whom its settlements say they ended. */
export function endsOf({ logs, settlements = [] }: BlockInput): readonly AppliedLog[] {
  if (settlements.length === 0) return logs;
  return logs.map((log) => {
    const { event, logIndex } = log;
    if (event.type !== 'unknownRevoked') return log;
    const own = settlements.filter(({ vault }) => vault === event.from).flatMap(({ pairs }) => pairs);
    return { ...log, ended: own.filter(({ endedBy }) => endedBy === logIndex).map(({ delegate }) => delegate) };
  });
}

/** Notes settlements whose ends the spans have already. */
export async function noteSettlements({ tx, chainId }: Writing, settlements: readonly Settlement[]): Promise<void> {
  for (const { vault, block, readAt, pairs, complete } of settlements) {
    const bytes = bytesOf(vault);
    // Of a complete one, those that were not revoked need no mention; of one that was revoked twice, the later log counts.
    const last = new Map(pairs.map(({ delegate, endedBy }) => [delegate, endedBy]));
    await tx.each(
      INSERT_PAIR,
      [...last]
        .filter(([, endedBy]) => !complete || endedBy !== null)
        .map(([delegate, endedBy]) => [chainId, bytes, block.number, bytesOf(delegate), endedBy, readAt]),
    );
    if (!complete) continue;
    const revocation = [chainId, bytes, block.number];
    await tx.run('DELETE FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3 AND ended_by IS NULL', revocation);
    await tx.run('UPDATE v1_read SET read_block = $4 WHERE chain = $1 AND vault = $2 AND block = $3', [
      ...revocation,
      readAt,
    ]);
  }
}

export async function settle(
  writing: Writing,
  epoch: number,
  settlements: readonly Settlement[],
): Promise<CommitResult> {
  const { tx, chainId } = writing;
  const before = await newest(tx, chainId, epoch);
  let rewrittenFrom: number | null = null;
  for (const { vault, block, pairs } of settlements) {
    await requireRevocation(writing, vault, block);
    for (const { delegate, endedBy } of pairs) {
      if (endedBy === null) continue;
      await endPair(writing, vault, delegate, { block: block.number, logIndex: endedBy });
      rewrittenFrom = Math.min(block.number, rewrittenFrom ?? block.number);
    }
  }
  await noteSettlements(writing, settlements);
  return { state: rewrittenFrom === null ? before : await rewritten(tx, before, rewrittenFrom) };
}

async function requireRevocation(
  { tx, chainId }: Writing,
  vault: Address,
  { number, hash }: Settlement['block'],
): Promise<void> {
  const [kept] = await tx.rows('SELECT hash FROM block WHERE chain = $1 AND number = $2', [chainId, number]);
  const found = await tx.rows(`${REVOCATION_LOGS} AND block = $3 LIMIT 1`, [chainId, bytesOf(vault), number]);
  if (kept !== undefined && hexOf(kept[0]) === hash && found.length > 0) return;
  const why = `block ${number} (${hash}) has no revocation of ${vault} to settle. Nothing was written.`;
  throw new StoreError('bad-batch', `Chain ${chainId}: ${why}`);
}

/**
 * Everything about a wallet's revocations from a block on is asked again. So is what the state of a later block told about
 * earlier ones: it could not tell them from those that are asked again.
 */
export async function unsettle(writing: Writing, epoch: number, vault: Address, from: number): Promise<CommitResult> {
  const { tx, chainId } = writing;
  const before = await newest(tx, chainId, epoch);
  const params = [chainId, bytesOf(vault), from];
  const affected = 'chain = $1 AND vault = $2 AND (block >= $3 OR read_block >= $3)';
  const [row] = await tx.rows(`SELECT min(block) FROM v1_read WHERE ${affected}`, params);
  await tx.run(`DELETE FROM v1_pair WHERE ${affected}`, params);
  await tx.run(`UPDATE v1_read SET read_block = NULL WHERE ${affected}`, params);
  await deriveWallets(writing, [{ version: 1, wallet: vault }]);
  return { state: await rewritten(tx, before, Math.min(from, numberOrNull(row?.[0] ?? null) ?? from)) };
}

/**
 * The logs of a wallet were replaced from a block on. What the state of a revocation's own block told stays true; what a later
 * state told depended on the logs. A revocation that is not explained is asked about again, for there may be new delegates.
 */
export async function resettle(
  { tx, chainId }: Writing,
  vault: Address,
  from: number,
  replaced: readonly BlockInput[],
): Promise<void> {
  const params = [chainId, bytesOf(vault), from];
  // The logs of a replaced block may be numbered otherwise.
  for (const { number } of replaced) {
    await tx.run('DELETE FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3', [
      chainId,
      bytesOf(vault),
      number,
    ]);
  }
  await tx.run(
    'DELETE FROM v1_pair WHERE chain = $1 AND vault = $2 AND read_block >= $3 AND read_block > block',
    params,
  );
  const logs = new Map<number, number>();
  for (const [block] of await tx.rows(`${REVOCATION_LOGS} AND block >= $3`, params)) {
    logs.set(numberOf(block), (logs.get(numberOf(block)) ?? 0) + 1);
  }
  const reads = await tx.rows(
    'SELECT block FROM v1_read WHERE chain = $1 AND vault = $2 AND (block >= $3 OR read_block >= $3)',
    params,
  );
  for (const [cell] of reads) {
    const block = numberOf(cell);
    const [row] = await tx.rows(
      `SELECT count(DISTINCT ended_by) FROM v1_pair WHERE chain = $1 AND vault = $2 AND block = $3
        AND ended_by IS NOT NULL`,
      [chainId, bytesOf(vault), block],
    );
    const one = [chainId, bytesOf(vault), block];
    const revocations = logs.get(block) ?? (block < from ? null : 0);
    if (revocations === 0) {
      await tx.run('DELETE FROM v1_read WHERE chain = $1 AND vault = $2 AND block = $3', one);
    } else if (revocations === null || numberOf(row?.[0]) < revocations) {
      await tx.run('UPDATE v1_read SET read_block = NULL WHERE chain = $1 AND vault = $2 AND block = $3', one);
    }
  }
}
