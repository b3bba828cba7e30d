// Reads the lines of a file, gzipped or not, at the pace of its reader.

import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../service/usage-error.ts';

const GZIP_MAGIC = [0x1f, 0x8b];

export async function* readLines(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of await chunksOf(path)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

async function chunksOf(path: string): Promise<AsyncIterable<Uint8Array>> {
  const start = await Bun.file(path).slice(0, GZIP_MAGIC.length).bytes();
  return GZIP_MAGIC.every((byte, position) => start[position] === byte) ? unzipped(path) : Bun.file(path).stream();
}

async function* unzipped(path: string): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path);
  const unzip = file.pipe(createGunzip());
  file.on('error', (error) => unzip.destroy(error));
  try {
    for await (const chunk of unzip) yield chunk;
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('Z_')) throw error;
    throw new UsageError(`${path} is not a complete gzip file: ${(error as Error).message}`);
  } finally {
    file.destroy();
  }
}
