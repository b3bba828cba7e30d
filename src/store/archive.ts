// A chain's final history as lines of JSON: made once, it moves to another store, which checks it and goes on from there.

import { createHash } from 'node:crypto';
import type { Address } from '../registry/delegation.ts';
import type { RegistryEvent } from '../registry/event.ts';
import { NETWORKS } from '../registry/network.ts';
import type { BlockInput, BlockRef, LogInput, LogRecord, Settlement, Store } from './store.ts';

/** A file that is no archive, or not a whole one. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

interface ArchiveHead {
  readonly format: 'delegations-index';
  readonly version: 2;
  readonly chainId: number;
  readonly firstBlock: number;
  readonly partial: boolean;
  readonly last: BlockRef;
}

interface ArchiveEnd {
  readonly end: true;
  readonly blocks: number;
  readonly logs: number;
  /** Of every line before this one. */
  readonly sha256: string;
}

export interface CheckedArchive {
  readonly head: ArchiveHead;
  readonly end: ArchiveEnd;
}

const PAGE = 5000;
const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
const lineOf = (value: unknown) => `${JSON.stringify(value, asText)}\n`;

/** The lines of an archive of everything up to the chain's newest final block. */
export async function* archiveLines(store: Store, chainId: number): AsyncGenerator<string, ArchiveEnd> {
  const state = await store.chain(chainId);
  const [last] =
    state?.verified == null ? [] : await store.blocks(chainId, { from: state.verified, to: state.verified });
  if (state === null || last === undefined)
    throw new ArchiveError(`Chain ${chainId} has no final blocks in this store yet.`);
  const hash = createHash('sha256');
  let [blocks, logs] = [0, 0];
  const hashed = (value: unknown) => {
    const line = lineOf(value);
    hash.update(line);
    return line;
  };
  const { firstBlock, partial } = state;
  const head: ArchiveHead = { format: 'delegations-index', version: 2, chainId, firstBlock, partial, last };
  yield hashed(head);

  /** Whom a wallet revoked by logs that name nobody, where that is settled. */
  const settlementsOf = async (vaults: ReadonlySet<Address>, number: number): Promise<Settlement[]> => {
    if (vaults.size === 0) return [];
    const found = await store.revocations(chainId, { from: number, to: number });
    return found.flatMap(({ vault, block, ended, readAt }) =>
      readAt === null || readAt > last.number || !vaults.has(vault)
        ? []
        : [{ vault, block: { number, hash: block.hash }, readAt, pairs: ended, complete: true }],
    );
  };

  const blockOf = async (records: readonly LogRecord[]): Promise<BlockInput> => {
    const { block } = records[0] as LogRecord;
    const vaults = new Set<Address>();
    for (const { event, revoked } of records) if (event.type === 'unknownRevoked' && !revoked) vaults.add(event.from);
    const settlements = await settlementsOf(vaults, block.number);
    const own = records.map(({ block: _, ...log }): LogInput => log);
    return { ...block, logs: own, ...(settlements.length > 0 ? { settlements } : {}) };
  };

  let open: LogRecord[] = [];
  for (let after: LogRecord | undefined; ; ) {
    const position = after === undefined ? {} : { after: { block: after.block.number, logIndex: after.logIndex } };
    const page = await store.logs(chainId, { from: firstBlock, to: last.number, limit: PAGE, ...position });
    for (const record of page) {
      if (open[0] !== undefined && open[0].block.number !== record.block.number) {
        yield hashed(await blockOf(open));
        blocks++;
        open = [];
      }
      open.push(record);
      logs++;
    }
    after = page.at(-1);
    if (page.length < PAGE) break;
  }
  if (open.length > 0) {
    yield hashed(await blockOf(open));
    blocks++;
  }
  const end: ArchiveEnd = { end: true, blocks, logs, sha256: hash.digest('hex') };
  yield lineOf(end);
  return end;
}

