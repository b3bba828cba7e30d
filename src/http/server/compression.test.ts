// Which responses are compressed, over a real connection.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { rawClient } from '../../../test/support/raw-http.ts';
import { serving } from '../../../test/support/serving.ts';
import { onBodySent } from '../../api/sized-response.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { ASSETS } from '../../web/page.ts';
import type { RunningServer } from './listener.ts';

let store: Store;
let server: RunningServer;
/** The size of each body by the request log. */
const logged: number[] = [];
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('compression.db')}`);
  server = serving(store, 0, {
    onAnswer: ({ method }, _request, response) => onBodySent(method, response, (bytes) => logged.push(bytes)),
  });
});
afterAll(async () => {
  await server.stop();
  await store.close();
});

const request = (method: string, path: string, encoding: string) =>
  `${method} ${path} HTTP/1.1\r\nHost: example.org\r\nAccept-Encoding: ${encoding}\r\n\r\n`;
const read = (body: string) => new TextDecoder().decode(Bun.gunzipSync(Buffer.from(body, 'latin1')));

const TEXTS = ['/', '/status', '/docs', '/docs.md', '/llms.txt', '/openapi.json', '/openapi.yaml'];

describe.each([...TEXTS, '/style.css'])('%s', (path) => {
  test('is compressed for those who accept it, with its length, and says so to caches', async () => {
    const client = rawClient(server.url);
    const plain = await client.send(request('GET', path, 'identity'));
    expect([plain?.status, plain?.headers.get('content-encoding')]).toEqual([200, undefined]);
    const small = await client.send(request('GET', path, 'gzip, br'));
    expect([small?.status, small?.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    expect(read(small?.body ?? '')).toBe(Buffer.from(plain?.body ?? '', 'latin1').toString('utf8'));
    for (const answer of [plain, small]) {
      expect(answer?.headers.get('vary')).toStartWith('Accept-Encoding');
      const isLarge = (answer?.body.length ?? 0) > 256 * 1024;
      expect(answer?.headers.get('content-length')).toBe(isLarge ? undefined : String(answer?.body.length));
    }
    expect(logged.slice(-2)).toEqual([plain?.body.length ?? 0, small?.body.length ?? 0]);
    const head = await client.send(request('HEAD', path, 'gzip, br'), { head: true });
    for (const name of ['content-length', 'content-encoding', 'vary', 'cache-control'])
      expect([name, head?.headers.get(name)]).toEqual([name, small?.headers.get(name)]);
    client.close();
  });
});

test('every asset can be read by those who accept gzip, and by those who do not', async () => {
  for (const path of ASSETS.keys()) {
    const [plain, small] = await Promise.all(
      ['identity', 'gzip'].map(async (encoding) =>
        (await fetch(server.url + path, { headers: { 'accept-encoding': encoding } })).bytes(),
      ),
    );
    expect([path, plain?.length, small]).toEqual([path, expect.any(Number), plain]);
  }
});

test('answers of the API and problems are not compressed', async () => {
  for (const path of ['/networks', '/health', '/nope', '/developers/session', '/registry/v2/check/all']) {
    const { headers } = await fetch(server.url + path, { headers: { 'accept-encoding': 'gzip' } });
    expect([path, headers.get('content-encoding')]).toEqual([path, null]);
  }
});
