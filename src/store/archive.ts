// An archive of a chain's finalized history: lines of JSON with a head, a block per line, and an end with a checksum. It ends at a block
// with logs, and has nothing that depends on who read it, so that the same blocks make the same bytes.

import { createHash } from 'node:crypto';
import { parseNetwork } from '../registry/custom-network.ts';
import type { Address } from '../registry/delegation.ts';
import type { RegistryEvent } from '../registry/event.ts';
import { LISTED, type Network } from '../registry/network.ts';
import type { BlockInput, BlockRef, LogInput, LogRecord, Settlement, Store } from './store.ts';

/** The file is not an archive, or is incomplete. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

export interface ArchiveHead {
  readonly format: 'delegations-index';
  readonly version: 2;
  readonly chainId: number;
  readonly firstBlock: number;
  readonly partial: boolean;
  readonly last: BlockRef;
  /** As in the chain's state; absent for one of the table. */
  readonly network?: string;
}

export interface ArchiveEnd {
  readonly end: true;
  readonly blocks: number;
  readonly logs: number;
  /** Of every line before this one. */
  readonly sha256: string;
}

const replaceBigint = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** Bigints become decimal strings. */
export const encodeLine = (value: unknown): string => `${JSON.stringify(value, replaceBigint)}\n`;

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new ArchiveError('The file is not an archive: a line is not JSON.');
  }
}

function parseHead(value: unknown): ArchiveHead {
  const head = (value ?? {}) as ArchiveHead;
  if (head.format !== 'delegations-index')
    throw new ArchiveError('The file is not an archive: its first line has no format "delegations-index".');
  if (head.version !== 2)
    throw new ArchiveError(`The archive has version ${head.version}; this program reads version 2.`);
  if (networkOf(head) === undefined)
    throw new ArchiveError(`The archive is of chain ${head.chainId}, which is not a known network.`);
  if (!Number.isSafeInteger(head.firstBlock) || typeof head.last?.hash !== 'string')
    throw new ArchiveError('The first line of the archive lacks the first or last block.');
  return head;
}

/** An archive of a chain that was not in the table says which registries it is of. */
const networkOf = ({ chainId, network }: ArchiveHead): Network | undefined =>
  network === undefined ? LISTED.get(chainId) : parseNetwork(chainId, String(network));

const parseBigint = (text: unknown) => (text === null || text === undefined ? null : BigInt(text as string));

/** Restores the bigints of a parsed block. What an archive says of its own blocks counts as a claim: its times, and that they are proven. */
function decodeArchivedBlock({ number, hash, timestamp, logs, settlements }: BlockInput): BlockInput {
  const decodeKey = <K extends { tokenId: unknown }>(key: K) => ({ ...key, tokenId: parseBigint(key.tokenId) });
  const decodeEvent = (event: RegistryEvent): RegistryEvent => {
    if (event.type === 'granted') {
      const { delegation } = event;
      return { ...event, delegation: { ...decodeKey(delegation), amount: parseBigint(delegation.amount) } };
    }
    return event.type === 'ended' ? { ...event, delegation: decodeKey(event.delegation) } : event;
  };
  const decoded = logs.map((log) => ({ ...log, event: decodeEvent(log.event) }));
  return { number, hash, timestamp, timeFrom: 'log', logs: decoded, ...(settlements && { settlements }) };
}

const PAGE_LOGS = 5000;

/** Exports everything up to the newest finalized block with logs; without any, up to the newest finalized block. */
export async function* archiveLines(
  store: Store,
  chainId: number,
  onProgress: (logs: number) => void = () => {},
): AsyncGenerator<string, ArchiveEnd> {
  const state = await store.chain(chainId);
  const verified = state?.verified ?? -1;
  const last = (await store.newestWithLogs(chainId, verified)) ?? (await store.newestBlock(chainId, verified));
  if (state === null || last === null)
    throw new ArchiveError(`Chain ${chainId} has no finalized blocks in this store yet.`);
  const hash = createHash('sha256');
  let [blocks, logs] = [0, 0];
  const hashed = (value: unknown) => {
    const line = encodeLine(value);
    hash.update(line);
    return line;
  };
  const { firstBlock, partial, network } = state;
  const known = { format: 'delegations-index', version: 2, chainId, firstBlock, partial, last } as const;
  const head: ArchiveHead = network === null ? known : { ...known, network };
  yield hashed(head);
  for await (const records of logsByBlock(store, chainId, firstBlock, last.number)) {
    yield hashed(await toBlock(store, chainId, records));
    blocks++;
    logs += records.length;
    onProgress(logs);
  }
  const end: ArchiveEnd = { end: true, blocks, logs, sha256: hash.digest('hex') };
  yield encodeLine(end);
  return end;
}

/** The logs of a range of blocks, all logs of one block at a time. */
async function* logsByBlock(store: Store, chainId: number, from: number, to: number) {
  // The last block of a page, which may have more logs on the next one.
  let unfinished: LogRecord[] = [];
  for (let isEnd = false; !isEnd; ) {
    const after = unfinished.at(-1);
    const position = after === undefined ? {} : { after: { block: after.block.number, logIndex: after.logIndex } };
    const page = await store.logs(chainId, { from, to, limit: PAGE_LOGS, ...position });
    const blocks = [...Map.groupBy([...unfinished, ...page], ({ block }) => block.number).values()];
    isEnd = page.length < PAGE_LOGS;
    unfinished = isEnd ? [] : (blocks.pop() ?? []);
    yield* blocks;
  }
}

