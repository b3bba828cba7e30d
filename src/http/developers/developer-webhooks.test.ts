// Tests the endpoints of /developers/webhooks with real accounts and a real store.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ENGINES } from '../../../test/support/engines.ts';
import { block, COLD, granted, HOT } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { type Accounts, openAccounts } from '../../accounts/accounts.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { type Networks, parseNetworks } from '../../webhooks/networks.ts';
import { createWebhookSource } from '../../webhooks/source.ts';
import { createWebhooks, type Webhooks } from '../../webhooks/webhooks.ts';
import { createLimiter } from '../limits/limiter.ts';
import { createLongLists } from '../limits/long-lists.ts';
import type { App } from '../server/app.ts';
import type { WebhookChange } from './developers.ts';

const NOW = 1_800_000_000;
const ORIGIN = 'http://localhost';
const QUOTA = 3;
/** Enough for all tests but the one of this limit. */
const REGISTRATIONS = 20;
const URL_TEXT = 'https://hooks.example/a';

interface Shown {
  readonly id: number;
  readonly state: string;
  readonly [field: string]: unknown;
}

for (const engine of ENGINES) {
  describe(`/developers/webhooks on ${engine.name}`, () => {
    let store: Store;
    let accounts: Accounts;
    let webhooks: Webhooks;
    let app: App;
    const changes: WebhookChange[] = [];
    let now = NOW;
    const developers = (withWebhooks: boolean) => ({
      accounts,
      signIn: { verify: () => Promise.reject(new Error('unused')) },
      origins: () => [ORIGIN],
      quota: 5,
      clientOf: () => '127.0.0.1',
      onWebhookChange: (change: WebhookChange) => void changes.push(change),
      ...(withWebhooks
        ? {
            webhooks: {
              store: webhooks,
              quota: QUOTA,
              rules: { networks: parseNetworks('') as Networks, allowsHttp: false },
              askMs: 60_000,
              registrations: createLimiter({ most: REGISTRATIONS, seconds: 3600 }),
            },
          }
        : {}),
    });
    beforeAll(async () => {
      const url = await engine.fresh();
      store = await openStore(url);
      const { epoch } = await store.claim(1, 100);
      const blocks = [block(101, [granted('ALL')]), block(102)];
      await store.apply({ chainId: 1, epoch, after: null, blocks, head: block(102), verified: 102 });
      accounts = await openAccounts(url);
      webhooks = createWebhooks(accounts.engine);
      app = appOf(store, NOW, { developers: developers(true), now: () => now });
    });
    afterAll(async () => {
      await accounts.close();
      await store.close();
    });

    /** Sends requests as a signed-in wallet. */
    async function signedIn(wallet: string, to = app) {
      const cookie = `delegations_session=${await accounts.sessions.open(wallet, NOW)}`;
      const send = async (path: string, init: RequestInit = {}) => {
        const headers = { cookie, origin: ORIGIN, 'content-type': 'application/json' };
        const response = await to.fetch(new Request(`${ORIGIN}/developers/webhooks${path}`, { ...init, headers }));
        return { status: response.status, body: (await response.json()) as Record<string, unknown> };
      };
      return {
        get: (path: string) => send(path),
        post: (path: string, body: unknown) => send(path, { method: 'POST', body: JSON.stringify(body) }),
      };
    }

    async function withKey(wallet: string) {
      await accounts.create({ label: 'x', owner: wallet, expiresAt: null, now: NOW });
      const { get, post } = await signedIn(wallet);
      const create = async (body: object = {}) =>
        (await post('', { url: URL_TEXT, ...body })).body as { secret: string; webhook: Shown };
      const list = async () => (await get('')).body['webhooks'] as Shown[];
      return { get, post, create, list };
    }

    test('a webhook is created with its filters, and its secret is shown once', async () => {
      const { post, list } = await withKey('0xcreates');
      const filters = { wallet: COLD, to: HOT, at: 'head', label: 'mint site' };
      const { status, body } = await post('', { url: URL_TEXT, chainId: '1', ...filters });
      expect(status).toBe(201);
      expect(body['secret']).toMatch(/^whsec_/);
      const { webhook } = body as { webhook: Shown };
      expect(webhook).toMatchObject({
        url: URL_TEXT,
        ...filters,
        chainIds: [1],
        state: 'paused',
        reason: 'unconfirmed',
      });
      expect(await list()).toEqual([webhook]);
      expect(JSON.stringify([webhook, await list()])).not.toContain('whsec_');
      expect(changes.at(-1)).toEqual({ type: 'created', webhookId: webhook.id });
    });

    test('it starts after what is known now, and a replay goes back', async () => {
      const { post, create } = await withKey('0xreplays');
      const { id } = (await create()).webhook;
      const readAll = async () => {
        const record = await webhooks.byId(id);
        if (record === null) throw new Error('gone');
        const source = createWebhookSource({ store, chainIds: new Set([1]), longLists: createLongLists() });
        return (await source.read(record, record.cursor)).count;
      };
      expect(await readAll()).toBe(0);
      for (const [body, found] of [
        [{ chainId: '1', block: '101' }, 1],
        [{ chainId: '1', block: '102' }, 0],
        [{ block: 'start' }, 1],
      ] as const) {
        now += 60;
        expect((await post('/replay', { id, ...body })).status).toBe(200);
        expect(await readAll()).toBe(found);
      }
      for (const [body, detail] of [
        [{}, 'block must be start or a block number.'],
        [{ block: '-1', chainId: '1' }, 'block must be start or a block number.'],
        [{ block: 'start', chainId: '1' }, 'chainId must be absent: start replays every chain.'],
        [{ block: '101' }, 'chainId must be the chain of that block, one that the webhook reads.'],
        [{ block: '101', chainId: '10' }, 'chainId must be the chain of that block, one that the webhook reads.'],
        [{ from: '101', chainId: '1' }, 'from is not a field. Use block, chainId.'],
      ] as const)
        expect(await post('/replay', { id, ...body })).toMatchObject({ status: 400, body: { detail } });
    });

    test.each([
      [{}, 'url must be a URL with https, such as https://example.com/webhook.'],
      [{ url: 7 }, 'url must be a string.'],
      [{ url: 'http://hooks.example/' }, 'url must be a URL with https, such as https://example.com/webhook.'],
      [{ url: 'https://127.0.0.1/' }, 'url must be at a public address.'],
      [{ url: URL_TEXT, at: 'now' }, 'at must be final or head.'],
      [{ url: URL_TEXT, chainId: '10' }, 'chainId names chain 10, which is not served.'],
      [{ url: URL_TEXT, chainId: 1 }, 'chainId must be a string.'],
      [{ url: URL_TEXT, wallet: '0x12' }, 'wallet must be an address (0x and 40 hex digits), not "0x12".'],
      [{ url: URL_TEXT, form: COLD }, 'form is not a field. Use url, label, chainId, wallet, from, to, contract, at.'],
      [{ url: URL_TEXT, label: '' }, 'label must be 1 to 100 characters without control characters.'],
    ])('%j is refused', async (body, detail) => {
      const { post, list } = await withKey('0xmistaken');
      expect(await post('', body)).toMatchObject({ status: 400, body: { detail } });
      expect(await list()).toEqual([]);
    });

    test('a wallet needs an active key, and has a quota', async () => {
      const keyless = await signedIn('0xkeyless');
      const refused = await keyless.post('', { url: URL_TEXT });
      expect([refused.status, refused.body['type']]).toEqual([409, expect.stringContaining('no-active-key')]);
      const { post, create } = await withKey('0xmany');
      for (let turn = 0; turn < QUOTA; turn++) await create();
      const full = await post('', { url: URL_TEXT });
      expect([full.status, full.body['type']]).toEqual([409, expect.stringContaining('too-many-webhooks')]);
    });

    test('pause, resume, rotate, test and remove', async () => {
      const { post, create, list } = await withKey('0xowner');
      const { secret, webhook } = await create();
      const { id } = webhook;
      await webhooks.resume(id);
      expect((await post('/pause', { id })).body).toMatchObject({ webhook: { state: 'paused', reason: 'paused' } });
      expect((await post('/resume', { id })).body).toMatchObject({ webhook: { state: 'active', reason: null } });
      now += 60;
      const rotated = await post('/rotate', { id });
      expect(rotated.body['secret']).toMatch(/^whsec_/);
      expect(rotated.body['secret']).not.toBe(secret);
      expect(rotated.body['webhook']).toMatchObject({
        previousSecretUntil: new Date(1000 * (now + 86_400)).toISOString(),
      });
      const claimed = await webhooks.claim(id, 60_000, 1000 * NOW);
      expect(claimed?.secrets).toEqual([rotated.body['secret'] as string, secret]);
      expect((await post('/test', { id })).body).toMatchObject({ webhook: { testRequestedAt: expect.any(String) } });
      expect(await post('/remove', { id })).toEqual({ status: 200, body: { id, removed: true } });
      expect(await list()).toEqual([]);
      const types = changes.filter(({ webhookId }) => webhookId === id).map(({ type }) => type);
      expect(types).toEqual(['created', 'paused', 'resumed', 'rotated', 'tested', 'removed']);
    });

    test('tests, replays and resumes of a webhook are once a minute, and none of them sends to a receiver that was not asked', async () => {
      const { post, create } = await withKey('0xhasty');
      const { id } = (await create()).webhook;
      const statuses = async () => [
        (await post('/test', { id })).status,
        (await post('/replay', { id, block: 'start' })).status,
        (await post('/resume', { id })).status,
      ];
      expect(await statuses()).toEqual([200, 429, 429]);
      now += 59;
      expect(await statuses()).toEqual([429, 429, 429]);
      now += 1;
      const resumed = (await post('/resume', { id })).body;
      expect(resumed).toMatchObject({
        webhook: { state: 'paused', reason: 'unconfirmed', testRequestedAt: expect.any(String) },
      });
      now += 60;
      const replayed = (await post('/replay', { id, block: 'start' })).body;
      expect(replayed).toMatchObject({ webhook: { state: 'paused', reason: 'unconfirmed' } });
    });

    test('an address creates so many webhooks in an hour, for whatever wallet', async () => {
      const limited = appOf(store, NOW, { developers: developers(true), now: () => now });
      const statuses: number[] = [];
      for (let turn = 0; turn <= REGISTRATIONS; turn++) {
        await withKey(`0xwallet${turn}`);
        statuses.push((await (await signedIn(`0xwallet${turn}`, limited)).post('', { url: URL_TEXT })).status);
      }
      expect(statuses).toEqual([...Array.from({ length: REGISTRATIONS }, () => 201), 429]);
    });

    test('the last attempts can be read', async () => {
      const { get, create } = await withKey('0xreads');
      const { id } = (await create()).webhook;
      const claimed = await webhooks.claim(id, 60_000, 1000 * NOW);
      const attempt = {
        type: 'test',
        deliveryId: 'msg_1',
        changes: 0,
        failure: 'status',
        status: 500,
        ms: 12,
      } as const;
      if (claimed !== null) await webhooks.record(claimed.lease, { ...attempt, at: 1000 * NOW }, null);
      expect((await get(`/attempts?id=${id}`)).body).toEqual({
        id,
        attempts: [
          {
            ...attempt,
            at: '2027-01-15T08:00:00.000Z',
            payload: `{"type":"webhook.test","timestamp":"2027-01-15T08:00:00.000Z","data":{"webhook":${id}}}`,
          },
        ],
      });
      for (const query of ['', '?id=x', `?id=${id}&limit=5`])
        expect([query, (await get(`/attempts${query}`)).status]).toEqual([query, 400]);
    });

    test('a wallet sees and changes only its own webhooks', async () => {
      const { id } = (await (await withKey('0xvictim')).create()).webhook;
      const { get, post, list } = await withKey('0xthief');
      for (const action of ['pause', 'resume', 'rotate', 'test', 'replay', 'remove'])
        expect((await post(`/${action}`, { id, block: 'start' })).status).toBe(404);
      expect((await get(`/attempts?id=${id}`)).status).toBe(404);
      expect(await list()).toEqual([]);
      expect(await webhooks.byId(id)).toMatchObject({
        paused: { reason: 'unconfirmed' },
        testRequestedAt: null,
      });
    });

    test('nothing is answered without a session, from another site, or with webhooks off', async () => {
      const send = (init: RequestInit, to = app) => to.fetch(new Request(`${ORIGIN}/developers/webhooks`, init));
      expect((await send({})).status).toBe(401);
      const headers = { origin: 'https://evil.example', 'content-type': 'application/json' };
      expect((await send({ method: 'POST', headers, body: '{}' })).status).toBe(403);
      const off = await signedIn('0xoff', appOf(store, NOW, { developers: developers(false) }));
      expect((await off.get('')).status).toBe(404);
    });
  });
}
