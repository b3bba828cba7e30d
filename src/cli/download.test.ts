import { afterAll, beforeEach, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { temporaryPath } from '../../test/support/engines.ts';
import { type DownloadOptions, download } from './download.ts';

const BODY = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251));
const QUICK = { firstPauseMs: 1 };

/** What a server does with one request after another. It says nothing after `bytes`. */
interface Turn {
  readonly status?: number;
  readonly bytes?: number;
  readonly hangs?: boolean;
  readonly etag?: string | null;
  readonly body?: Buffer;
  readonly noLength?: boolean;
}

let turns: Turn[] = [];
let asked: string[] = [];
/** The file that is being downloaded. */
let path = '';
const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.once('data', (data) => {
    const head = data.toString();
    const range = /range: bytes=(\d+)-/i.exec(head)?.[1];
    const version = /if-range: (\S+)/i.exec(head)?.[1];
    asked.push(`${range ?? 'whole'} ${version ?? ''}`.trim());
    const turn = turns.shift() ?? {};
    const { status, etag = '"one"', body = BODY, noLength } = turn;
    const tag = etag === null ? '' : `ETag: ${etag}\r\n`;
    const close = 'Connection: close\r\n\r\n';
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n${close}`);
    const from = range !== undefined && version === etag ? Number(range) : 0;
    if (from > 0 && from >= body.length)
      return void socket.end(
        `HTTP/1.1 416 No\r\nContent-Range: bytes */${body.length}\r\nContent-Length: 0\r\n${close}`,
      );
    const of = from === 0 ? '' : `Content-Range: bytes ${from}-${body.length - 1}/${body.length}\r\n`;
    const length = noLength ? '' : `Content-Length: ${body.length - from}\r\n`;
    socket.write(`HTTP/1.1 ${from === 0 ? 200 : 206} Yes\r\n${tag}${of}${length}${close}`);
    const sent = body.subarray(from, from + (turn.bytes ?? body.length));
    socket.write(sent);
    const end = () => (sizeOf(path) >= from + sent.length ? socket.end() : setTimeout(end, 1));
    // What is still on its way when a connection breaks may be lost.
    if (!turn.hangs) end();
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/a.gz`;
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});
beforeEach(() => {
  [turns, asked] = [[], []];
});

async function fetched(some: Turn[], options: DownloadOptions = {}, to = temporaryPath('file')) {
  [turns, path] = [some, to];
  await download(url, path, { ...QUICK, ...options });
  return readFileSync(path).equals(BODY);
}

test('goes on where the connection broke, three times', async () => {
  const cuts = [{ bytes: 100_000 }, { bytes: 50_000 }, { bytes: 1 }, {}];
  expect(await fetched(cuts)).toBe(true);
  expect(asked).toEqual(['whole', '100000 "one"', '150000 "one"', '150001 "one"']);
});

test('goes on where an earlier run stopped, and asks no more for a file that is there', async () => {
  const to = temporaryPath('file');
  const failing = [{ bytes: 1000 }, ...Array(20).fill({ status: 503 })];
  await expect(fetched(failing, {}, to)).rejects.toThrow('cannot be read: HTTP 503');
  expect(await fetched([{}], {}, to)).toBe(true);
  expect(asked.at(-1)).toBe('1000 "one"');
  expect(await fetched([{}], {}, to)).toBe(true);
  expect(asked.at(-1)).toBe(`${BODY.length} "one"`);
});

test('begins anew if the file has changed meanwhile, is shorter now, or has no version', async () => {
  expect(await fetched([{ bytes: 1000, etag: '"old"', body: Buffer.alloc(5000) }, {}])).toBe(true);
  const longer = Buffer.alloc(BODY.length + 5000);
  expect(await fetched([{ bytes: BODY.length + 1000, etag: '"one"', body: longer }, {}, {}])).toBe(true);
  expect(await fetched([{ bytes: 1000, etag: null }, { etag: null }])).toBe(true);
  expect(asked.at(-1)).toBe('whole');
});

test('asks again if nothing comes', async () => {
  expect(await fetched([{ bytes: 1000, hangs: true }, {}], { stallMs: 50 })).toBe(true);
});

test('gives up on a refusal at once, and on what brings nothing after some attempts', async () => {
  await expect(fetched([{ status: 404 }])).rejects.toThrow('answered HTTP 404');
  expect(asked).toHaveLength(1);
  await expect(fetched(Array(20).fill({ bytes: 0 }))).rejects.toThrow('cannot be read');
  expect(asked).toHaveLength(7);
});

test('takes no more bytes than expected', async () => {
  const to = temporaryPath('file');
  await expect(fetched([{}], { maxBytes: 1000 }, to)).rejects.toThrow('larger than its manifest says');
  expect(sizeOf(to)).toBeLessThanOrEqual(1000);
});

test('says how far it is', async () => {
  const seen: [number, number | null][] = [];
  await fetched([{ bytes: 100_000 }, {}], { onProgress: (done, total) => void seen.push([done, total]) });
  expect(seen.every(([, total]) => total === BODY.length)).toBe(true);
  expect(seen.map(([done]) => done)).toEqual(seen.map(([done]) => done).toSorted((a, b) => a - b));
  expect(seen.at(-1)?.[0]).toBe(BODY.length);
});
