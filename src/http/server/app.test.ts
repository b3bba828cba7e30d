// The API without a socket: what callers rely on besides the answers themselves.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { App } from './app.ts';

const ORIGIN = 'http://localhost';

describe('the API', () => {
  let store: Store;
  let app: App;
  let now = timeOf(106);
  const failures: unknown[] = [];
  beforeAll(async () => {
    store = await openStore(`sqlite:${temporaryPath('api.db')}`);
    const { epoch } = await store.claim(1, 100);
    const tokens = Array.from({ length: 25 }, (_, id) => granted('ERC721', { from: address(5), tokenId: BigInt(id) }));
    const head = block(105);
    await store.apply({
      chainId: 1,
      epoch,
      after: null,
      blocks: [
        block(100),
        block(101, [granted('ALL'), granted('ERC20', { to: address(9) })]),
        block(103, tokens),
        head,
      ],
      head,
      verified: 102,
    });
    app = appOf(store, now, {
      chainIds: new Set([1, 8453]),
      now: () => now,
      maxLag: () => 120,
      onError: (error) => failures.push(error),
    });
  });
  afterAll(async () => {
    await store.close();
    expect(failures).toEqual([]);
  });

  const send = (path: string, init: RequestInit = {}) => app.fetch(new Request(ORIGIN + path, init));
  const CHECK = `/registry/v2/check/all?to=${HOT}&from=${COLD}`;
  /** The query of the next page. */
  const nextOf = (response: Response) => /<(\?.+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];

  test('says so where the registries may be older than what is indexed', async () => {
    const other = await openStore(`sqlite:${temporaryPath('partial.db')}`);
    const { epoch } = await other.claim(1, 100);
    const head = block(105, [granted('ALL')]);
    await other.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
    const asked = async () => {
      const response = await appOf(other, timeOf(106)).fetch(new Request(ORIGIN + CHECK));
      return response.headers.get('x-indexed-from');
    };
    expect(await asked()).toBeNull();
    await other.report(1, epoch, { partial: true });
    expect(await asked()).toBe('100');
    await other.close();
  });

  test('in a sandbox every answer says so, whatever it is', async () => {
    const sandbox = appOf(store, timeOf(106), { sandbox: true });
    for (const path of [CHECK, '/nothing', '/docs', '/networks', '/registry/v2/check/all']) {
      const response = await sandbox.fetch(new Request(ORIGIN + path));
      expect([path, response.headers.get('x-sandbox')]).toEqual([path, 'true']);
    }
    expect((await send(CHECK)).headers.has('x-sandbox')).toBe(false);
    const headers = { accept: 'text/html' };
    const says = async (of: App, path: string) =>
      (await (await of.fetch(new Request(ORIGIN + path, { headers }))).text()).includes('class="sandbox"');
    for (const path of ['/docs', '/nothing'])
      expect([path, await says(sandbox, path), await says(app, path)]).toEqual([path, true, false]);
  });

  test('in a sandbox a block that is not indexed yet is asked for again after a second', async () => {
    const request = () => new Request(`${ORIGIN}${CHECK}&block=106`);
    const sandbox = await appOf(store, timeOf(106), { sandbox: true }).fetch(request());
    const other = await appOf(store, timeOf(106)).fetch(request());
    expect([sandbox.status, sandbox.headers.get('retry-after')]).toEqual([503, '1']);
    expect([other.status, other.headers.get('retry-after')]).toEqual([503, '5']);
  });

  test('answers a check with the bare value and the block it is true for', async () => {
    const response = await send(CHECK);
    expect(await response.text()).toBe('true');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-block-number')).toBe('105');
    expect(response.headers.get('x-block-timestamp')).toBe(String(timeOf(105)));
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    // Ten seconds old, with a block every twelve.
    expect(response.headers.get('cache-control')).toBe('public, max-age=2');
  });

  test('answers an unchanged question with 304', async () => {
    const etag = (await send(CHECK)).headers.get('etag') ?? '';
    const again = await send(CHECK, { headers: { 'if-none-match': `"other", W/${etag}` } });
    expect(again.status).toBe(304);
    expect(again.headers.get('x-block-number')).toBe('105');
    expect(again.headers.has('content-type')).toBe(false);
    expect(await again.text()).toBe('');
    const list = `/registry/v2/${COLD}`;
    for (const path of [list, `${list}?limit=1`]) {
      const tag = (await send(path)).headers.get('etag') ?? '';
      const unchanged = await send(path, { headers: { 'if-none-match': tag } });
      expect([unchanged.status, unchanged.headers.has('content-type')]).toEqual([304, false]);
    }
  });

  test('explains what grants', async () => {
    const body = (await (await send(`${CHECK}&explain=true`)).json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      result: true,
      block: { number: 105 },
      delegations: [{ type: 'ALL', chainId: 1, since: { block: 101 } }],
    });
  });

  test('an answer is kept until the next block is due, whatever our clock says', async () => {
    const kept = async (at: number) => {
      now = at;
      try {
        return (await send(CHECK)).headers.get('cache-control');
      } finally {
        now = timeOf(106);
      }
    };
    expect(await kept(timeOf(105) + 11.9)).toBe('public, no-cache');
    expect(await kept(timeOf(105) + 12)).toBe('public, no-cache');
    // As slow as a clock may be.
    expect(await kept(timeOf(105) - 60)).toBe('public, max-age=12');
  });

  test('answers a preflight for any origin, at any path', async () => {
    for (const path of [CHECK, '/nope', `/${'x'.repeat(5000)}`]) {
      const { status, headers } = await send(path, { method: 'OPTIONS' });
      const named = ['origin', 'methods', 'headers'].map((of) => headers.get(`access-control-allow-${of}`));
      expect([status, ...named, headers.get('access-control-max-age')]).toEqual([
        204,
        '*',
        'GET, HEAD, OPTIONS',
        '*, Authorization',
        '86400',
      ]);
    }
  });

  test('a changed answer never keeps its tag', async () => {
    const own = await openStore(`sqlite:${temporaryPath('tags.db')}`);
    const { epoch } = await own.claim(1, 100);
    const first = await own.apply({ chainId: 1, epoch, after: null, blocks: [], head: block(100) });
    const tags = async () => {
      const asks = [CHECK, `${CHECK}&explain=true`, `/registry/v2/${HOT}`, `/registry/v2/${HOT}?limit=5`];
      const serving = appOf(own, timeOf(102));
      const found = await Promise.all(asks.map((path) => serving.fetch(new Request(ORIGIN + path))));
      return found.map(({ headers }) => headers.get('etag'));
    };
    const before = await tags();
    const state = await own.apply({ chainId: 1, epoch, after: first.head, blocks: [], head: block(101) });
    const emptyBlock = await tags();
    // The value and the lists are as they were; the explanation names another block.
    expect(emptyBlock.map((tag, turn) => tag === before[turn])).toEqual([true, false, true, true]);
    const granting = block(102, [granted('ALL')]);
    await own.apply({ chainId: 1, epoch, after: state.head, blocks: [granting], head: granting });
    const after = await tags();
    expect(after.map((tag, turn) => tag === emptyBlock[turn])).toEqual([false, false, false, false]);
    await own.close();
  });

  test("the first row of a v2 list is the contract's first: an incoming grant that keeps its place when renewed", async () => {
    const own = await openStore(`sqlite:${temporaryPath('first-row.db')}`);
    const { epoch } = await own.claim(1, 100);
    const [vault, other] = [granted('ALL', { from: address(7) }), granted('ALL', { from: address(8) })];
    const blocks = [
      block(100, [granted('ALL', { from: HOT, to: address(9) }), vault, other]),
      block(101, [ended('ALL', { from: address(7) })]),
      block(102, [vault]),
    ];
    await own.apply({ chainId: 1, epoch, after: null, blocks, head: blocks[2] as (typeof blocks)[number] });
    const response = await appOf(own, timeOf(102)).fetch(new Request(`${ORIGIN}/registry/v2/${HOT}`));
    expect(((await response.json()) as { from: string }[])[0]?.from).toBe(address(7));
    await own.close();
  });

  test('a list that would be refused is no 304', async () => {
    const headers = { 'if-none-match': '*' };
    expect((await send(`/registry/v2/${HOT}`, { headers })).status).toBe(304);
    expect((await send(`/registry/v2/${HOT}?limit=1`, { headers })).status).toBe(304);
    expect((await send(`/registry/v2/${HOT}?block=999`, { headers })).status).toBe(503);
    expect((await send(`/registry/v2/${HOT}?limit=1&block=5`, { headers })).status).toBe(404);
  });

  test('a cursor leads on in its own list of its own store, and nowhere else', async () => {
    const next = nextOf(await send(`/registry/v2/${HOT}?limit=2`)) ?? '';
    const statusOf = async (path: string) => (await send(path)).status;
    expect(await statusOf(`/registry/v2/${HOT}${next}`)).toBe(200);
    expect(await statusOf(`/registry/v2/${address(5)}${next}`)).toBe(400);
    expect(await statusOf(`/registry/v1/${HOT}${next}`)).toBe(400);
    expect(await statusOf(`/registry/v2/${HOT}${next}&direction=incoming`)).toBe(400);
    // A cursor whose side was changed: HOT has incoming delegations only.
    const incoming = `/registry/v2/${HOT}?limit=2&direction=incoming`;
    const text = new URLSearchParams(nextOf(await send(incoming))).get('cursor') ?? '';
    const changed = Buffer.from(Buffer.from(text, 'base64url').toString().replace(',0.', ',1.')).toString('base64url');
    expect([await statusOf(`${incoming}&cursor=${text}`), await statusOf(`${incoming}&cursor=${changed}`)]).toEqual([
      200, 400,
    ]);
    const other = await openStore(`sqlite:${temporaryPath('other.db')}`);
    const { epoch } = await other.claim(1, 100);
    await other.apply({ chainId: 1, epoch, after: null, blocks: [], head: block(105) });
    const elsewhere = await appOf(other, timeOf(105)).fetch(new Request(`${ORIGIN}/registry/v2/${HOT}${next}`));
    expect(elsewhere.status).toBe(409);
    await other.close();
  });

  test('the next page keeps what was asked, and drops what means nothing', async () => {
    const next = nextOf(await send(`/registry/v2/${HOT}?limit=2&type=TOKEN&utm_source=x&_=1`)) ?? '';
    expect([...new URLSearchParams(next).keys()]).toEqual(['limit', 'type', 'cursor']);
  });

  test('a filter may leave a page nearly empty, and the Link goes on', async () => {
    const wallet = address(5);
    const response = await send(`/registry/v2/${wallet}?limit=1&type=ALL`);
    expect([await response.text(), nextOf(response)]).toEqual(['[]', undefined]);
  });

  test('pages make the whole list, and the next page is linked', async () => {
    const wallet = address(5);
    const whole = await (await send(`/registry/v2/${wallet}`)).json();
    expect(whole).toHaveLength(25);
    const paged: unknown[] = [];
    for (let path: string | undefined = `/registry/v2/${wallet}?limit=10`; path !== undefined; ) {
      const response = await send(path);
      expect(response.status).toBe(200);
      paged.push(...((await response.json()) as unknown[]));
      const next = nextOf(response);
      path = next && `/registry/v2/${wallet}${next}`;
    }
    expect(paged).toEqual(whole as unknown[]);
  });

  test('filters a list', async () => {
    const count = async (query: string) =>
      ((await (await send(`/registry/v2/${HOT}?${query}`)).json()) as unknown[]).length;
    expect(await count('type=ALL')).toBe(1);
    expect(await count(`contract=${CONTRACT}`)).toBe(25);
    expect(await count('direction=outgoing')).toBe(0);
    expect(await count(`rights=0x${'1'.repeat(64)}`)).toBe(0);
  });

  test('tells which networks are served and how they stand', async () => {
    const networks = (await (await send('/networks')).json()) as Record<string, unknown>[];
    expect(networks.map(({ chainId, ready, name }) => [chainId, ready, name])).toEqual([
      [1, true, 'Ethereum'],
      [8453, false, 'Base'],
    ]);
    expect(networks[0]).toMatchObject({ head: { number: 105 }, finalizedBlock: 102, lagSeconds: 10, firstBlock: 100 });
    // With their EIP-55 checksums.
    expect(networks.map(({ registries }) => registries)).toEqual([
      {
        v1: '0x00000000000076A84feF008CDAbe6409d2FE638B',
        v2: '0x00000000000000447e69651d841bD8D104Bed493',
      },
      { v1: null, v2: '0x00000000000000447e69651d841bD8D104Bed493' },
    ]);
  });

  test('is not ready while the store is away', async () => {
    const away = appOf({ ...store, chains: () => Promise.reject(new Error('away')) }, now);
    const response = await away.fetch(new Request(`${ORIGIN}/ready`));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({ type: '/docs#problem-not-ready' });
  });

  test('is alive, and ready while a chain is', async () => {
    expect(await (await send('/health')).json()).toEqual({ status: 'ok' });
    expect(await (await send('/ready')).json()).toEqual({ status: 'ready', chainIds: [1] });
    now = timeOf(1000);
    try {
      expect((await send('/ready')).status).toBe(503);
      expect((await send('/health')).status).toBe(200);
    } finally {
      now = timeOf(106);
    }
  });

  const refusals: [string, number, string][] = [
    ['/registry/v2/check/all', 400, 'bad-request'],
    [`${CHECK}&chainid=137`, 400, 'bad-request'],
    [`${CHECK}&chainId=137`, 400, 'unknown-chain'],
    [`/registry/v1/check/all?delegate=${HOT}&vault=${COLD}&chainId=8453`, 400, 'unknown-chain'],
    [`${CHECK}&chainId=8453`, 503, 'chain-not-ready'],
    [`${CHECK}&block=99`, 404, 'not-indexed'],
    [`${CHECK}&block=106`, 503, 'not-yet-indexed'],
    [`${CHECK}&timestamp=${timeOf(105)}`, 503, 'not-yet-indexed'],
    [`/registry/v2/${HOT}?block=99`, 404, 'not-indexed'],
    [`/registry/v2/${HOT}?block=106`, 503, 'not-yet-indexed'],
    [`/registry/v2/${HOT}?limit=1&cursor=AAAAAAAAAA`, 400, 'bad-request'],
    ['/registry/v2/hello', 400, 'bad-request'],
    ['/registry/v3/check/all', 404, 'not-found'],
    ['/registry/v2/check/erc777', 404, 'not-found'],
  ];
  for (const [path, status, type] of refusals) {
    test(`${path.slice(0, 90)} is ${status} ${type}`, async () => {
      const response = await send(path);
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      const body = (await response.json()) as Record<string, unknown>;
      expect(body).toMatchObject({ type: `/docs#problem-${type}`, status });
      expect(typeof body['detail']).toBe('string');
      if (status === 503) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    });
  }

  test.each([
    [`${CHECK}&_=`, 4096],
    ['/revoke?_=', 8000],
    ['/grant?_=', 8000],
  ])('a URL such as %s is refused with 414 if it has more than %d characters', async (path, most) => {
    const ofLength = (length: number) => send(path.padEnd(length - ORIGIN.length, 'x'));
    expect((await ofLength(most)).status).toBe(200);
    const refused = await ofLength(most + 1);
    expect([refused.status, await refused.json()]).toMatchObject([414, { type: '/docs#problem-uri-too-long' }]);
  });

  test('refuses two Host headers, of which a proxy may have read the other one', async () => {
    expect((await send('/health', { headers: { host: 'x, y' } })).status).toBe(400);
  });

  test('refuses other methods and says which there are', async () => {
    const response = await send(CHECK, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('a head that is too old is refused, and what is final is answered all the same', async () => {
    now = timeOf(105) + 121;
    try {
      const stale = await send(CHECK);
      expect(stale.status).toBe(503);
      expect(await stale.json()).toMatchObject({ indexedBlock: 105, ageSeconds: 121, maxAgeSeconds: 120 });
      expect((await send(`${CHECK}&block=103`)).status).toBe(503);
      expect((await send(`/registry/v2/${HOT}`)).status).toBe(503);
      expect((await send(`/registry/v2/${HOT}?block=103&limit=1`)).status).toBe(503);
      // The next kept block after 101 is 103: a block that is not final may still come to lie before this time.
      expect((await send(`${CHECK}&timestamp=${timeOf(102)}`)).status).toBe(200);
      expect((await send(`${CHECK}&timestamp=${timeOf(103)}`)).status).toBe(503);
      expect(await (await send(`${CHECK}&block=finalized`)).text()).toBe('true');
      expect(await (await send(`${CHECK}&block=102`)).text()).toBe('true');
    } finally {
      now = timeOf(106);
    }
  });

  test('a head that is final is no newer for it: a history that is being read does not answer for now', async () => {
    const own = await openStore(`sqlite:${temporaryPath('reading.db')}`);
    const { epoch } = await own.claim(1, 100);
    await own.apply({ chainId: 1, epoch, after: null, blocks: [block(100)], head: block(105), verified: 105 });
    await own.report(1, epoch, { tip: 5000 });
    const ask = (path: string) => appOf(own, timeOf(5000)).fetch(new Request(ORIGIN + path));
    for (const path of [CHECK, `/registry/v2/${HOT}`, `${CHECK}&block=latest`]) {
      const response = await ask(path);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        type: '/docs#problem-chain-not-ready',
        detail: expect.stringContaining('block 105 of 5000, 0.1 %'),
        chainBlock: 5000,
      });
    }
    for (const at of ['block=105', 'block=finalized', `timestamp=${timeOf(104)}`]) {
      expect((await ask(`${CHECK}&${at}`)).status).toBe(200);
    }
    await own.report(1, epoch, { halt: { code: 'registry-mismatch', since: 1, block: 9 } });
    expect(await (await ask(`${CHECK}&block=105`)).json()).toMatchObject({
      type: '/docs#problem-chain-halted',
      status: 503,
    });
    await own.close();
  });

  test('a chain that makes blocks on demand answers while its old head is confirmed, and no longer', async () => {
    const own = await openStore(`sqlite:${temporaryPath('demand.db')}`);
    const hours = timeOf(105) + 7200;
    const ask = async (chainId: number) => {
      const serving = appOf(own, hours, { chainIds: new Set([1, 42161]) });
      return (await serving.fetch(new Request(`${ORIGIN}${CHECK}&chainId=${chainId}`))).status;
    };
    for (const chainId of [1, 42161]) {
      const { epoch } = await own.claim(chainId, 100);
      await own.apply({ chainId, epoch, after: null, blocks: [block(105)], head: block(105) });
      expect(await ask(chainId)).toBe(503);
      await own.report(chainId, epoch, { confirmedAt: hours - 30 });
      // Ethereum makes a block every twelve seconds: there an old head is old, whoever confirms it.
      expect(await ask(chainId)).toBe(chainId === 1 ? 503 : 200);
      await own.report(chainId, epoch, { confirmedAt: hours - 61 });
      expect(await ask(chainId)).toBe(503);
    }
    await own.close();
  });

  test('a time is answered as of its block, and named', async () => {
    const response = await send(`${CHECK}&timestamp=${timeOf(101) - 1}`);
    expect(await response.text()).toBe('false');
    expect(response.headers.get('x-block-number')).toBe('100');
    expect(response.headers.get('x-as-of-timestamp')).toBe(String(timeOf(101) - 1));
  });
});
