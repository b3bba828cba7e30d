// Everything that changes the store. Each change is one transaction, and only the newest writer's goes through.

import type { Address, Version } from '../registry/delegation.ts';
import { checkBatch, checkClaim, checkRepair } from './batch.ts';
import { CHAIN_COLUMNS, chainStateOf } from './chain-state.ts';
import { type DerivedWallet, deriveBlocks, deriveChain, deriveWallets, toDerive, type Writing } from './derive.ts';
import { bytesOf, DELEGATE_REVOKED, eventCells, hexOf, numberOf } from './encoding.ts';
import type { Engine, Transaction } from './engine.ts';
import { StoreError } from './errors.ts';
import type { Shortener } from './short.ts';
import { drawStamp, stampRevision } from './stamp.ts';
import type {
  Batch,
  BlockInput,
  BlockRef,
  ChainState,
  CommitResult,
  Repair,
  Report,
  Store,
  VaultState,
} from './store.ts';
import { INSERT_BLOCK, INSERT_LOG } from './tables.ts';

type Writes = Pick<Store, 'claim' | 'apply' | 'report' | 'repair' | 'rebuild' | 'lease' | 'release'>;

export function createWrites(engine: Engine, short: Shortener): Writes {
  return {
    claim: async (chainId, firstBlock) => {
      checkClaim(chainId, firstBlock);
      return engine.transaction((tx) => claim(tx, chainId, firstBlock));
    },
    apply: async (batch) => {
      checkBatch(batch);
      return engine.transaction((tx) => apply({ tx, chainId: batch.chainId, short }, batch));
    },
    report: (chainId, epoch, report) => engine.transaction((tx) => note(tx, chainId, epoch, report)),
    repair: async (missing) => {
      checkRepair(missing);
      return engine.transaction((tx) => repair({ tx, chainId: missing.chainId, short }, missing));
    },
    lease: (chainId, holder, forMs) => {
      const work = async (tx: Transaction) => {
        const { clock } = engine.dialect;
        await tx.run(
          `INSERT INTO lease (chain, holder, expires_at) VALUES ($1, $2, ${clock} + $3)
            ON CONFLICT (chain) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
            WHERE lease.holder = excluded.holder OR lease.expires_at <= ${clock}`,
          [chainId, holder, forMs],
        );
        const [row] = await tx.rows('SELECT holder FROM lease WHERE chain = $1', [chainId]);
        return String(row?.[0]);
      };
      return engine.transaction(work, 'brisk');
    },
    release: (chainId, holder) => {
      const work = async (tx: Transaction) => {
        await tx.run('DELETE FROM lease WHERE chain = $1 AND holder = $2', [chainId, holder]);
      };
      return engine.transaction(work, 'brisk');
    },
    rebuild: (chainId) => {
      const work = async (tx: Transaction) => {
        const rows = await tx.rows(
          `UPDATE chain SET commits = commits + 1, stamp = $2 WHERE chain = $1 RETURNING ${CHAIN_COLUMNS.join()}`,
          [chainId, drawStamp()],
        );
        const [state] = rows.map(chainStateOf);
        if (state === undefined) throw new StoreError('not-started', `Chain ${chainId} is not in this store.`);
        await deriveChain({ tx, chainId, short });
        await recordRewrite(tx, state, state.firstBlock);
        await stampRevision(tx, chainId, state.revision + 1);
        await tx.run('UPDATE chain SET revision = revision + 1 WHERE chain = $1', [chainId]);
      };
      return engine.transaction(work, 'patient');
    },
  };
}

async function claim(tx: Transaction, chainId: number, firstBlock: number): Promise<ChainState> {
  const [row] = await tx.rows(
    `INSERT INTO chain (chain, epoch, first_block, revision, commits, stamp) VALUES ($1, 1, $2, 0, 0, $3)
      ON CONFLICT (chain) DO UPDATE SET epoch = chain.epoch + 1, commits = chain.commits + 1, stamp = excluded.stamp
      RETURNING ${CHAIN_COLUMNS.join()}`,
    [chainId, firstBlock, drawStamp()],
  );
  const state = chainStateOf(row ?? []);
  if (state.epoch === 1) await stampRevision(tx, chainId, state.revision);
  return state;
}

