// What real clients of this interface send, against the real process on a real socket.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createKey } from '../src/accounts/key.ts';
import type { Bytes32 } from '../src/registry/delegation.ts';
import { rightsOf } from '../src/registry/rights.ts';
import { openStore } from '../src/store/open.ts';
import { startBrowser } from './support/browser.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT } from './support/fixtures.ts';
import { type RawAnswer, rawClient } from './support/raw-http.ts';
import { runCommand, type ServeProcess, startServe } from './support/serve-process.ts';

const url = `sqlite:${temporaryPath('clients.db')}`;
const V1 = `/registry/v1/check/all?delegate=${HOT}&vault=${COLD}`;
const V2 = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;
const LIMITS = { ANONYMOUS_LIMIT: '25/3600s', TRUSTED_PROXIES: '127.0.0.1', MAX_LAG_1: '86400' };
/** May act on one contract only. */
const NARROW = address(0xa1);
/** Has granted one token of each standard, and a right. */
const GRANTER = address(0xa2);
/** Acts for two wallets and has granted something itself. */
const AGENT = address(0xa3);
const FIRST_VAULT = address(0xa5);
const SECOND_VAULT = address(0xa4);
const VOTE = rightsOf('vote') as Bytes32;
let served: ServeProcess;
/** With COMPATIBLE=on. */
let lenient: ServeProcess;

beforeAll(async () => {
  const store = await openStore(url);
  const { epoch } = await store.claim(1, 100);
  const now = Math.floor(Date.now() / 1000);
  const from = { from: GRANTER };
  const events = [
    granted('ALL'),
    granted('ALL', { version: 1 }),
    granted('CONTRACT', { to: NARROW }),
    granted('ALL', { ...from, rights: VOTE }),
    granted('ERC721', from),
    granted('ERC20', from),
    granted('ERC1155', from),
    granted('ERC721', { ...from, tokenId: 8n, rights: VOTE }),
    granted('TOKEN', from),
    granted('ALL', { from: AGENT }),
    granted('ALL', { from: FIRST_VAULT, to: AGENT }),
    granted('ALL', { from: SECOND_VAULT, to: AGENT }),
    ended('ALL', { from: FIRST_VAULT, to: AGENT }),
    granted('ALL', { from: FIRST_VAULT, to: AGENT }),
  ];
  const head = { ...block(101, events), timestamp: now };
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  await store.close();
  served = await startServe(url, LIMITS);
  lenient = await startServe(url, { ...LIMITS, COMPATIBLE: 'on' });
});
afterAll(async () => {
  await served.stop();
  await lenient.stop();
});

let clients = 0;
/** A caller that has not sent anything yet. */
const newcomer = () => `198.51.${Math.floor(++clients / 250)}.${(clients % 250) + 1}`;
const ask = (to: ServeProcess, client: string, target: string, headers: Record<string, string> = {}) =>
  fetch(to.url + target, { headers: { 'x-forwarded-for': client, ...headers } });
const detailOf = async (response: Response) => ((await response.json()) as { detail: string }).detail;
const newKey = async () =>
  (await runCommand(['keys', 'create', '--label', 'client'], { DATABASE_URL: url })).stdout.trim();
async function exhaust(to: ServeProcess, client: string) {
  for (let turn = 0; turn < 25; turn++) await ask(to, client, V2);
}

