// Replaces the logs of stored blocks, and derives the spans of every wallet in the old and new logs.

import type { Address } from '../../registry/delegation.ts';
import type { RegistryEvent } from '../../registry/event.ts';
import { hasUnnamedRevocations, type Version } from '../../registry/versions.ts';
import { rejectWrite, type StoreErrorCode } from '../errors.ts';
import { decodeHex, encodeHex } from '../rows/cells.ts';
import { decodeLog, LOG } from '../rows/log-row.ts';
import type { BlockInput, ChainState, Repair } from '../store.ts';
import { type ChainWriter, type LockedWriter, rewriteFrom } from './chain-writer.ts';
import { type DerivedWallet, deriveWallets } from './derive.ts';
import { insertBlocks, insertLogs, setConfirmed } from './insert.ts';
import { discardSettlements } from './settle.ts';

export async function repair(writer: LockedWriter, blocks: Repair['blocks']): Promise<ChainState> {
  const { tx, chainId, before } = writer;
  const [lowest] = blocks;
  if (lowest === undefined) return before;
  const wallets = new Map<string, DerivedWallet & { readonly from: number }>();
  const addWallet = (version: Version, wallet: Address, from: number) => {
    const name = version + wallet;
    if (!wallets.has(name)) wallets.set(name, { version, wallet, from });
  };
  for (const block of blocks) {
    await requireIndexedBlock(writer, block);
    for (const event of [...(await storedEvents(writer, block.number)), ...block.logs.map(({ event }) => event)]) {
      if ('delegation' in event) addWallet(event.delegation.version, event.delegation.from, block.number);
      else addWallet(1, event.from, block.number);
    }
    await tx.run('DELETE FROM log WHERE chain = $1 AND block = $2', [chainId, block.number]);
  }
  await insertBlocks(tx, chainId, blocks);
  for (const { number, hash, replaces } of blocks) {
    if (replaces === undefined) continue;
    await tx.run('UPDATE block SET hash = $3 WHERE chain = $1 AND number = $2', [chainId, number, encodeHex(hash)]);
  }
  const confirmed = blocks.map((block) => ({ ...block, isProven: block.isProven ?? block.logs.length === 0 }));
  await setConfirmed(writer, confirmed);
  for (const { number, logs, isProven } of blocks)
    if (logs.length > 0 && !isProven)
      await tx.run('UPDATE block SET unproven = 1 WHERE chain = $1 AND number = $2', [chainId, number]);
  await insertLogs(tx, chainId, blocks);
  let changedFrom = lowest.number;
  for (const { version, wallet, from } of wallets.values()) {
    if (!hasUnnamedRevocations(version)) continue;
    changedFrom = Math.min(changedFrom, await discardSettlements(writer, wallet, from));
  }
  await dropRevocations(writer, blocks);
  await deriveWallets(writer, [...wallets.values()]);
  return await rewriteFrom(writer, changedFrom);
}

/** Deletes what waits for a revocation that its block no longer has. */
async function dropRevocations({ tx, chainId }: ChainWriter, blocks: readonly BlockInput[]): Promise<void> {
  for (const { number, logs } of blocks) {
    const vaults = logs.flatMap(({ event, revoked }) =>
      event.type === 'unknownRevoked' && !revoked ? [event.from] : [],
    );
    const rows = await tx.rows('SELECT vault FROM v1_read WHERE chain = $1 AND block = $2', [chainId, number]);
    for (const vault of rows.map(([cell]) => decodeHex(cell)).filter((one) => !vaults.includes(one))) {
      const revocation = [chainId, encodeHex(vault), number];
      await tx.run('DELETE FROM v1_read WHERE chain = $1 AND vault = $2 AND block = $3', revocation);
    }
  }
}

async function storedEvents({ tx, chainId }: ChainWriter, block: number): Promise<RegistryEvent[]> {
  const rows = await tx.rows(`SELECT ${LOG.sql} FROM log WHERE chain = $1 AND block = $2`, [chainId, block]);
  return rows.map((row) => decodeLog(row).event);
}

/** A repaired block must be inside the index, and have the stored hash if one is kept, or replace it below the head. */
async function requireIndexedBlock({ tx, chainId, before }: LockedWriter, block: Repair['blocks'][number]) {
  const { firstBlock, head } = before;
  const { number, hash, replaces = hash } = block;
  const reject = (why: string, code: StoreErrorCode = 'rewritten'): never =>
    rejectWrite(chainId, `block ${number} ${why}`, code);
  if (number < firstBlock) reject(`is before the first block, ${firstBlock}`, 'bad-commit');
  if (head === null || number > head.number) reject('is not indexed');
  if (number === head?.number && hash !== head.hash) reject('is the head');
  const [kept] = await tx.rows('SELECT hash FROM block WHERE chain = $1 AND number = $2', [chainId, number]);
  if (kept !== undefined && decodeHex(kept[0]) !== replaces)
    reject(`is stored with another hash, ${decodeHex(kept[0])}`);
}
