// Archives over HTTP as operators use them: a service publishes them, a mirror copies them, and another machine starts from them.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerArchive } from '../src/http/answers/archive.ts';
import { writeArchive } from '../src/store/archive-folder.ts';
import { openStore } from '../src/store/open.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { createChainMaker, startFakeNode } from './support/fake-node.ts';
import { block, COLD, granted, HOT } from './support/fixtures.ts';
import { runCommand, type ServeProcess, startServe } from './support/serve-process.ts';

const FILE = 'ethereum.delegations.gz';
const databaseUrl = `sqlite:${temporaryPath('published.db')}`;
const folderOf = (name: string) => {
  const folder = temporaryPath(name);
  mkdirSync(folder);
  return folder;
};

async function fill(url: string, last = 106): Promise<void> {
  await using store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const blocks = [block(101, [granted('ALL')]), block(103, [granted('CONTRACT'), granted('ERC721')])];
  const head = block(last);
  await store.apply({ chainId: 1, epoch, after: null, blocks, head, verified: head.number });
}

let service: ServeProcess;
beforeAll(async () => {
  await fill(databaseUrl);
  service = await startServe(databaseUrl, { ARCHIVE: 'on' }, 'api');
  await eventually('the archives are written', async () => (await get('index.json')).status === 200);
});
afterAll(() => service.stop());

const get = (file: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}/archive/${file}`, { headers });
const whole = async () => Buffer.from(await (await get(FILE)).arrayBuffer());

describe('a service that publishes archives', () => {
  test('has a manifest that describes them', async () => {
    const { archives } = (await (await get('index.json')).json()) as { archives: Record<string, unknown>[] };
    const bytes = await whole();
    const sha256 = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
    expect(archives).toMatchObject([
      { file: FILE, chainId: 1, schema: 2, logs: 3, blocks: 2, size: bytes.length, sha256 },
    ]);
    // The newest block with logs, whatever the head is.
    expect(archives[0]?.['last']).toMatchObject({ number: 103 });
  });

  test('sends them whole, from a byte on, or not again', async () => {
    const first = await get(FILE);
    const etag = first.headers.get('etag') ?? '';
    // Who is being sent a file gets no other.
    const bytes = Buffer.from(await first.arrayBuffer());
    const rest = await get(FILE, { range: 'bytes=10-', 'if-range': etag });
    expect([rest.status, rest.headers.get('content-range')]).toEqual([
      206,
      `bytes 10-${bytes.length - 1}/${bytes.length}`,
    ]);
    expect(Buffer.from(await rest.arrayBuffer()).equals(bytes.subarray(10))).toBe(true);
    const other = await get(FILE, { range: 'bytes=10-', 'if-range': '"another"' });
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, bytes.length]);
    const end = await get(FILE, { range: `bytes=${bytes.length}-`, 'if-range': etag });
    expect([end.status, end.headers.get('content-range')]).toEqual([416, `bytes */${bytes.length}`]);
    expect((await get(FILE, { 'if-none-match': etag })).status).toBe(304);
    const head = await fetch(`${service.url}/archive/${FILE}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
  });

  test('sends the next one to who has just got the last byte of one', async () => {
    const folder = folderOf('of-one');
    await using store = await openStore(databaseUrl);
    const { size } = await writeArchive(store, 1, folder);
    let sending = 0;
    const beginFile = () => {
      sending++;
      return () => void sending--;
    };
    const service = { archives: { folder, refresh() {} }, longLists: { beginFile }, answerTimeout: 10 };
    const request = new Request(`http://localhost/archive/${FILE}`);
    const call = { request, path: { file: FILE }, service, caller: () => null };
    const { body } = await answerArchive(call as never);
    let read = 0;
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      read += chunk.length;
      expect([read, sending]).toEqual([read, read === size ? 0 : 1]);
    }
    expect(read).toBe(size);
  });

  test('sends nothing else', async () => {
    for (const path of ['other.delegations.gz', '..%2Findex.json', '.index.json'])
      expect((await fetch(`${service.url}/archive/${path}`)).status).toBe(404);
  });
});

describe('a mirror', () => {
  test('copies what is published, once, and is itself a folder to import from', async () => {
    const to = folderOf('mirror');
    const args = ['mirror', '--from', `${service.url}/archive`, '--to', to, '--once'];
    const first = await runCommand(args);
    expect([first.stderr, first.code]).toEqual(['', 0]);
    expect(first.stdout).toContain(`${FILE}: 3 logs up to block 103`);
    expect(readdirSync(to).sort()).toEqual([FILE, 'index.json']);
    expect(readFileSync(join(to, FILE)).equals(await whole())).toBe(true);
    expect((await runCommand(args)).stdout).toBe('');
    // One that was damaged in the folder of the publisher is not taken.
    const web = serveFolder(to);
    const damaged = readFileSync(join(to, FILE));
    damaged[40] = (damaged[40] ?? 0) ^ 1;
    writeFileSync(join(to, FILE), damaged);
    const other = folderOf('other');
    const refused = await runCommand(['mirror', '--from', web.url, '--to', other, '--once']);
    expect(refused.stderr).toContain('its SHA-256 differs');
    expect(refused.code).not.toBe(0);
    expect(readdirSync(other)).toEqual([]);
    await web.stop();
  });

  test('says what is wrong with its options', async () => {
    const to = folderOf('unused');
    expect((await runCommand(['mirror', '--to', to])).stderr).toContain('--from and --to are needed');
    expect((await runCommand(['mirror', '--from', 'ftp://a', '--to', to])).stderr).toContain('--from must be a URL');
    const none = await runCommand(['mirror', '--from', service.url, '--to', to, '--once']);
    expect(none.stderr).toContain('it is no folder of archives');
  });
});