/** Reads an archive to its end and checks that it is whole, without writing anything. */
export async function checkArchive(lines: AsyncIterable<string>): Promise<CheckedArchive> {
  const hash = createHash('sha256');
  let head: ArchiveHead | undefined;
  let end: ArchiveEnd | undefined;
  let [blocks, logs] = [0, 0];
  for await (const line of lines) {
    if (end !== undefined) throw new ArchiveError('The archive goes on behind its end.');
    const value = parse(line);
    if (head === undefined) head = headOf(value);
    else if ((value as ArchiveEnd | null)?.end === true) end = value as ArchiveEnd;
    else {
      blocks++;
      logs += (value as BlockInput | null)?.logs?.length ?? 0;
    }
    if (end === undefined) hash.update(`${line}\n`);
  }
  if (head === undefined || end === undefined)
    throw new ArchiveError('The archive is cut off: its last line is missing.');
  if (end.sha256 !== hash.digest('hex')) throw new ArchiveError('The archive was changed: its checksum does not fit.');
  if (end.blocks !== blocks || end.logs !== logs) throw new ArchiveError('The archive does not hold what it says.');
  return { head, end };
}

const MOST_LOGS = 20_000;

/** Writes a checked archive into a store that does not have the chain yet, or goes on where an earlier try was broken off. */
export async function importArchive(
  store: Store,
  { head: { chainId, firstBlock, partial, last }, end }: CheckedArchive,
  lines: AsyncIterable<string>,
  onProgress: (logs: number) => void = () => {},
): Promise<void> {
  const known = await store.chain(chainId);
  if (known !== null && known.halt?.code !== 'import-unfinished')
    throw new ArchiveError(`Chain ${chainId} is in this store already.`);
  const { epoch } = await store.claim(chainId, firstBlock);
  let state = await store.report(chainId, epoch, {
    partial,
    halt: { code: 'import-unfinished', since: Math.floor(Date.now() / 1000) },
  });
  const done = state.head;
  let blocks: BlockInput[] = [];
  let [pending, written] = [0, 0];
  const hash = createHash('sha256');
  const flush = async (head: BlockRef, more = {}) => {
    const ref = { number: head.number, hash: head.hash, timestamp: head.timestamp };
    const batch = { chainId, epoch, after: state.head, blocks, head: ref, verified: ref.number, ...more };
    ({ state } = await store.apply(batch));
    [blocks, pending] = [[], 0];
  };
  for await (const line of lines) {
    const value = parse(line) as Partial<BlockInput> & { end?: true };
    if (value.end !== true) hash.update(`${line}\n`);
    if (!Array.isArray(value.logs)) continue;
    const block = blockFrom(value as BlockInput);
    written += block.logs.length;
    onProgress(written);
    if (done !== null && block.number <= done.number) {
      if (block.number === done.number && block.hash !== done.hash)
        throw new ArchiveError(`Chain ${chainId} was begun from another archive: use an empty store.`);
      continue;
    }
    if (pending > 0 && pending + block.logs.length > MOST_LOGS) await flush(blocks.at(-1) as BlockInput);
    blocks.push(block);
    pending += block.logs.length;
  }
  // Between the two readings nothing may have changed.
  if (hash.digest('hex') !== end.sha256) throw new ArchiveError('The archive changed while it was read.');
  await flush(last);
  await store.report(chainId, epoch, { halt: null });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ArchiveError('This is no archive: a line of it is no JSON.');
  }
}

function headOf(value: unknown): ArchiveHead {
  const head = (value ?? {}) as ArchiveHead;
  if (head.format !== 'delegations-index') throw new ArchiveError('This is no archive of an index.');
  if (head.version !== 2)
    throw new ArchiveError(`The archive has version ${head.version}; this program reads version 2.`);
  if (!NETWORKS.has(head.chainId))
    throw new ArchiveError(`The archive is of chain ${head.chainId}, which is no known network.`);
  if (!Number.isSafeInteger(head.firstBlock) || typeof head.last?.hash !== 'string')
    throw new ArchiveError('The first line of the archive does not say what it holds.');
  return head;
}

const bigintOrNull = (text: unknown) => (text === null || text === undefined ? null : BigInt(text as string));

/** Numbers of any size are texts in the archive. */
function blockFrom(block: BlockInput): BlockInput {
  const key = <K extends { tokenId: unknown }>(of: K) => ({ ...of, tokenId: bigintOrNull(of.tokenId) });
  const event = (of: RegistryEvent): RegistryEvent => {
    if (of.type === 'granted') {
      return { ...of, delegation: { ...key(of.delegation), amount: bigintOrNull(of.delegation.amount) } };
    }
    return of.type === 'ended' ? { ...of, delegation: key(of.delegation) } : of;
  };
  return { ...block, logs: block.logs.map((log) => ({ ...log, event: event(log.event) })) };
}