async function note(tx: Transaction, chainId: number, epoch: number, report: Report): Promise<ChainState> {
  const before = await newest(tx, chainId, epoch);
  const { confirmedAt, tip, shut, partial } = { ...before, ...report };
  await tx.run('UPDATE chain SET confirmed_at = $2, tip = $3, shut = $4, partial = $5 WHERE chain = $1', [
    chainId,
    confirmedAt,
    tip,
    shut,
    partial ? 1 : 0,
  ]);
  return { ...before, confirmedAt, tip, shut, partial };
}

/** Lets only the newest writer through, and holds the chain's row until the commit. */
async function newest(tx: Transaction, chainId: number, epoch: number): Promise<ChainState> {
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

/** Lets only the newest writer through, and only from the head it knows. */
async function fence(tx: Transaction, { chainId, epoch, after }: Pick<Batch, 'chainId' | 'epoch' | 'after'>) {
  const state = await newest(tx, chainId, epoch);
  if (state.head?.number !== after?.number || state.head?.hash !== after?.hash) {
    const [stands, built] = [state.head, after].map((block) => (block ? `${block.number} (${block.hash})` : 'nothing'));
    throw new StoreError('overtaken', `Chain ${chainId}: the head is ${stands}, and this was built on ${built}.`);
  }
  return state;
}

async function apply(writing: Writing, batch: Batch): Promise<CommitResult> {
  const { tx, chainId } = writing;
  const { rollbackTo, blocks, head, lateStates = [] } = batch;
  const before = await fence(tx, batch);
  const refuse = (why: string): never => {
    throw new StoreError('bad-batch', `Chain ${chainId}: ${why}. Nothing was written.`);
  };
  if ((blocks[0]?.number ?? head.number) < before.firstBlock) refuse(`the index begins at ${before.firstBlock}`);
  if (rollbackTo !== undefined) await rollBack(writing, rollbackTo);
  const verified = Math.max(
    batch.verified ?? -1,
    Math.min(before.verified ?? -1, rollbackTo ?? Number.POSITIVE_INFINITY),
  );

  const [tip] = await tx.rows(
    'SELECT number, hash, timestamp FROM block WHERE chain = $1 ORDER BY number DESC LIMIT 1',
    [chainId],
  );
  const [next = head] = blocks;
  if (tip !== undefined) {
    const [number, hash, timestamp] = [numberOf(tip[0]), hexOf(tip[1]), numberOf(tip[2])];
    if (next.timestamp < timestamp) refuse(`block ${next.number} is older than block ${number}`);
    if (number === head.number && (hash !== head.hash || timestamp !== head.timestamp)) {
      refuse(`block ${number} is kept with another hash or time`);
    }
  }

  await insertBlocks(tx, chainId, blocks.at(-1)?.number === head.number ? blocks : [...blocks, head]);
  await insertLogs(tx, chainId, blocks);
  const { lacking, surplus, rewrittenFrom } = await deriveBlocks(writing, blocks.map(toDerive), {
    head: head.number,
    states: lateStates,
  });

  const rewritten = [rollbackTo === undefined ? null : rollbackTo + 1, rewrittenFrom].filter((from) => from !== null);
  if (rewritten.length > 0) await recordRewrite(tx, before, Math.min(...rewritten));
  if (verified > (before.verified ?? -1)) await forgetBlocks(tx, before, verified);
  const changed = rewritten.length > 0 || lateStates.length > 0 || blocks.some(({ logs }) => logs.length > 0);
  const state: ChainState = {
    ...before,
    head: { number: head.number, hash: head.hash, timestamp: head.timestamp },
    verified: verified < 0 ? null : verified,
    // Whoever had our head as its own had another one than this.
    confirmedAt: head.number < (before.head?.number ?? 0) ? null : before.confirmedAt,
    revision: before.revision + (changed ? 1 : 0),
  };
  if (changed) await stampRevision(tx, chainId, state.revision);
  await tx.run(
    `UPDATE chain SET head_number = $2, head_hash = $3, head_timestamp = $4, verified = $5, revision = $6,
      confirmed_at = $7 WHERE chain = $1`,
    [chainId, head.number, bytesOf(head.hash), head.timestamp, state.verified, state.revision, state.confirmedAt],
  );
  return { state, lacking, surplus };
}

async function insertBlocks(tx: Transaction, chainId: number, blocks: readonly BlockRef[]): Promise<void> {
  await tx.each(
    INSERT_BLOCK,
    blocks.map(({ number, hash, timestamp }) => [chainId, number, bytesOf(hash), timestamp]),
  );
}

async function insertLogs(tx: Transaction, chainId: number, blocks: readonly BlockInput[]): Promise<void> {
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

async function rollBack(writing: Writing, to: number): Promise<void> {
  const { tx, chainId } = writing;
  for (const statement of [
    'DELETE FROM span WHERE chain = $1 AND since_block > $2',
    'UPDATE span INDEXED BY span_until SET until_block = NULL WHERE chain = $1 AND until_block > $2',
    'DELETE FROM log WHERE chain = $1 AND block > $2',
    'DELETE FROM block WHERE chain = $1 AND number > $2',
    'DELETE FROM v1_ended WHERE chain = $1 AND block > $2',
    'DELETE FROM v1_read WHERE chain = $1 AND block > $2',
  ]) {
    await tx.run(statement, [chainId, to]);
  }
  // A state that was read on the abandoned branch says nothing about this one, so what it ended is open again.
  const discarded = await tx.rows('SELECT DISTINCT vault FROM v1_read WHERE chain = $1 AND read_block > $2', [
    chainId,
    to,
  ]);
  if (discarded.length === 0) return;
  await tx.run('DELETE FROM v1_ended WHERE chain = $1 AND read_block > $2', [chainId, to]);
  await tx.run('UPDATE v1_read SET read_block = NULL WHERE chain = $1 AND read_block > $2', [chainId, to]);
  await deriveWallets(
    writing,
    discarded.map(([vault]) => ({ version: 1, wallet: hexOf(vault), states: new Map() })),
  );
}

/** From the first block on, answers as of this revision may differ from those before. */
async function recordRewrite(tx: Transaction, before: ChainState, from: number): Promise<void> {
  await tx.run('INSERT INTO rewrite (chain, revision, from_block) VALUES ($1, $2, $3)', [
    before.chainId,
    before.revision + 1,
    from,
  ]);
}

/** Below the verified block only those are kept that an answer may need: with logs, with a reading, and the lowest. */
async function forgetBlocks(tx: Transaction, { chainId, verified }: ChainState, below: number) {
  await tx.run(
    `DELETE FROM block WHERE chain = $1 AND number < $2 AND number >= $3
      AND number > (SELECT min(number) FROM block lowest WHERE lowest.chain = $1)
      AND NOT EXISTS (SELECT 1 FROM log WHERE log.chain = $1 AND log.block = block.number)
      AND NOT EXISTS (SELECT 1 FROM v1_read r INDEXED BY v1_unread WHERE r.chain = $1
        AND (r.read_block IS NULL OR r.read_block > r.block) AND r.read_block = block.number)`,
    [chainId, below, verified ?? 0],
  );
}

async function repair(writing: Writing, missing: Repair): Promise<CommitResult> {
  const { tx, chainId } = writing;
  const { blocks } = missing;
  const before = await fence(tx, missing);
  const [lowest] = blocks;
  if (lowest === undefined) return { state: before, lacking: [], surplus: [] };
  for (const block of blocks) await requirePlace(tx, before, block);
  await insertBlocks(tx, chainId, blocks);
  await insertLogs(tx, chainId, blocks);
  await requireRevocations(tx, chainId, blocks);

  const wallets = walletsOf(blocks);
  for (const { version, wallet, from } of wallets) {
    if (version === 1) await discardReadings(tx, chainId, wallet, from);
  }
  const { lacking, surplus, rewrittenFrom } = await deriveWallets(writing, wallets);
  await recordRewrite(tx, before, Math.min(lowest.number, rewrittenFrom ?? lowest.number));
  await stampRevision(tx, chainId, before.revision + 1);
  await tx.run('UPDATE chain SET revision = $2 WHERE chain = $1', [chainId, before.revision + 1]);
  return { state: { ...before, revision: before.revision + 1 }, lacking, surplus };
}

/** A repaired block must fit what is kept of its chain, and its logs must be missing. */
async function requirePlace(tx: Transaction, { chainId, firstBlock }: ChainState, block: BlockInput): Promise<void> {
  const { number, hash, timestamp, logs } = block;
  const refuse = (why: string): never => {
    throw new StoreError('bad-batch', `Chain ${chainId}: block ${number} ${why}. Nothing was written.`);
  };
  if (number < firstBlock) refuse(`lies before the first, ${firstBlock}`);
  const around = await tx.rows(
    `SELECT number, hash, timestamp FROM (SELECT * FROM block WHERE chain = $1 AND number <= $2
        ORDER BY number DESC LIMIT 1) AS below
      UNION ALL SELECT number, hash, timestamp FROM (SELECT * FROM block WHERE chain = $1 AND number > $2
        ORDER BY number LIMIT 1) AS above`,
    [chainId, number],
  );
  for (const [kept, keptHash, keptTime] of around) {
    const [at, time] = [numberOf(kept), numberOf(keptTime)];
    if (at === number && hexOf(keptHash) !== hash) refuse(`is kept with another hash, ${hexOf(keptHash)}`);
    if (Math.sign(timestamp - time) * Math.sign(number - at) < 0 || (at === number && timestamp !== time)) {
      refuse(`has the time ${timestamp}, and block ${at} has ${time}`);
    }
  }
  const indexes = await tx.rows('SELECT log_index FROM log WHERE chain = $1 AND block = $2', [chainId, number]);
  const stored = new Set(indexes.map(([index]) => numberOf(index)));
  for (const { logIndex } of logs) {
    if (!stored.has(logIndex)) continue;
    const what = `Chain ${chainId}: block ${number} has log ${logIndex} already. Nothing was written.`;
    throw new StoreError('numbered-otherwise', what);
  }
}

/** A state says something only about a revocation that needs it. */
async function requireRevocations(tx: Transaction, chainId: number, blocks: readonly BlockInput[]): Promise<void> {
  for (const { number, vaultStates = [] } of blocks) {
    for (const { vault } of vaultStates) {
      const found = await tx.rows(
        `SELECT 1 FROM log WHERE chain = $1 AND block = $2 AND version = 1 AND kind = $4 AND from_addr = $3
          AND to_addr = $3 AND revoked IS NULL LIMIT 1`,
        [chainId, number, bytesOf(vault), DELEGATE_REVOKED],
      );
      if (found.length > 0) continue;
      throw new StoreError(
        'bad-batch',
        `Chain ${chainId}: block ${number} has no revocation of ${vault} to read. Nothing was written.`,
      );
    }
  }
}

/**
 * What a reading of state found gone depends on the logs that were known then. With others known, the reading must be
 * made again: until it is, the wallet's revocations count as unread.
 */
async function discardReadings(tx: Transaction, chainId: number, vault: Address, from: number): Promise<void> {
  const params = [chainId, bytesOf(vault), from];
  await tx.run('DELETE FROM v1_ended WHERE chain = $1 AND from_addr = $2 AND read_block >= $3', params);
  await tx.run('UPDATE v1_read SET read_block = NULL WHERE chain = $1 AND vault = $2 AND read_block >= $3', params);
}

interface RepairedWallet extends DerivedWallet {
  /** The lowest block in which something of it is new. */
  readonly from: number;
  readonly states: Map<number, VaultState>;
}

function walletsOf(blocks: readonly BlockInput[]): RepairedWallet[] {
  const wallets = new Map<string, RepairedWallet>();
  const walletOf = (version: Version, wallet: Address, from: number) => {
    const name = version + wallet;
    const known = wallets.get(name) ?? { version, wallet, from, states: new Map() };
    wallets.set(name, known);
    return known;
  };
  for (const { number, logs, vaultStates = [] } of blocks) {
    for (const { event } of logs) {
      if ('delegation' in event) walletOf(event.delegation.version, event.delegation.from, number);
      else walletOf(1, event.from, number);
    }
    for (const state of vaultStates) walletOf(1, state.vault, number).states.set(number, state);
  }
  return [...wallets.values()];
}