/** A block with the revocations that its own state has settled: a later state shows less, and not the same to everyone. */
async function toBlock(store: Store, chainId: number, records: readonly LogRecord[]) {
  const { block } = records[0] as LogRecord;
  const { number } = block;
  const vaults = new Set<Address>();
  for (const { event, revoked } of records) if (event.type === 'unknownRevoked' && !revoked) vaults.add(event.from);
  const found = vaults.size === 0 ? [] : await store.revocations(chainId, { from: number, to: number });
  const settlements = found.flatMap(({ vault, block: { hash }, ended, readAt }): Settlement[] =>
    readAt !== number || !vaults.has(vault)
      ? []
      : [{ vault, block: { number, hash }, readAt, pairs: ended, complete: true }],
  );
  const logs = records.map(({ block: _, ...log }): LogInput => log);
  return { ...block, logs, ...(settlements.length > 0 ? { settlements } : {}) } satisfies BlockInput;
}

/** Reads an archive to its end and checks that it is complete. Writes nothing. */
export async function checkArchive(lines: AsyncIterable<string>) {
  const hash = createHash('sha256');
  let head: ArchiveHead | undefined;
  let end: ArchiveEnd | undefined;
  let [blocks, logs] = [0, 0];
  for await (const line of lines) {
    if (end !== undefined) throw new ArchiveError('The archive has lines after its end.');
    const value = parseLine(line);
    if (head === undefined) head = parseHead(value);
    else if ((value as ArchiveEnd | null)?.end === true) end = value as ArchiveEnd;
    else {
      blocks++;
      logs += (value as BlockInput | null)?.logs?.length ?? 0;
    }
    if (end === undefined) hash.update(`${line}\n`);
  }
  if (head === undefined || end === undefined)
    throw new ArchiveError('The archive is incomplete: its last line is missing.');
  if (end.sha256 !== hash.digest('hex')) throw new ArchiveError('The archive is damaged: its checksum does not match.');
  if (end.blocks !== blocks || end.logs !== logs)
    throw new ArchiveError('The archive is damaged: its counts of blocks and logs do not match.');
  return { head, end };
}

/** Large: entries of an index lie anywhere, and a page is written once for all of a commit. */
const COMMIT_LOGS = 100_000;

/** Imports a checked archive into a store that does not have the chain, or resumes an interrupted import. */
export async function importArchive(
  store: Store,
  { head, end }: Awaited<ReturnType<typeof checkArchive>>,
  lines: AsyncIterable<string>,
  onProgress: (logs: number) => void = () => {},
): Promise<void> {
  const { chainId, firstBlock, partial, last } = head;
  const known = await store.chain(chainId);
  if (known !== null && known.halt?.code !== 'import-unfinished')
    throw new ArchiveError(`Chain ${chainId} is already in this store.`);
  const requireSame = (isSame: boolean) => {
    if (!isSame)
      throw new ArchiveError(`The import of chain ${chainId} was started from another archive: use an empty store.`);
  };
  requireSame(known === null || known.firstBlock === firstBlock);
  const { epoch } = await store.claim(chainId, firstBlock, partial, networkOf(head));
  let state = await store.report(chainId, epoch, {
    partial,
    halt: { code: 'import-unfinished', since: Math.floor(Date.now() / 1000) },
    imported: { to: last.number, comparedFrom: last.number + 1, isCounted: partial },
  });
  const resumedAt = state.head;
  /** The archive has the block at which the import was interrupted. */
  let isSame = resumedAt === null || resumedAt.hash === last.hash;
  let blocks: BlockInput[] = [];
  let [pending, imported] = [0, 0];
  const hash = createHash('sha256');
  const flush = async (head: BlockRef) => {
    const ref = { number: head.number, hash: head.hash, timestamp: head.timestamp };
    const after = state.head;
    state = await store.apply({ chainId, epoch, after, blocks, head: ref, verified: ref.number });
    [blocks, pending] = [[], 0];
  };
  for await (const line of lines) {
    const value = parseLine(line) as Partial<BlockInput> & { end?: true };
    if (value.end !== true) hash.update(`${line}\n`);
    if (!Array.isArray(value.logs)) continue;
    const block = decodeArchivedBlock(value as BlockInput);
    imported += block.logs.length;
    onProgress(imported);
    if (resumedAt !== null && block.number <= resumedAt.number) {
      isSame ||= block.hash === resumedAt.hash;
      continue;
    }
    requireSame(isSame);
    if (pending > 0 && pending + block.logs.length > COMMIT_LOGS) await flush(blocks.at(-1) as BlockInput);
    blocks.push(block);
    pending += block.logs.length;
  }
  // The file is read twice and must not change in between.
  if (hash.digest('hex') !== end.sha256) throw new ArchiveError('The archive changed while it was imported.');
  requireSame(isSame);
  await flush(last);
  await store.report(chainId, epoch, { halt: null });
}
