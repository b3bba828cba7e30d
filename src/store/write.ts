// Everything that changes the store. Each change is one transaction, and only the newest writer's goes through.

import { checkBatch, checkClaim, checkRepair } from './batch.ts';
import { CHAIN_COLUMNS, chainStateOf } from './chain-state.ts';
import { insertBlocks, insertLogs, newest, recordRewrite, rewritten } from './commit.ts';
import { deriveBlocks, deriveChain, deriveWallets, type Writing } from './derive.ts';
import { bytesOf, hexOf, numberOf } from './encoding.ts';
import type { Engine, WriteTransaction } from './engine.ts';
import { StoreError } from './errors.ts';
import type { IndexHash } from './index-hash.ts';
import { jsonText } from './json.ts';
import { repair, retime } from './repair.ts';
import { endsOf, noteSettlements, settle, unsettle } from './settle.ts';
import { drawStamp, stampRevision } from './stamp.ts';
import type { Batch, ChainState, CommitResult, Report, Store } from './store.ts';

type Writes = Pick<
  Store,
  'claim' | 'apply' | 'report' | 'repair' | 'retime' | 'settle' | 'unsettle' | 'rebuild' | 'lease' | 'release'
>;

export function createWrites(engine: Engine, short: IndexHash): Writes {
  return {
    claim: async (chainId, firstBlock, partial = false) => {
      checkClaim(chainId, firstBlock);
      return engine.transaction((tx) => claim(tx, chainId, firstBlock, partial));
    },
    apply: async (batch) => {
      checkBatch(batch);
      return engine.transaction((tx) => apply({ tx, chainId: batch.chainId, short }, batch));
    },
    report: (chainId, epoch, report) => engine.transaction((tx) => note(tx, chainId, epoch, report)),
    repair: async (batch) => {
      checkRepair(batch);
      return engine.transaction((tx) => repair({ tx, chainId: batch.chainId, short }, batch));
    },
    retime: (chainId, epoch, blocks) => engine.transaction((tx) => retime({ tx, chainId, short }, epoch, blocks)),
    settle: (chainId, epoch, settlements) =>
      engine.transaction((tx) => settle({ tx, chainId, short }, epoch, settlements)),
    unsettle: (chainId, epoch, vault, from) =>
      engine.transaction((tx) => unsettle({ tx, chainId, short }, epoch, vault, from)),
    lease: (chainId, holder, forMs) => {
      const work = async (tx: WriteTransaction) => {
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
      return engine.transaction(work, 'short');
    },
    release: (chainId, holder) => {
      const work = async (tx: WriteTransaction) => {
        await tx.run('DELETE FROM lease WHERE chain = $1 AND holder = $2', [chainId, holder]);
      };
      return engine.transaction(work, 'short');
    },
    rebuild: (chainId) => {
      const work = async (tx: WriteTransaction) => {
        const rows = await tx.rows(
          `UPDATE chain SET commits = commits + 1, stamp = $2 WHERE chain = $1 RETURNING ${CHAIN_COLUMNS.join()}`,
          [chainId, drawStamp()],
        );
        const [state] = rows.map(chainStateOf);
        if (state === undefined) throw new StoreError('not-started', `Chain ${chainId} is not in this store.`);
        await deriveChain({ tx, chainId, short });
        await rewritten(tx, state, state.firstBlock);
      };
      return engine.transaction(work, 'none');
    },
  };
}

async function claim(tx: WriteTransaction, chainId: number, firstBlock: number, partial: boolean): Promise<ChainState> {
  const [row] = await tx.rows(
    `INSERT INTO chain (chain, epoch, first_block, revision, commits, stamp, partial) VALUES ($1, 1, $2, 0, 0, $3, $4)
      ON CONFLICT (chain) DO UPDATE SET epoch = chain.epoch + 1, commits = chain.commits + 1, stamp = excluded.stamp
      RETURNING ${CHAIN_COLUMNS.join()}`,
    [chainId, firstBlock, drawStamp(), partial ? 1 : 0],
  );
  const state = chainStateOf(row ?? []);
  if (state.epoch === 1) await stampRevision(tx, chainId, state.revision);
  return state;
}

async function note(tx: WriteTransaction, chainId: number, epoch: number, report: Report): Promise<ChainState> {
  const before = await newest(tx, chainId, epoch);
  const { confirmedAt, tip, halt, confirmed, partial } = { ...before, ...report };
  await tx.run(
    'UPDATE chain SET confirmed_at = $2, tip = $3, halt = $4, confirmed = $5, partial = $6 WHERE chain = $1',
    [chainId, confirmedAt, tip, halt === null ? null : jsonText(halt), confirmed, partial ? 1 : 0],
  );
  return { ...before, confirmedAt, tip, halt, confirmed, partial };
}

/** Lets only the newest writer through, and only from the head it knows. */
async function fence(tx: WriteTransaction, { chainId, epoch, after }: Pick<Batch, 'chainId' | 'epoch' | 'after'>) {
  const state = await newest(tx, chainId, epoch);
  if (state.head?.number !== after?.number || state.head?.hash !== after?.hash) {
    const [stands, built] = [state.head, after].map((block) => (block ? `${block.number} (${block.hash})` : 'nothing'));
    throw new StoreError('overtaken', `Chain ${chainId}: the head is ${stands}, and this was built on ${built}.`);
  }
  return state;
}

async function apply(writing: Writing, batch: Batch): Promise<CommitResult> {
  const { tx, chainId } = writing;
  const { rollbackTo, blocks, head } = batch;
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
  await deriveBlocks(
    writing,
    blocks.map((block) => ({ number: block.number, logs: endsOf(block) })),
  );
  for (const { settlements = [] } of blocks) await noteSettlements(writing, settlements);

  if (rollbackTo !== undefined) await recordRewrite(tx, before, rollbackTo + 1);
  if (verified > (before.verified ?? -1)) await forgetBlocks(tx, before, verified);
  const changed = rollbackTo !== undefined || blocks.some(({ logs }) => logs.length > 0);
  const confirmed = before.confirmed === null ? null : Math.min(before.confirmed, rollbackTo ?? before.confirmed);
  const state: ChainState = {
    ...before,
    head: { number: head.number, hash: head.hash, timestamp: head.timestamp },
    verified: verified < 0 ? null : verified,
    // Whoever had our head as its own had another one than this.
    confirmedAt: head.number < (before.head?.number ?? 0) ? null : before.confirmedAt,
    confirmed,
    halt: batch.resume ? null : before.halt,
    revision: before.revision + (changed ? 1 : 0),
  };
  if (changed) await stampRevision(tx, chainId, state.revision);
  await tx.run(
    `UPDATE chain SET head_number = $2, head_hash = $3, head_timestamp = $4, verified = $5, revision = $6,
      confirmed_at = $7, confirmed = $8, halt = $9 WHERE chain = $1`,
    [
      chainId,
      head.number,
      bytesOf(head.hash),
      head.timestamp,
      state.verified,
      state.revision,
      state.confirmedAt,
      confirmed,
      state.halt === null ? null : jsonText(state.halt),
    ],
  );
  return { state };
}

async function rollBack(writing: Writing, to: number): Promise<void> {
  const { tx, chainId } = writing;
  for (const statement of [
    'DELETE FROM span WHERE chain = $1 AND since_block > $2',
    'UPDATE span INDEXED BY span_until SET until_block = NULL WHERE chain = $1 AND until_block > $2',
    'DELETE FROM log WHERE chain = $1 AND block > $2',
    'DELETE FROM block WHERE chain = $1 AND number > $2',
    'DELETE FROM v1_pair WHERE chain = $1 AND block > $2',
    'DELETE FROM v1_read WHERE chain = $1 AND block > $2',
  ]) {
    await tx.run(statement, [chainId, to]);
  }
  // A state that was read on the abandoned branch says nothing about this one, so what it ended is open again.
  const discarded = await tx.rows(
    `SELECT vault FROM v1_read WHERE chain = $1 AND read_block > $2
      UNION SELECT vault FROM v1_pair WHERE chain = $1 AND read_block > $2`,
    [chainId, to],
  );
  if (discarded.length === 0) return;
  await tx.run('DELETE FROM v1_pair WHERE chain = $1 AND read_block > $2', [chainId, to]);
  await tx.run('UPDATE v1_read SET read_block = NULL WHERE chain = $1 AND read_block > $2', [chainId, to]);
  await deriveWallets(
    writing,
    discarded.map(([vault]) => ({ version: 1, wallet: hexOf(vault) })),
  );
}

/** Below the verified block only those are kept that an answer may need: with logs, with a reading, and the lowest. */
async function forgetBlocks(tx: WriteTransaction, { chainId, verified }: ChainState, below: number) {
  await tx.run(
    `DELETE FROM block WHERE chain = $1 AND number < $2 AND number >= $3
      AND number > (SELECT min(number) FROM block lowest WHERE lowest.chain = $1)
      AND NOT EXISTS (SELECT 1 FROM log WHERE log.chain = $1 AND log.block = block.number)
      AND NOT EXISTS (SELECT 1 FROM v1_read r INDEXED BY v1_unread WHERE r.chain = $1
        AND (r.read_block IS NULL OR r.read_block > r.block) AND r.read_block = block.number)`,
    [chainId, below, verified ?? 0],
  );
}