describe('X-API-KEY', () => {
  test('an empty key counts as none: a Go client always sends the header', async () => {
    const client = newcomer();
    const raw = rawClient(served.url);
    for (const [turn, line] of ['X-API-KEY:', 'X-API-KEY: ', 'x-api-key:\t'].entries()) {
      const answer = await raw.send(
        `GET ${V2} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\nUser-Agent: Go-http-client/1.1\r\n${line}\r\n\r\n`,
      );
      expect([line, answer?.status, answer?.body]).toEqual([line, 200, 'true']);
      expect(answer?.headers.get('ratelimit')).toStartWith(`"anon";r=${24 - turn};`);
      expect(answer?.headers.get('cache-control')).toStartWith('public');
    }
    raw.close();
  });

  test("another provider's key is 401, unless COMPATIBLE=on: then it counts as none", async () => {
    for (const foreign of ['9f3a7c1e-0b5d-4d8e-8a57-0d1c2b3a4f5e', createKey().text]) {
      expect((await ask(served, newcomer(), V2, { 'x-api-key': foreign })).status).toBe(401);
      const response = await ask(lenient, newcomer(), V2, { 'x-api-key': foreign });
      expect([response.status, await response.text()]).toEqual([200, 'true']);
      expect(response.headers.get('ratelimit')).toStartWith('"anon";r=24;');
    }
    const client = newcomer();
    const key = await newKey();
    await exhaust(lenient, client);
    const refused = await ask(lenient, client, V2, { 'x-api-key': 'foreign' });
    expect([refused.status, await detailOf(refused)]).toEqual([
      429,
      expect.stringMatching(/seconds\. The API key is unknown, malformed, expired or revoked\. See \/developers\.$/),
    ]);
    expect((await ask(lenient, client, V2, { 'x-api-key': key })).status).toBe(200);
  });

  test('with COMPATIBLE=on lists name token standards without being asked', async () => {
    const typesOf = async (to: ServeProcess, path: string) => {
      const body = (await (await ask(to, newcomer(), path)).json()) as
        | { type: string }[]
        | { delegations: { type: string }[] };
      return new Set((Array.isArray(body) ? body : body.delegations).map(({ type }) => type));
    };
    for (const path of [`/registry/v2/${GRANTER}`, `/registry/any/${GRANTER}`]) {
      expect(await typesOf(served, path)).toEqual(new Set(['ALL', 'TOKEN']));
      expect(await typesOf(lenient, path)).toEqual(
        new Set(['ALL', 'ERC721', 'ERC20', 'ERC1155', ...(path.includes('any') ? ['TOKEN'] : [])]),
      );
    }
  });

  test('with COMPATIBLE=on the requests of public clients are answered with another base URL alone', async () => {
    const raw = rawClient(lenient.url);
    const foreign = 'X-API-KEY: 9f3a7c1e-0b5d-4d8e-8a57-0d1c2b3a4f5e\r\n';
    const json = 'Accept: application/json\r\n';
    const pairs = { v1: `delegate=${HOT}&vault=${COLD}`, v2: `to=${HOT}&from=${COLD}` };
    const token = `contract=${CONTRACT}&tokenId=7&chainId=1`;
    const rows = expect.stringMatching(/^\[\{"type":"ALL",/);
    for (const [target, headers, body] of [
      // Lists: from Python, React, a static page, axios with a key, Nuxt, Next and an allowlist script.
      [`/registry/v2/${HOT}?chainId=1`, 'User-Agent: python-requests/2.31\r\n', rows],
      [`/registry/v2/${HOT}`, '', rows],
      [`/registry/v2/${encodeURIComponent(HOT)}`, 'Origin: https://a.example\r\n', rows],
      [`/registry/v2/${HOT}`, `${foreign}${json}`, rows],
      [`/registry/v1/${HOT}`, '', rows],
      [`/registry/v2/${HOT}?chainId=1`, `${foreign}Cache-Control: no-store\r\n`, rows],
      [`/registry/v2/${HOT}?chainId=1`, json, rows],
      // Checks of a Go client: its format of the whole wallet names a contract that it has not got.
      [`/registry/v1/check/all?${pairs.v1}&contract=%!s(MISSING)`, `${foreign}${json}`, 'true'],
      [`/registry/v1/check/contract?${pairs.v1}&contract=${CONTRACT}`, `${foreign}${json}`, 'true'],
      [`/registry/v1/check/token?${pairs.v1}&${token}`, `${foreign}${json}`, 'true'],
      [`/registry/v2/check/all?${pairs.v2}&contract=%!s(MISSING)`, `${foreign}${json}`, 'true'],
      [`/registry/v2/check/contract?${pairs.v2}&contract=${CONTRACT}`, `${foreign}${json}`, 'true'],
      [`/registry/v2/check/erc721?${pairs.v2}&${token}`, `${foreign}${json}`, 'true'],
    ] as const) {
      const head = `Host: x\r\nX-Forwarded-For: ${newcomer()}\r\n${headers}`;
      const answer = await raw.send(`GET ${target} HTTP/1.1\r\n${head}\r\n`);
      expect([target, answer?.status, answer?.body]).toEqual([target, 200, body]);
    }
    raw.close();
  });

  test('a value that the program did not have, and a parameter against caches, are explained', async () => {
    for (const [query, part] of [
      ['chainId=', 'wrote nothing: leave the parameter out'],
      ['rights=undefined', 'wrote undefined: leave the parameter out'],
      ['t=1699', 'against caches nothing is needed'],
      ['chainId=constructor', 'digits, not "constructor"'],
    ] as const)
      expect([query, await detailOf(await ask(served, newcomer(), `${V2}&${query}`))]).toEqual([
        query,
        expect.stringContaining(part),
      ]);
  });

  test('the 429 of v1 does not promise that a key removes its limit', async () => {
    const client = newcomer();
    const key = await newKey();
    await exhaust(served, client);
    const withKey = await ask(served, client, V1, { 'x-api-key': key });
    expect([withKey.status, await detailOf(withKey)]).toEqual([
      429,
      'Rate limit exceeded: at most 25 requests in any 3600 seconds. The API key is ignored here: v1 and the explorer do not take keys.',
    ]);
    expect(await detailOf(await ask(served, client, V1))).toEndWith(
      'On v2, requests with an API key are not limited: see /developers.',
    );
    expect(await detailOf(await ask(served, client, V2))).toEndWith(
      'Requests with an API key are not limited: see /developers.',
    );
  });
});

describe('a client that sends one set of parameters to every check', () => {
  const TARGET = `contract=${CONTRACT}&tokenId=7`;
  /** Each check, and the parameters of that set that it does not need. */
  const CHECKS = [
    ['v2', 'all', '', ['contract', 'tokenId']],
    ['v2', 'contract', `contract=${CONTRACT}`, ['tokenId']],
    ['v2', 'erc20', `contract=${CONTRACT}`, ['tokenId']],
    ['any', 'all', '', ['contract', 'tokenId']],
    ['any', 'contract', `contract=${CONTRACT}`, ['tokenId']],
    ['v1', 'all', '', ['contract', 'tokenId']],
    ['v1', 'contract', `contract=${CONTRACT}`, ['tokenId']],
  ] as const;
  const check = (version: string, scope: string, query: string) => {
    const wallets = version === 'v1' ? `delegate=${HOT}&vault=${COLD}` : `to=${HOT}&from=${COLD}`;
    return ask(served, newcomer(), `/registry/${version}/check/${scope}?${wallets}&numbers=string&${query}`);
  };

  for (const [version, scope, needed, stray] of CHECKS) {
    test(`${version} ${scope} ignores ${stray.join(' and ')}, whatever the value`, async () => {
      const expected = await (await check(version, scope, needed)).text();
      for (const name of stray) {
        for (const value of ['', 'null', 'undefined', '0x12', '-1', '1e3', '%ff', `7&${name}=8`, CONTRACT]) {
          const response = await check(version, scope, `${needed}&${name}=${value}`);
          expect([name, value, response.status, await response.text()]).toEqual([name, value, 200, expected]);
        }
      }
      expect((await check(version, scope, TARGET)).status).toBe(200);
    });

    test(`${version} ${scope} still rejects typos, other names, and faults in what it needs`, async () => {
      const typos = ['tokenid=7', 'Contract=0x', 'contracts=0x', 'token=7', 'tokenIds=7', 'amount=1'];
      for (const stray of [...typos, ...(needed === '' ? [] : ['contract=null']), 'chainId=x']) {
        const query = stray.startsWith('contract=') ? stray : `${needed}&${stray}`;
        const response = await check(version, scope, query);
        const { errors } = (await response.json()) as { errors: { parameter: string }[] };
        expect([response.status, errors.map(({ parameter }) => parameter)]).toEqual([400, [stray.split('=')[0] ?? '']]);
      }
    });
  }

  test('a check that needs them refuses bad ones, and an ignored contract never widens the answer', async () => {
    expect((await check('v2', 'erc721', 'contract=null&tokenId=7')).status).toBe(400);
    expect((await check('v2', 'erc721', `contract=${CONTRACT}&tokenId=undefined`)).status).toBe(400);
    const narrow = `to=${NARROW}&from=${COLD}&contract=${CONTRACT}`;
    const answers = ['contract', 'all'].map(async (scope) =>
      (await ask(served, newcomer(), `/registry/v2/check/${scope}?${narrow}`)).text(),
    );
    expect(await Promise.all(answers)).toEqual(['true', 'false']);
  });
});

test('a client that takes the first row of a v2 list gets the vault that granted first, the last its own grant', async () => {
  const rows = (await (await ask(served, newcomer(), `/registry/v2/${AGENT}`)).json()) as { from: string }[];
  const wallets = rows.map(({ from }) => from.toLowerCase());
  expect(wallets[0]).toBe(FIRST_VAULT);
  expect(wallets).toEqual([FIRST_VAULT, SECOND_VAULT, AGENT]);
});

describe('a client that filters a list by type', () => {
  interface Row {
    readonly type: string;
    readonly standard?: string | null;
    readonly tokenId: number | null;
  }
  const list = async (version: string, query: string) => {
    const response = await ask(served, newcomer(), `/registry/${version}/${GRANTER}?${query}`);
    return (await response.json()) as Row[];
  };
  const typesOf = async (version: string, query: string) => (await list(version, query)).map(({ type }) => type).sort();
  const V2_TYPES = ['ALL', 'TOKEN', 'TOKEN', 'TOKEN', 'TOKEN'];

  test('finds ERC721, ERC20 and ERC1155 with types=standard, and TOKEN without it', async () => {
    expect(await typesOf('v2', '')).toEqual(V2_TYPES);
    expect(await typesOf('v2', 'types=standard')).toEqual(['ALL', 'ERC1155', 'ERC20', 'ERC721', 'ERC721']);
    expect(await typesOf('v2', 'types=standard&detail=full&limit=50')).toEqual(await typesOf('v2', 'types=standard'));
    expect(await typesOf('v2', 'types=standard&type=TOKEN')).toEqual(['ERC1155', 'ERC20', 'ERC721', 'ERC721']);
    // The v1 registry does not know the standard of a token.
    expect(await typesOf('v1', 'types=standard')).toEqual(['TOKEN']);
    const response = await ask(served, newcomer(), `/registry/v2/${GRANTER}?types=erc`);
    expect([response.status, await detailOf(response)]).toEqual([400, 'types must be one of standard, not "erc"']);
  });

  test('gets only what is granted without a right with unrestricted=true', async () => {
    expect(await typesOf('v2', 'unrestricted=true')).toEqual(['TOKEN', 'TOKEN', 'TOKEN']);
    expect(await typesOf('v2', 'unrestricted=true&types=standard&limit=50')).toEqual(['ERC1155', 'ERC20', 'ERC721']);
    expect(await typesOf('v2', 'unrestricted=false')).toEqual(V2_TYPES);
    expect(await typesOf('v1', 'unrestricted=true')).toEqual(['TOKEN']);
    expect(await typesOf('v2', `unrestricted=false&rights=${VOTE}`)).toEqual(['ALL', 'TOKEN']);
    const response = await ask(served, newcomer(), `/registry/v2/${GRANTER}?unrestricted=true&rights=${VOTE}`);
    expect([response.status, await detailOf(response)]).toEqual([400, 'unrestricted cannot be combined with rights']);
  });

  test('a cursor of the whole list is not one of the unrestricted list', async () => {
    const page = await ask(served, newcomer(), `/registry/v2/${GRANTER}?limit=1`);
    const cursor = /cursor=([\w-]+)/.exec(page.headers.get('link') ?? '')?.[1];
    const status = async (query: string) =>
      (await ask(served, newcomer(), `/registry/v2/${GRANTER}?limit=1&cursor=${cursor}${query}`)).status;
    expect([await status(''), await status('&types=standard'), await status('&unrestricted=true')]).toEqual([
      200, 200, 400,
    ]);
  });
});

describe('a browser on another origin', () => {
  /** What tracing SDKs, API gateways and HTTP clients add to every request of a page. */
  const TRACING = {
    'sentry-trace': '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1',
    baggage: 'sentry-environment=production',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    tracestate: 'vendor=value',
    newrelic: 'eyJ2IjpbMCwxXX0=',
    'x-datadog-trace-id': '1234567890',
    'x-datadog-origin': 'rum',
    b3: '80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1',
    'x-amzn-trace-id': 'Root=1-5759e988-bd862e3fe1be46a994272793',
    'x-requested-with': 'XMLHttpRequest',
    'x-sdk-version': '0.6.0',
    'content-type': 'application/json',
    authorization: 'Bearer of-the-page',
  };

  test('may send any header, and reads the answer, its headers, its problems and its 304', async () => {
    const key = await newKey();
    const page = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () =>
        new Response('<!doctype html><link rel="icon" href="data:,">', { headers: { 'content-type': 'text/html' } }),
    });
    const browser = await startBrowser();
    try {
      const tab = await browser.newPage();
      const complaints: string[] = [];
      tab.on('console', (message) => complaints.push(message.text()));
      await tab.goto(page.url.href);
      const read = async (path: string, headers: Record<string, string>) =>
        (await tab.evaluate(
          `fetch(${JSON.stringify(served.url + path)}, { cache: 'no-store', headers: ${JSON.stringify(headers)} }).then(async (response) => ({
            status: response.status, text: await response.text(), block: response.headers.get('x-block-number'), etag: response.headers.get('etag'),
          }), String)`,
        )) as { status: number; text: string; block: string; etag: string };
      const headers = { ...TRACING, 'x-api-key': key };
      const answer = await read(V2, headers);
      expect(answer).toEqual({ status: 200, text: 'true', block: '101', etag: expect.any(String) });
      expect(await read(V1, TRACING)).toMatchObject({ status: 200, text: 'true' });
      expect(await read(V2, { ...headers, 'if-none-match': answer.etag })).toMatchObject({ status: 304, text: '' });
      expect(complaints).toEqual([]);
      expect(await read(`${V2}&chainid=1`, headers)).toMatchObject({ status: 400 });
      expect(await read(V2, { ...TRACING, 'x-api-key': 'foreign' })).toMatchObject({ status: 401 });
    } finally {
      await browser.close();
      await page.stop(true);
    }
  });
});

