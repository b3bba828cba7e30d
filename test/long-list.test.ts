// Anyone can make a wallet with very many delegations. Lists it whole and in pages, to fast and stalled readers, in constant
// memory, while checks continue.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { temporaryPath } from './support/engines.ts';
import { address, HOT } from './support/fixtures.ts';
import { fillLongList } from './support/long-list.ts';
import { ownMemory } from './support/processes.ts';
import { runCommand, type ServeProcess, startServe } from './support/serve-process.ts';

const COUNT = 150_000;
/** A reader that stalls this long is disconnected. */
const IDLE_SECONDS = 12;
/** Less than the lists of the stalled readers would take. */
const MOST_GROWTH = 160e6;

let served: ServeProcess;
/** Lists without a key have a pace. */
let key: string;

beforeAll(async () => {
  const url = `sqlite:${temporaryPath('long.db')}`;
  await fillLongList(url, COUNT, 100_000);
  key = (await runCommand(['keys', 'create', '--label', 'lists'], { DATABASE_URL: url })).stdout.trim();
  served = await startServe(url, { MAX_LAG_1: '86400', IDLE_TIMEOUT: String(IDLE_SECONDS) });
}, 600_000);
afterAll(() => served.stop());

const memory = () => ownMemory(served.pid);

const LIST = `/registry/v2/${HOT}`;
const withKey = (path: string) => fetch(served.url + path, { headers: { 'X-API-KEY': key } });
const idsOf = (text: string) => [...text.matchAll(/"tokenId":(\d+)/g)].map(([, id]) => Number(id));

/** Reads a whole list as a stream, and keeps only the token ids. */
async function whole(): Promise<{ ids: Set<number>; ended: boolean }> {
  const response = await withKey(LIST);
  const ids = new Set<number>();
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf('}') + 1;
    for (const id of idsOf(text.slice(0, end))) ids.add(id);
    rest = text.slice(end);
  }
  return { ids, ended: rest === ']' };
}

async function pages(): Promise<Set<number>> {
  const ids = new Set<number>();
  for (let path: string | undefined = `${LIST}?limit=2000`; path !== undefined; ) {
    const response: Response = await withKey(path);
    for (const id of idsOf(await response.text())) ids.add(id);
    const next = /<(.+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
    path = next && LIST + next;
  }
  return ids;
}

/** Reads the start of a list and then stalls. Returns the time until it was disconnected, and what it received. */
async function stalled(): Promise<{ seconds: number; bytes: number; ended: boolean }> {
  const { hostname, port } = new URL(served.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${LIST} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${key}\r\n\r\n`);
  let [bytes, tail] = [0, ''];
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    tail = (tail + chunk.toString('latin1')).slice(-16);
  });
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.pause();
  const began = performance.now();
  // It resumes long after the limit, and receives only data that was in flight when it was disconnected.
  await Bun.sleep((IDLE_SECONDS + 8) * 1000);
  socket.resume();
  await closed;
  return { seconds: (performance.now() - began) / 1000, bytes, ended: tail.endsWith(']\r\n0\r\n\r\n') };
}

/** Sends one check after another while the work runs. */
async function checksDuring(work: Promise<unknown>): Promise<number[]> {
  let busy = true;
  void work.finally(() => {
    busy = false;
  });
  const times: number[] = [];
  while (busy) {
    const began = performance.now();
    const query = `to=${HOT}&from=${address(0x10000)}&contract=${address(0xcc)}&tokenId=0`;
    const response = await fetch(`${served.url}/registry/v2/check/erc721?${query}`);
    expect([response.status, await response.text()]).toEqual([200, 'true']);
    times.push(performance.now() - began);
    await Bun.sleep(5);
  }
  return times.sort((a, b) => a - b);
}

test('lists 150,000 delegations whole and in pages, to stalled readers too, in constant memory, while checks continue', async () => {
  // Warm up, to measure the baseline memory of a running server.
  for (let turn = 0; turn < 3000; turn++) await fetch(`${served.url}${LIST}?limit=20`).then((one) => one.text());
  const before = memory();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, memory());
  }, 50);

  const slow = Promise.all([stalled(), stalled()]);
  const fast = whole();
  const times = await checksDuring(fast);
  const { ids, ended } = await fast;
  const whileWhole = most;
  expect([ids.size, ended]).toEqual([COUNT, true]);
  const paged = await pages();
  expect(paged.size).toBe(COUNT);
  expect(paged).toEqual(ids);
  const cut = await slow;
  clearInterval(watch);

  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
  console.log(
    `a list of ${COUNT}: memory ${(before / 1e6).toFixed(0)} MB, at most ${(whileWhole / 1e6).toFixed(0)} while it is read whole, ${(most / 1e6).toFixed(0)} in all; ` +
      `${times.length} concurrent checks, median ${at(0.5)} ms, p99 ${at(0.99)} ms; ` +
      `stalled readers got ${cut.map(({ bytes }) => `${(bytes / 1e6).toFixed(1)} MB`).join(' and ')}`,
  );
  expect(most - before).toBeLessThan(MOST_GROWTH);
  // A server that did one thing at a time would answer one or two.
  expect(times.length).toBeGreaterThan(20);
  // Disconnected without the final chunk, so that a partial list does not look complete.
  for (const { ended: looksWhole } of cut) expect(looksWhole).toBe(false);
});

test('ANONYMOUS_LIMIT=off is for requests: a list without a key keeps its pace, and an address its ten streams', async () => {
  const began = performance.now();
  const reader = (await fetch(served.url + LIST)).body?.getReader();
  let [rows, rest] = [0, ''];
  while (rows < 30_000) {
    const text = rest + Buffer.from((await reader?.read())?.value ?? []).toString();
    rows += idsOf(text.slice(0, -30)).length;
    rest = text.slice(-30).replace(/^.*"tokenId":\d+/s, '');
  }
  await reader?.cancel();
  // 20,000 at once, and then 10,000 a second.
  expect(performance.now() - began).toBeGreaterThan(700);

  const closing = new AbortController();
  const open = () =>
    fetch(`${served.url}/registry/any/changes?chainId=1&start=head`, {
      headers: { accept: 'text/event-stream' },
      signal: closing.signal,
    });
  const streams = await Promise.all(Array.from({ length: 11 }, open));
  expect(streams.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), 429]);
  closing.abort();
});
