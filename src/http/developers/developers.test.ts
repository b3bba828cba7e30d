// Tests the endpoints of /developers for sessions and keys: quota, rotation, uses and pages, with real accounts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { insertKeys } from '../../../test/support/account-rows.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import { appOf } from '../../../test/support/serving.ts';
import { type Accounts, openAccounts } from '../../accounts/accounts.ts';
import { createKeyCache, type KeyCache } from '../../accounts/key-cache.ts';
import { SignInError } from '../../accounts/sign-in.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { App } from '../server/app.ts';
import type { KeyJson } from './developer-keys.ts';

const NOW = 1_800_000_000;
const ORIGIN = 'http://localhost';
const QUOTA = 5;
const WALLET = `0x${'12'.repeat(20)}`;

type KeyListJson = { readonly quota: number; readonly keys: readonly KeyJson[]; readonly next: number | null };
type NewKeyJson = { readonly key: string; readonly record: KeyJson };
type Get = (path: string) => Promise<{ body: unknown }>;
type Post = (path: string, body: unknown) => Promise<{ body: unknown }>;
const list = async (get: Get, query = '') => (await get(`keys${query}`)).body as KeyListJson;
const create = async (post: Post, label: string) => (await post('keys', { label })).body as NewKeyJson;
const isWorking = (state: KeyJson['state']) => state === 'active' || state === 'replaced';

