// A folder of archives, one for each chain, with a manifest: what is published, and what a mirror copies.

import { createHash } from 'node:crypto';
import { createWriteStream, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { NETWORKS } from '../registry/network.ts';
import { type ArchiveEnd, ArchiveError, type ArchiveHead, archiveLines } from './archive.ts';
import type { BlockRef, Store } from './store.ts';

export const MANIFEST = 'index.json';
/** What a program of this version makes of a network's name. Nothing else is read or written in a folder. */
const FILE_NAME = /^[a-z0-9-]{1,64}\.delegations\.gz$/;
const MAX_ARCHIVES = 1000;

/** What the manifest says of a file. */
export interface ArchiveEntry {
  readonly file: string;
  readonly chainId: number;
  /** The version of the archive's format. */
  readonly schema: number;
  readonly firstBlock: number;
  readonly partial: boolean;
  readonly last: BlockRef;
  readonly blocks: number;
  readonly logs: number;
  /** Of the compressed file, in bytes. */
  readonly size: number;
  readonly sha256: string;
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

function isEntry(value: unknown): value is ArchiveEntry {
  const one = (value ?? {}) as Partial<ArchiveEntry>;
  const counts = [one.chainId, one.schema, one.firstBlock, one.blocks, one.logs, one.size, one.last?.number];
  return counts.every(isCount) && FILE_NAME.test(String(one.file)) && /^[0-9a-f]{64}$/.test(String(one.sha256));
}

/** Throws if the text is not a manifest. */
export function parseManifest(text: string): readonly ArchiveEntry[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not one.
  }
  const { format, version, archives } = (value ?? {}) as { format?: unknown; version?: unknown; archives?: unknown };
  if (format !== 'delegations-archives' || version !== 1 || !Array.isArray(archives))
    throw new ArchiveError(`${MANIFEST} is not a manifest of archives.`);
  if (archives.length > MAX_ARCHIVES || !archives.every(isEntry))
    throw new ArchiveError(`${MANIFEST} describes an archive that this program does not understand.`);
  return archives;
}

export const manifestText = (archives: readonly ArchiveEntry[]): string =>
  `${JSON.stringify({ format: 'delegations-archives', version: 1, archives }, null, 2)}\n`;

/** Of a folder that may not have one yet. */
export function readManifest(folder: string): readonly ArchiveEntry[] {
  try {
    return parseManifest(readFileSync(join(folder, MANIFEST), 'utf8'));
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return [];
    throw error;
  }
}

/** Puts an entry in the place of the chain's older one. Readers see the old manifest or the new one. */
export function addToManifest(folder: string, entry: ArchiveEntry): void {
  const others = readManifest(folder).filter(({ chainId }) => chainId !== entry.chainId);
  const archives = [...others, entry].sort((a, b) => a.chainId - b.chainId);
  const path = join(folder, `.${MANIFEST}.${process.pid}`);
  writeFileSync(path, manifestText(archives));
  renameSync(path, join(folder, MANIFEST));
}

/** `ethereum.delegations.gz`. Names that operators give may be anything, so those files have the chain id. */
export function archiveName(chainId: number): string {
  const network = NETWORKS.get(chainId);
  const slug = network?.custom === undefined ? network?.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') : undefined;
  return `${slug ?? `chain-${chainId}`}.delegations.gz`;
}

/** Writes the archive of a chain into a folder, and into its manifest. */
export async function writeArchive(
  store: Store,
  chainId: number,
  folder: string,
  onProgress: (logs: number) => void = () => {},
): Promise<ArchiveEntry> {
  mkdirSync(folder, { recursive: true });
  const file = archiveName(chainId);
  const partial = join(folder, `.${file}.${process.pid}`);
  let head: ArchiveHead | undefined;
  let end: ArchiveEnd | undefined;
  async function* lines() {
    const all = archiveLines(store, chainId, onProgress);
    let next = await all.next();
    for (; !next.done; next = await all.next()) {
      head ??= JSON.parse(next.value) as ArchiveHead;
      yield next.value;
    }
    end = next.value;
  }
  const hash = createHash('sha256');
  let size = 0;
  const measured = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  try {
    await pipeline(Readable.from(lines()), createGzip(), measured, createWriteStream(partial));
    if (head === undefined || end === undefined) throw new Error('An archive has no head or no end.');
    renameSync(partial, join(folder, file));
  } finally {
    rmSync(partial, { force: true });
  }
  const { version: schema, firstBlock, partial: isPartial, last } = head;
  const { blocks, logs } = end;
  const of = { chainId, schema, firstBlock, partial: isPartial, last, blocks, logs };
  const entry: ArchiveEntry = { file, ...of, size, sha256: hash.digest('hex') };
  addToManifest(folder, entry);
  return entry;
}
