// Tests the endpoints of /developers that manage keys: quota, rotation and pages, with real accounts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { insertKeys } from '../../test/support/account-rows.ts';
import { ENGINES } from '../../test/support/engines.ts';
import { appOf } from '../../test/support/serving.ts';
import { type Accounts, openAccounts } from '../accounts/accounts.ts';
import { SignInError } from '../accounts/sign-in.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { App } from './app.ts';

const NOW = 1_800_000_000;
const ORIGIN = 'http://localhost';
const QUOTA = 5;

interface Key {
  readonly id: number;
  readonly good: boolean;
}

for (const engine of ENGINES) {
  describe(`/developers on ${engine.name}`, () => {
    let url: string;
    let store: Store;
    let accounts: Accounts;
    let app: App;
    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
      accounts = await openAccounts(url);
      const signIn = {
        verify: async (message: string, _signature: string, caller: string) => {
          throw new SignInError(`${message} for ${caller}`, message === 'busy');
        },
      };
      const developers = { accounts, signIn, origins: () => [ORIGIN], quota: QUOTA, clientOf: () => '127.0.0.1' };
      app = appOf(store, NOW, { developers });
    });
    afterAll(async () => {
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
      };
    }

    test('rotating keys does not exceed the quota', async () => {
      const { get, post } = await signedIn('0xrotates');
      const { body } = await post('keys', { label: 'mint site' });
      let { id } = body['record'] as Key;
      const statuses: number[] = [];
      for (let turn = 0; turn < 20; turn++) {
        const rotated = await post('keys/rotate', { id });
        statuses.push(rotated.status);
        if (rotated.status === 201) id = (rotated.body['record'] as Key).id;
        else expect(rotated.body['type']).toEndWith('too-many-keys');
      }
      const working = async () => ((await get('keys')).body['keys'] as Key[]).filter(({ good }) => good).length;
      expect(await working()).toBe(QUOTA);
      expect(statuses).toEqual([201, 201, 201, 201, ...Array.from({ length: 16 }, () => 409)]);
      // A rotation that ends the old key at once is always possible.
      expect((await post('keys/rotate', { id, overlap: 'no' })).status).toBe(400);
      expect((await post('keys/rotate', { id, overlap: false })).status).toBe(201);
      expect(await working()).toBe(QUOTA);
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
      let { body } = await get('keys');
      expect((body['keys'] as Key[]).map(({ id }) => id)).toEqual(
        Array.from({ length: 100 }, (_, turn) => last - turn),
      );
      expect(body['uses']).toEqual([{ id: last, day, uses: 7 }]);
      expect(body['next']).toBe(last - 99);
      ({ body } = await get(`keys?after=${body['next']}`));
      expect((body['keys'] as Key[])[0]?.id).toBe(last - 100);
      expect(body['uses']).toEqual([]);
      ({ body } = await get(`keys?after=${first + 1}`));
      expect([(body['keys'] as Key[]).map(({ id }) => id), body['next']]).toEqual([[first], null]);
      expect(body['uses']).toEqual([{ id: first, day, uses: 7 }]);
      for (const query of ['after=x', 'after=-1', 'after=1.5', 'after=1&after=2', 'before=1'])
        expect([query, (await get(`keys?${query}`)).status]).toEqual([query, 400]);
    });
  });
}