for (const engine of ENGINES) {
  describe(`/developers on ${engine.name}`, () => {
    let url: string;
    let store: Store;
    let accounts: Accounts;
    let cache: KeyCache;
    let app: App;
    let origin = ORIGIN;
    const changes: unknown[] = [];
    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
      accounts = await openAccounts(url);
      const signIn = {
        verify: async (message: string, _signature: string, caller: string) => {
          if (message === 'good') return WALLET;
          throw new SignInError(`${message} for ${caller}`, message === 'busy');
        },
      };
      cache = createKeyCache(accounts, { now: () => NOW });
      const origins = () => [origin];
      const clientOf = () => '127.0.0.1';
      const onKeyChange = (change: unknown) => void changes.push(change);
      app = appOf(store, NOW, {
        developers: { accounts, signIn, origins, quota: QUOTA, clientOf, storeUses: cache.flush, onKeyChange },
      });
    });
    afterAll(async () => {
      await cache.stop();
      await accounts.close();
      await store.close();
    });

    /** Sends requests as a signed-in wallet. */
    async function signedIn(wallet: string) {
      const cookie = `delegations_session=${await accounts.sessions.open(wallet, NOW)}`;
      const send = async (path: string, init: RequestInit = {}) => {
        const response = await app.fetch(
          new Request(`${ORIGIN}/developers/${path}`, {
            ...init,
            headers: { cookie, origin: ORIGIN, 'content-type': 'application/json' },
          }),
        );
        return { status: response.status, body: (await response.json()) as Record<string, unknown> };
      };
      return {
        get: (path: string) => send(path),
        post: (path: string, body: unknown) => send(path, { method: 'POST', body: JSON.stringify(body) }),
        page: async () => (await app.fetch(new Request(`${ORIGIN}/developers`, { headers: { cookie } }))).text(),
      };
    }

    test('the operator is told of each key that is created, rotated or revoked', async () => {
      const { post } = await signedIn('0xtold');
      changes.length = 0;
      const { id } = (await create(post, 'mint site')).record;
      const next = (await post('keys/rotate', { id })).body['record'] as KeyJson;
      await post('keys/revoke', { id: next.id });
      expect(changes).toEqual([
        { type: 'created', keyId: id },
        { type: 'rotated', keyId: id, newKeyId: next.id },
        { type: 'revoked', keyId: next.id },
      ]);
    });

    test('rotating keys does not exceed the quota', async () => {
      const { get, post } = await signedIn('0xrotates');
      let { id } = (await create(post, 'mint site')).record;
      const statuses: number[] = [];
      for (let turn = 0; turn < 20; turn++) {
        const rotated = await post('keys/rotate', { id });
        statuses.push(rotated.status);
        if (rotated.status === 201) id = (rotated.body['record'] as KeyJson).id;
        else expect(rotated.body['type']).toEndWith('too-many-keys');
      }
      const working = async () => (await list(get)).keys.filter(({ state }) => isWorking(state)).length;
      expect(await working()).toBe(QUOTA);
      expect(statuses).toEqual([201, 201, 201, 201, ...Array.from({ length: 16 }, () => 409)]);
      // A rotation that ends the old key at once is always possible.
      expect((await post('keys/rotate', { id, overlap: 'no' })).status).toBe(400);
      expect((await post('keys/rotate', { id, overlap: false })).status).toBe(201);
      expect(await working()).toBe(QUOTA);
    });

    test('a rotated key and the one that replaces it are of one group, and each has its state', async () => {
      const { get, post } = await signedIn('0xgroups');
      const { id } = (await create(post, 'mint site')).record;
      const other = (await create(post, 'other')).record;
      await accounts.create({ label: 'expired', owner: '0xgroups', expiresAt: NOW - 5, now: NOW - 9 });
      const next = (await post('keys/rotate', { id })).body['record'] as KeyJson;
      const last = (await post('keys/rotate', { id: next.id, overlap: false })).body['record'] as KeyJson;
      const found = (await list(get)).keys.map((key) => [key.id, key.group, key.state, key.endsAt]);
      expect(found).toEqual([
        [last.id, id, 'active', null],
        [next.id, id, 'revoked', NOW],
        [expect.any(Number), expect.any(Number), 'expired', NOW - 5],
        [other.id, other.id, 'active', null],
        [id, id, 'replaced', NOW + 86_400],
      ]);
    });

    test('a wallet can neither rotate nor revoke the key of another, or one that has ended', async () => {
      const [owner, other] = [await signedIn('0xowner'), await signedIn('0xother')];
      const { id } = (await create(owner.post, 'mint site')).record;
      const tried = async ({ post }: typeof owner) => [
        (await post('keys/rotate', { id, overlap: false })).status,
        (await post('keys/revoke', { id })).status,
      ];
      expect(await tried(other)).toEqual([404, 404]);
      expect((await list(owner.get)).keys).toMatchObject([{ id, state: 'active' }]);
      expect((await owner.post('keys/revoke', { id })).status).toBe(200);
      expect(await tried(owner)).toEqual([404, 404]);
    });

    test('a key can end after 1 to 3650 days', async () => {
      const { post } = await signedIn('0xdays');
      const made = (await post('keys', { label: 'site', days: 3650 })).body['record'] as KeyJson;
      expect(made.endsAt).toBe(NOW + 3650 * 86_400);
      for (const days of [0, 3651, 1.5, '1', -1])
        expect([days, (await post('keys', { label: 'site', days })).status]).toEqual([days, 400]);
    });

    test('a sign-in has ten minutes, and its cookie lasts a day and is for no script, no other site and no other path', async () => {
      const { post } = await signedIn('0xcookie');
      const { issuedAt, expiresAt } = (await post('nonce', { wallet: WALLET })).body as Record<string, string>;
      expect(Date.parse(expiresAt ?? '') - Date.parse(issuedAt ?? '')).toBe(600_000);
      const cookieAt = async (at: string) => {
        origin = at;
        const request = new Request(`${at}/developers/session`, {
          method: 'POST',
          headers: { origin: at, 'content-type': 'application/json' },
          body: JSON.stringify({ message: 'good', signature: '0x' }),
        });
        const cookie = (await app.fetch(request)).headers.get('set-cookie');
        origin = ORIGIN;
        return cookie?.replace(/=[0-9a-f]{64};/, '=token;');
      };
      const rest = 'Path=/developers; HttpOnly; SameSite=Strict; Max-Age=86400';
      expect(await cookieAt(ORIGIN)).toBe(`delegations_session=token; ${rest}`);
      expect(await cookieAt('https://delegations.example')).toBe(`__Secure-delegations_session=token; ${rest}; Secure`);
    });

    test('the uses that the process has counted are stored before the list is read', async () => {
      const { get, post } = await signedIn('0xuses');
      const { key, record } = await create(post, 'mint site');
      expect(await cache.lookUp(key)).toMatchObject({ id: record.id });
      const [shown] = (await list(get)).keys;
      expect([shown?.uses.at(-1), shown?.lastUsedAt]).toEqual([1, NOW]);
    });

    test('the session is that of the wallet with its checksum, and of a contract wallet on its chain', async () => {
      const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
      for (const [account, chainId] of [
        [address.toLowerCase(), null],
        [`eip155:8453:${address.toLowerCase()}`, 8453],
      ] as const) {
        const { get, page } = await signedIn(account);
        expect((await get('session')).body).toEqual({ wallet: address, chainId });
        expect(await page()).toContain(`data-wallet="${address}" data-chain="${chainId ?? ''}"`);
      }
    });

    test('only a sandbox has a test wallet', async () => {
      const { post, page } = await signedIn(`0x${'1'.repeat(40)}`);
      expect((await post('test-wallet', { bytes: '0x' })).status).toBe(404);
      expect(await page()).not.toContain('test-wallet');
    });

    test('a sign-in that cannot be verified now is 503, any other that fails is 401', async () => {
      const { post } = await signedIn('0xsignsin');
      for (const [message, status] of [
        ['busy', 503],
        ['wrong', 401],
      ] as const) {
        const answer = await post('session', { message, signature: '0x' });
        expect([answer.status, answer.body['detail']]).toEqual([status, `${message} for 127.0.0.1`]);
      }
    });

    test('a wallet with 50,000 keys gets them in pages, with the uses of each page', async () => {
      const wallet = '0xmany';
      const [first, last] = await insertKeys(url, wallet, 50_000, { createdAt: NOW, revokedAt: NOW });
      const day = Math.floor(NOW / 86_400);
      await accounts.addUses(
        [first, last].map((id) => ({ id, day, uses: 7 })),
        NOW,
      );
      const { get } = await signedIn(wallet);
      const usesOf = ({ keys }: KeyListJson) => keys.filter(({ uses }) => uses.at(-1) === 7).map(({ id }) => id);
      const newest = await list(get);
      expect(newest.keys.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, turn) => last - turn));
      expect([newest.next, usesOf(newest)]).toEqual([last - 99, [last]]);
      const second = await list(get, `?after=${newest.next}`);
      expect([second.keys[0]?.id, usesOf(second)]).toEqual([last - 100, []]);
      const oldest = await list(get, `?after=${first + 1}`);
      expect([oldest.keys.map(({ id }) => id), oldest.next, usesOf(oldest)]).toEqual([[first], null, [first]]);
      for (const query of ['after=x', 'after=-1', 'after=1.5', 'after=1&after=2', 'before=1'])
        expect([query, (await get(`keys?${query}`)).status]).toEqual([query, 400]);
    });

    test('without self-service, the page says how to get a key, and the limits that apply', async () => {
      const managed = appOf(store, NOW, {
        anonymousLimit: { most: 7, seconds: 3 },
        keyLimit: { most: 70, seconds: 3 },
      });
      const text = await (await managed.fetch(new Request(`${ORIGIN}/developers`))).text();
      expect(text).toContain('you can send 7 requests in any 3 seconds');
      expect(text).toContain('you can send 70 requests in any 3 seconds');
      expect(text).toContain('The operator of this service hands out its keys.');
      expect(text).not.toContain('Sign in');
    });
  });
}