test('a 304 has neither Content-Type nor Content-Length; a HEAD has those of its GET, and no body', async () => {
  const raw = rawClient(served.url);
  const send = (method: string, path: string, etag = '') =>
    raw.send(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${newcomer()}\r\n${etag && `If-None-Match: ${etag}\r\n`}\r\n`,
      { head: method === 'HEAD' },
    );
  const NAMES = ['content-type', 'content-length', 'transfer-encoding', 'etag', 'x-block-number'];
  const named = (answer: RawAnswer | null) => NAMES.map((name) => answer?.headers.get(name));
  for (const path of [V2, `/registry/v2/${COLD}`, `/registry/v2/${COLD}?limit=1`, '/registry/v2/nobody', '/networks']) {
    const [got, head] = [await send('GET', path), await send('HEAD', path)];
    expect([path, head?.status, head?.body]).toEqual([path, got?.status, '']);
    expect([path, ...named(head)]).toEqual([path, ...named(got)]);
    const etag = got?.headers.get('etag');
    if (etag === undefined) continue;
    for (const method of ['GET', 'HEAD']) {
      const unchanged = await send(method, path, etag);
      expect([method, path, unchanged?.status]).toEqual([method, path, 304]);
      expect(named(unchanged)).toEqual([undefined, undefined, undefined, etag, '101']);
    }
  }
  raw.close();
});
