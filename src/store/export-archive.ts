// Exports a chain's finalized history as the lines of an archive.

import { createHash } from 'node:crypto';
import type { Address } from '../registry/delegation.ts';
import { type ArchiveEnd, ArchiveError, type ArchiveHead, encodeLine } from './archive-format.ts';
import type { BlockInput, LogInput, LogRecord, Settlement, Store } from './store.ts';

const PAGE_LOGS = 5000;

/** Exports everything up to the chain's newest finalized block. */
export async function* archiveLines(store: Store, chainId: number): AsyncGenerator<string, ArchiveEnd> {
  const state = await store.chain(chainId);
  const [last] =
    state?.verified == null ? [] : await store.blocks(chainId, { from: state.verified, to: state.verified });
  if (state === null || last === undefined)
    throw new ArchiveError(`Chain ${chainId} has no finalized blocks in this store yet.`);
  const hash = createHash('sha256');
  let [blocks, logs] = [0, 0];
  const hashed = (value: unknown) => {
    const line = encodeLine(value);
    hash.update(line);
    return line;
  };
  const { firstBlock, partial } = state;
  const head: ArchiveHead = { format: 'delegations-index', version: 2, chainId, firstBlock, partial, last };
  yield hashed(head);
  for await (const records of logsByBlock(store, chainId, firstBlock, last.number)) {
    yield hashed(await toBlock(store, chainId, records, last.number));
    blocks++;
    logs += records.length;
  }
  const end: ArchiveEnd = { end: true, blocks, logs, sha256: hash.digest('hex') };
  yield encodeLine(end);
  return end;
}

/** The logs of a range of blocks, all logs of one block at a time. */
async function* logsByBlock(
  store: Store,
  chainId: number,
  from: number,
  to: number,
): AsyncGenerator<readonly LogRecord[]> {
  let block: LogRecord[] = [];
  for (let after: LogRecord | undefined; ; ) {
    const position = after === undefined ? {} : { after: { block: after.block.number, logIndex: after.logIndex } };
    const page = await store.logs(chainId, { from, to, limit: PAGE_LOGS, ...position });
    for (const record of page) {
      if (block[0] !== undefined && block[0].block.number !== record.block.number) {
        yield block;
        block = [];
      }
      block.push(record);
    }
    after = page.at(-1);
    if (page.length < PAGE_LOGS) break;
  }
  if (block.length > 0) yield block;
}

async function toBlock(
  store: Store,
  chainId: number,
  records: readonly LogRecord[],
  lastBlock: number,
): Promise<BlockInput> {
  const { block } = records[0] as LogRecord;
  const vaults = new Set<Address>();
  for (const { event, revoked } of records) if (event.type === 'unknownRevoked' && !revoked) vaults.add(event.from);
  const settlements = vaults.size === 0 ? [] : await readSettlements(store, chainId, vaults, block.number, lastBlock);
  const logs = records.map(({ block: _, ...log }): LogInput => log);
  return { ...block, logs, ...(settlements.length > 0 ? { settlements } : {}) };
}

/** The settled revocations of a block. A settlement by the state of a block that is not exported is left out. */
async function readSettlements(
  store: Store,
  chainId: number,
  vaults: ReadonlySet<Address>,
  number: number,
  lastBlock: number,
): Promise<Settlement[]> {
  const found = await store.revocations(chainId, { from: number, to: number });
  return found.flatMap(({ vault, block, ended, readAt }) =>
    readAt === null || readAt > lastBlock || !vaults.has(vault)
      ? []
      : [{ vault, block: { number, hash: block.hash }, readAt, pairs: ended, complete: true }],
  );
}
