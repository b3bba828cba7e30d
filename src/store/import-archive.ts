// Checks an archive and imports it into a store.

import { createHash } from 'node:crypto';
import {
  type ArchiveEnd,
  ArchiveError,
  type ArchiveHead,
  decodeArchivedBlock,
  parseHead,
  parseLine,
} from './archive-format.ts';
import type { BlockInput, BlockRef, Store } from './store.ts';

export interface CheckedArchive {
  readonly head: ArchiveHead;
  readonly end: ArchiveEnd;
}

/** Reads an archive to its end and checks that it is complete. Writes nothing. */
export async function checkArchive(lines: AsyncIterable<string>): Promise<CheckedArchive> {
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

const BATCH_LOGS = 20_000;

/** Imports a checked archive into a store that does not have the chain, or resumes an interrupted import. */
export async function importArchive(
  store: Store,
  { head: { chainId, firstBlock, partial, last }, end }: CheckedArchive,
  lines: AsyncIterable<string>,
  onProgress: (logs: number) => void = () => {},
): Promise<void> {
  const known = await store.chain(chainId);
  if (known !== null && known.halt?.code !== 'import-unfinished')
    throw new ArchiveError(`Chain ${chainId} is already in this store.`);
  const requireSame = (isSame: boolean) => {
    if (!isSame)
      throw new ArchiveError(`The import of chain ${chainId} was started from another archive: use an empty store.`);
  };
  requireSame(known === null || known.firstBlock === firstBlock);
  const { epoch } = await store.claim(chainId, firstBlock);
  let state = await store.report(chainId, epoch, {
    partial,
    halt: { code: 'import-unfinished', since: Math.floor(Date.now() / 1000) },
  });
  const resumedAt = state.head;
  /** The archive has the block at which the import was interrupted. */
  let isSame = resumedAt === null || resumedAt.hash === last.hash;
  let blocks: BlockInput[] = [];
  let [pending, imported] = [0, 0];
  const hash = createHash('sha256');
  const flush = async (head: BlockRef) => {
    const ref = { number: head.number, hash: head.hash, timestamp: head.timestamp };
    const batch = { chainId, epoch, after: state.head, blocks, head: ref, verified: ref.number };
    ({ state } = await store.apply(batch));
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
    if (pending > 0 && pending + block.logs.length > BATCH_LOGS) await flush(blocks.at(-1) as BlockInput);
    blocks.push(block);
    pending += block.logs.length;
  }
  // The file is read twice and must not change in between.
  if (hash.digest('hex') !== end.sha256) throw new ArchiveError('The archive changed while it was imported.');
  requireSame(isSame);
  await flush(last);
  await store.report(chainId, epoch, { halt: null });
}
