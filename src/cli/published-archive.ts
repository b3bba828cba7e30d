// Archives that somebody publishes: reads their manifest, and downloads them with their checksum.

import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { readBody } from '../chain/rpc/rpc.ts';
import { showStatus, UsageError } from '../service/terminal.ts';
import { ArchiveError } from '../store/archive.ts';
import { type ArchiveEntry, MANIFEST, parseManifest } from '../store/archive-folder.ts';
import { download } from './download.ts';

const MANIFEST_TIMEOUT_MS = 30_000;
const MAX_MANIFEST_BYTES = 1024 * 1024;

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');

const leftText = (seconds: number) => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`);

/** What a folder on a server has; null if it does not say. */
export async function fetchManifest(folder: URL): Promise<readonly ArchiveEntry[] | null> {
  const url = new URL(MANIFEST, folder);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(MANIFEST_TIMEOUT_MS) });
    // A bucket says 403 of what it does not have.
    if (response.status === 404 || response.status === 403) return null;
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
    return parseManifest(await readBody(response, MAX_MANIFEST_BYTES));
  } catch (error) {
    throw error instanceof ArchiveError ? error : new UsageError(`${url} cannot be read: ${(error as Error).message}.`);
  }
}

/** Downloads an archive, with progress, and checks that it is the one that the manifest describes. */
export async function downloadArchive(url: string, path: string, expected?: ArchiveEntry): Promise<void> {
  const began = performance.now();
  let first: number | undefined;
  await download(url, path, {
    onProgress(done, total) {
      first ??= done;
      const perMs = (done - first) / (performance.now() - began);
      const of = total === null ? '' : ` of ${megabytes(total)}`;
      const left = total === null || perMs <= 0 ? '' : `, ${leftText((total - done) / perMs / 1000)} left`;
      showStatus(`Downloading ${megabytes(done)}${of}${left}`);
    },
    onRetry: (reason) => process.stderr.write(`The download was interrupted: ${reason}. Going on.\n`),
    ...(expected === undefined ? {} : { maxBytes: expected.size }),
  });
  showStatus('');
  if (expected === undefined || (await fileHash(path)) === expected.sha256) return;
  for (const one of [path, `${path}.version`]) rmSync(one, { force: true });
  throw new UsageError(
    `${url} is not the file that its manifest describes: its SHA-256 differs. Nothing was imported.`,
  );
}

async function fileHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}
