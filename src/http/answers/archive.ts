// /archive/…: the archives of the served chains and their manifest, for mirrors and imports, if the operator has turned them on.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../api/problems.ts';
import { textResponse } from '../../api/sized-response.ts';
import { MANIFEST, manifestText, readManifest } from '../../store/archive-folder.ts';
import type { Call } from '../context/service.ts';
import { CORS, JSON_TYPE } from '../wire/answer.ts';
import { streamParts } from '../wire/stream-parts.ts';

const PART_BYTES = 256 * 1024;
const OFF = 'The operator of this service does not publish archives (ARCHIVE=on).';

export async function answerArchive({ request, path, service, caller }: Call): Promise<Response> {
  const { archives, longLists, answerTimeout, onError } = service;
  if (archives === undefined) throw new Problem('not-found', OFF);
  archives.refresh();
  const manifest = readManifest(archives.folder);
  if (manifest.length === 0) throw new Problem('not-ready', 'The archives are being written.', { retryAfter: 30 });
  if (path['file'] === MANIFEST) {
    const headers = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': 'no-cache' };
    return textResponse(manifestText(manifest), { headers });
  }
  const entry = manifest.find(({ file }) => file === path['file']);
  if (entry === undefined) throw new Problem('not-found', `There is no such archive: see /archive/${MANIFEST}.`);
  const etag = `"${entry.sha256}"`;
  const headers = {
    ...CORS,
    'content-type': 'application/gzip',
    'cache-control': 'no-cache',
    'accept-ranges': 'bytes',
    etag,
  };
  if (request.headers.get('if-none-match')?.includes(etag)) return new Response(null, { status: 304, headers });
  const from = firstByte(request, etag);
  if (from > 0 && from >= entry.size)
    return new Response(null, { status: 416, headers: { ...headers, 'content-range': `bytes */${entry.size}` } });
  const length = { ...headers, 'content-length': String(entry.size - from) };
  const isPart = { ...length, 'content-range': `bytes ${from}-${entry.size - 1}/${entry.size}` };
  const init = from === 0 ? { status: 200, headers: length } : { status: 206, headers: isPart };
  if (request.method === 'HEAD') return new Response(null, init);
  const end = longLists.beginFile(caller());
  return streamParts(partsOf(join(archives.folder, entry.file), from, entry.size, end), init, end, {
    answerTimeout,
    onError,
  });
}

/** Of `Range: bytes=N-`, which is what a download asks that goes on. Other ranges are answered whole, as the standard allows. */
function firstByte({ headers }: Request, etag: string): number {
  const [, from] = /^bytes=(\d{1,15})-$/.exec(headers.get('range') ?? '') ?? [];
  const version = headers.get('if-range');
  return from === undefined || (version !== null && version !== etag) ? 0 : Number(from);
}

/** Who has the last byte may ask for the next file at once: `onLast` is called before that byte is sent, and after all others were taken. */
async function* partsOf(path: string, from: number, size: number, onLast: () => void) {
  // The file is read to its end although a newer one takes its name.
  await using file = await open(path);
  if ((await file.stat()).size !== size) return false;
  for (let position = from; position < size; ) {
    const length = Math.min(PART_BYTES, Math.max(1, size - 1 - position));
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
    if (bytesRead === 0) return false;
    if (position === size - 1) onLast();
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
  return true;
}