/** As nginx or a bucket does. */
function serveFolder(folder: string) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const file = Bun.file(join(folder, new URL(request.url).pathname));
      return (await file.exists()) ? new Response(file) : new Response(null, { status: 404 });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/`, stop: () => server.stop(true) };
}

describe('an import by HTTP', () => {
  const imported = (url: string, database = `sqlite:${temporaryPath('imported.db')}`, tmp = folderOf('tmp')) =>
    runCommand(['import', url], { DATABASE_URL: database, TMPDIR: tmp });

  test('reads what a service publishes, and leaves nothing behind', async () => {
    const tmp = folderOf('tmp');
    const database = `sqlite:${temporaryPath('imported.db')}`;
    const { stdout, stderr, code } = await imported(`${service.url}/archive/${FILE}`, database, tmp);
    expect([stderr, code]).toEqual(['', 0]);
    expect(stdout).toContain('Chain 1: imported 3 logs up to block 103.');
    expect(readdirSync(tmp)).toEqual([]);
    await using store = await openStore(database, { readOnly: true });
    expect(await store.chain(1)).toMatchObject({
      imported: { to: 103, comparedFrom: 104, isCounted: false },
      halt: null,
    });
    // What was imported makes the same bytes again.
    const again = folderOf('again');
    await writeArchive(store, 1, again);
    expect(readFileSync(join(again, FILE)).equals(await whole())).toBe(true);
  });

  test('is answered at once, or when it is confirmed if the operator wants that', async () => {
    const database = `sqlite:${temporaryPath('imported.db')}`;
    expect((await imported(`${service.url}/archive/${FILE}`, database)).code).toBe(0);
    const ask = async (variables: Record<string, string>) => {
      const { url, stop } = await startServe(database, variables, 'api');
      const check = await fetch(`${url}/registry/v2/check/all?from=${COLD}&to=${HOT}&chainId=1&block=102`);
      const networks = (await (await fetch(`${url}/networks`)).json()) as { chainId: number }[];
      const answer = {
        status: check.status,
        text: await check.text(),
        network: networks.find(({ chainId }) => chainId === 1),
      };
      await stop();
      return answer;
    };
    expect(await ask({})).toMatchObject({
      status: 200,
      text: 'true',
      network: { imported: { to: 103, confirmed: 0 } },
    });
    const refused = await ask({ IMPORT_TRUST: 'none' });
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({
      type: expect.stringContaining('chain-not-ready'),
      detail: 'Chain 1 was imported, and is answered when all of it is confirmed: 0 %.',
    });
  });

  test('refuses a flipped byte, a truncated file and another file, and imports nothing', async () => {
    const folder = folderOf('damaged');
    const bytes = await whole();
    const web = serveFolder(folder);
    const database = `sqlite:${temporaryPath('refused.db')}`;
    const flipped = Buffer.from(bytes);
    flipped[60] = (flipped[60] ?? 0) ^ 1;
    for (const [body, why] of [
      [flipped, /not a complete gzip|checksum|damaged|not JSON/],
      [bytes.subarray(0, bytes.length - 20), /not a complete gzip/],
      [Buffer.from('<html>'), /not an archive/],
    ] as const) {
      writeFileSync(join(folder, FILE), body);
      const { stderr, code } = await imported(`${web.url}${FILE}`, database);
      expect(stderr).toMatch(why);
      expect(code).not.toBe(0);
    }
    expect((await imported(`${web.url}none.gz`, database)).stderr).toContain('answered HTTP 404');
    // The manifest shows it before the file is read.
    writeFileSync(join(folder, 'index.json'), await (await get('index.json')).text());
    writeFileSync(join(folder, FILE), flipped);
    expect((await imported(`${web.url}${FILE}`, database)).stderr).toContain('its SHA-256 differs');
    await using store = await openStore(database);
    expect(await store.chains()).toEqual([]);
    await web.stop();
  });

  test('refuses what is not of the chain of the provider, and imports nothing', async () => {
    const { block: make } = createChainMaker(100);
    const chain = [make(null, [])];
    while (chain.length < 20) chain.push(make(chain.at(-1) ?? null, []));
    const node = startFakeNode(chain);
    const database = `sqlite:${temporaryPath('refused.db')}`;
    const run = () =>
      runCommand(['import', `${service.url}/archive/${FILE}`], { DATABASE_URL: database, RPC_URL_1: node.url });
    expect(await run()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('block 103 has another hash on chain 1. Nothing was written.'),
    });
    node.chainId = 10;
    expect(await run()).toMatchObject({ code: 2, stderr: expect.stringMatching(/chain 1.*wrong-chain/) });
    expect(existsSync(database.slice('sqlite:'.length))).toBe(false);
    await node.stop();
  });
});

test('two indexes of the same blocks export the same bytes, whatever their heads are', async () => {
  const other = `sqlite:${temporaryPath('other.db')}`;
  await fill(other, 140);
  const folder = folderOf('export');
  const { stdout, code } = await runCommand(['export', '--to', folder], { DATABASE_URL: other });
  expect(code).toBe(0);
  expect(stdout).toContain(`${FILE}: 3 logs up to block 103`);
  expect(readFileSync(join(folder, FILE)).equals(await whole())).toBe(true);
  // A second chain's entry stays.
  const manifest = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
  manifest.archives.push({ ...manifest.archives[0], chainId: 10, file: 'optimism.delegations.gz' });
  writeFileSync(join(folder, 'index.json'), JSON.stringify(manifest));
  await runCommand(['export', '--to', folder], { DATABASE_URL: other });
  const chains = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')).archives;
  expect(chains.map((one: { chainId: number }) => one.chainId)).toEqual([1, 10]);
  rmSync(folder, { recursive: true });
});
