// Downloads a file, and goes on where the connection broke or where an earlier run stopped.

import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { UsageError } from '../service/terminal.ts';

/** Attempts in a row that brought nothing. */
const MAX_FAILURES = 6;
const FIRST_PAUSE_MS = 500;
/** A server that sends nothing for this long is asked again. */
const STALL_MS = 30_000;

export interface DownloadOptions {
  /** Bytes so far, of how many, if the server says so. */
  readonly onProgress?: (done: number, total: number | null) => void;
  readonly onRetry?: (reason: string) => void;
  /** The file cannot be larger. */
  readonly maxBytes?: number;
  readonly firstPauseMs?: number;
  readonly stallMs?: number;
}

/** Worth another attempt. */
class Interrupted extends Error {}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** What identifies the version of a file on the server. */
const versionOf = ({ headers }: Response) => {
  const etag = headers.get('etag');
  return etag === null || etag.startsWith('W/') ? headers.get('last-modified') : etag;
};

export async function download(url: string, path: string, options: DownloadOptions = {}): Promise<void> {
  const { onRetry = () => {}, firstPauseMs = FIRST_PAUSE_MS } = options;
  for (let failures = 0; ; ) {
    const before = sizeOf(path);
    try {
      await attempt(url, path, options);
      return;
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      failures = sizeOf(path) > before ? 0 : failures + 1;
      if (failures >= MAX_FAILURES) throw new UsageError(`${url} cannot be read: ${error.message}.`);
      onRetry(error.message);
      await Bun.sleep(firstPauseMs * 2 ** failures);
    }
  }
}

async function attempt(url: string, path: string, options: DownloadOptions): Promise<void> {
  const { onProgress = () => {}, maxBytes = Number.POSITIVE_INFINITY, stallMs = STALL_MS } = options;
  const versionPath = `${path}.version`;
  const version = sizeOf(versionPath) > 0 ? readFileSync(versionPath, 'utf8') : null;
  // What cannot be shown to be of the same version is read again.
  if (version === null) rmSync(path, { force: true });
  const have = sizeOf(path);
  const stalled = new AbortController();
  const stall = setTimeout(() => stalled.abort(), stallMs);
  let file: number | undefined;
  try {
    const headers = {
      // A server that compresses what is compressed already would count other bytes.
      'accept-encoding': 'identity',
      ...(have > 0 && version !== null ? { range: `bytes=${have}-`, 'if-range': version } : {}),
    };
    const response = await fetch(url, { headers, signal: stalled.signal, decompress: false }).catch(interrupted);
    const { status } = response;
    if (status === 416 && response.headers.get('content-range') === `bytes */${have}`) return;
    const isRest = status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${have}-`) === true;
    if (status !== 200 && !isRest) throw refusal(url, status, () => rmSync(versionPath, { force: true }));
    const length = response.headers.get('content-length');
    let done = isRest ? have : 0;
    const total = length === null ? null : done + Number(length);
    if (!isRest) {
      rmSync(path, { force: true });
      writeFileSync(versionPath, versionOf(response) ?? '', { mode: 0o600 });
    }
    file = openSync(path, 'a', 0o600);
    const chunks = response.body?.getReader();
    for (;;) {
      const { value } = (await chunks?.read().catch(interrupted)) ?? {};
      if (value === undefined) break;
      stall.refresh();
      done += value.length;
      if (done > maxBytes) throw new UsageError(`${url} is larger than its manifest says.`);
      for (let written = 0; written < value.length; ) written += writeSync(file, value, written);
      onProgress(done, total);
    }
    if (total !== null && done < total) throw new Interrupted('the connection was closed');
  } finally {
    clearTimeout(stall);
    if (file !== undefined) closeSync(file);
  }
}

function interrupted(error: unknown): never {
  const { name, message, code } = error as Error & { code?: string };
  throw new Interrupted(name === 'AbortError' ? 'no data came' : (code ?? message));
}

/** Another version may be shorter than what is here. */
function refusal(url: string, status: number, forget: () => void): Error {
  if (status === 416 || status === 206) {
    forget();
    return new Interrupted('the file has changed');
  }
  const isTemporary = status === 408 || status === 429 || status >= 500;
  return isTemporary ? new Interrupted(`HTTP ${status}`) : new UsageError(`${url} answered HTTP ${status}.`);
}
