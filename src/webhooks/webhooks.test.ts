// Tests how webhooks are stored, on both engines.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/support/engines.ts';
import { COLD, CONTRACT, HOT } from '../../test/support/fixtures.ts';
import { type Accounts, openAccounts } from '../accounts/accounts.ts';
import { ACCOUNT_SCHEMA } from '../accounts/schema.ts';
import { migrateTables } from '../store/migrate.ts';
import { openEngine } from '../store/open.ts';
import {
  type Attempt,
  type ClaimedWebhook,
  candidatesStatement,
  createWebhooks,
  type WebhookRecord,
  type Webhooks,
} from './webhooks.ts';

const NOW = 1_800_000_000_000;
const LEASE_MS = 60_000;
const EVERYONE = { after: 0, limit: 1000, now: NOW };
const DELIVERY = { id: 'msg_1', body: '{"é":1}', changes: 3, from: 'start', cursor: 'next' };
const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  type: 'changes',
  at: NOW,
  deliveryId: 'msg_1',
  changes: 3,
  failure: null,
  status: 204,
  ms: 12,
  ...more,
});
const FAILED = { failure: 'status', status: 500 };

for (const engine of ENGINES) {
  describe(`webhooks on ${engine.name}`, () => {
    let url: string;
    let accounts: Accounts;
    let webhooks: Webhooks;
    beforeAll(async () => {
      url = await engine.fresh();
      accounts = await openAccounts(url);
      webhooks = createWebhooks(accounts.engine);
    });
    afterAll(() => accounts.close());
    const request = {
      owner: null,
      label: null,
      url: 'https://receiver.example/hook',
      filter: { chainIds: 'served' as const },
      at: 'final' as const,
      cursor: 'start',
      secret: 'whsec_1',
      now: NOW,
      isConfirmed: true,
    };
    const create = async (more = {}) => (await webhooks.create({ ...request, ...more })) as WebhookRecord;
    const claim = async ({ id }: { id: number }, now = NOW) =>
      (await webhooks.claim(id, LEASE_MS, now)) as ClaimedWebhook;
    const giveKey = async (owner: string) =>
      (await accounts.create({ label: 'a site', owner, now: NOW / 1000 }))?.record.id as number;

    test('a webhook is read back with its filters, and without its secret', async () => {
      const filter = { chainIds: [10, 1], wallet: HOT, from: COLD, to: HOT, contract: CONTRACT };
      const made = await create({ label: 'gate', filter, at: 'head' });
      const { now: _, secret: _secret, isConfirmed: _confirmed, ...rest } = request;
      expect(made).toEqual({
        ...rest,
        id: made.id,
        label: 'gate',
        filter,
        at: 'head',
        createdAt: NOW,
        paused: null,
        pending: null,
        failures: 0,
        failingSince: null,
        nextAttemptAt: null,
        testRequestedAt: null,
        previousSecretUntil: null,
      });
      expect(await webhooks.byId(made.id)).toEqual(made);
      const plain = await create();
      expect((await webhooks.byId(plain.id))?.filter).toEqual({ chainIds: 'served' });
      expect((await webhooks.list({ limit: 2 })).map(({ id }) => id)).toEqual([plain.id, made.id]);
      expect(await webhooks.list({ after: plain.id, limit: 1 })).toEqual([made]);
      expect([await webhooks.remove(made.id), await webhooks.remove(made.id)]).toEqual([true, false]);
      expect(await webhooks.byId(made.id)).toBeNull();
    });

    test('a wallet needs an active key, and has at most as many webhooks as the quota, also if requested at once', async () => {
      const owner = '0xquota';
      expect(await webhooks.create({ ...request, owner, quota: 3 })).toBe('no-active-key');
      await giveKey(owner);
      const made = await Promise.all(Array.from({ length: 6 }, () => webhooks.create({ ...request, owner, quota: 3 })));
      expect(made.filter((one) => one !== 'over-quota')).toHaveLength(3);
      expect(await webhooks.list({ owner })).toHaveLength(3);
    });

    test('a list has a hundred webhooks, the newest first, and the next page goes on after them', async () => {
      const owner = '0xmany';
      await giveKey(owner);
      const ids: number[] = [];
      for (let turn = 0; turn < 102; turn++) ids.unshift((await create({ owner })).id);
      const page = (await webhooks.list({ owner })).map(({ id }) => id);
      expect(page).toEqual(ids.slice(0, 100));
      const rest = await webhooks.list({ owner, after: page.at(-1) as number });
      expect(rest.map(({ id }) => id)).toEqual(ids.slice(100));
    });

    test('all wallets together have a quota too, and the operator has none', async () => {
      const engineOf = await openEngine(await engine.fresh(), {});
      try {
        await migrateTables(engineOf, ACCOUNT_SCHEMA);
        const few = createWebhooks(engineOf, 2);
        await engineOf.transaction(async (tx) => {
          await tx.run(
            `INSERT INTO api_key (hash, shown, label, owner, created_at) VALUES ($1, 'x', 'x', '0xa', 1), ($2, 'y', 'y', '0xb', 1)`,
            [new Uint8Array([1]), new Uint8Array([2])],
          );
        });
        const made = [];
        for (const owner of ['0xa', '0xb', '0xa', null]) made.push(await few.create({ ...request, owner }));
        expect(made.map((one) => (typeof one === 'string' ? one : one.owner))).toEqual(['0xa', '0xb', 'full', null]);
      } finally {
        await engineOf.close();
      }
    });

    test('candidates are read page by page through an index that has no others', async () => {
      const made = [await create(), await create(), await create(), await create()];
      const [first, paused, failing, last] = made as [WebhookRecord, WebhookRecord, WebhookRecord, WebhookRecord];
      await webhooks.pause(paused.id, NOW);
      const { lease } = await claim(failing);
      await webhooks.storePending(lease, DELIVERY, LEASE_MS, NOW);
      await webhooks.record(lease, attempt(FAILED), { retryAt: NOW + 10 });
      await webhooks.release(lease);
      const ids = async (more = {}) =>
        (await webhooks.candidates({ ...EVERYONE, after: first.id - 1, ...more })).map(({ id }) => id);
      expect(await ids()).toEqual([first.id, last.id]);
      expect(await ids({ now: NOW + 10 })).toEqual([first.id, failing.id, last.id]);
      expect(await ids({ limit: 1 })).toEqual([first.id]);
      expect(await ids({ after: first.id })).toEqual([last.id]);
      await webhooks.requestTest(failing.id, NOW);
      expect(await ids()).toEqual([first.id, failing.id, last.id]);
      const tables = await openEngine(url, { readOnly: true });
      const { name, clock } = tables.dialect;
      const sql = `EXPLAIN ${name === 'postgres' ? '' : 'QUERY PLAN'} ${candidatesStatement(clock)}`;
      const plan = (await tables.rows(sql, [0, 10, NOW])).map((row) => row.join(' ')).join('\n');
      await tables.close();
      expect(plan).toContain('webhook_candidate');
      expect(plan).not.toMatch(/TEMP B-TREE|Sort|Seq Scan/);
    });

    test('an owner can have something sent once in a while', async () => {
      const { id } = await create();
      const answers = [];
      for (const ms of [0, 1, 59, 60, 61]) answers.push(await webhooks.mayAsk(id, NOW + ms, 60));
      expect(answers).toEqual([true, false, false, true, false]);
    });

    test('a receiver that failed or is gone is asked before its webhook is active again', async () => {
      const made = await create({ isConfirmed: false });
      const reason = async () => (await webhooks.byId(made.id))?.paused?.reason ?? null;
      const confirm = async (type: Attempt['type']) => {
        const { lease } = await claim(made);
        await webhooks.record(lease, attempt({ type, changes: 0 }), null);
        await webhooks.release(lease);
      };
      await confirm('test');
      expect(await reason()).toBe('unconfirmed');
      await confirm('challenge');
      expect([await reason(), await webhooks.askReceiver(made.id, NOW)]).toEqual([null, false]);
      for (const pause of ['failing', 'gone'] as const) {
        await webhooks.pause(made.id, NOW, pause);
        expect([await webhooks.askReceiver(made.id, NOW), await reason()]).toEqual([true, 'unconfirmed']);
        await confirm('challenge');
        expect(await reason()).toBeNull();
      }
      await webhooks.pause(made.id, NOW);
      expect([await webhooks.askReceiver(made.id, NOW), await reason()]).toEqual([false, 'paused']);
    });

    test('of many processes that claim a webhook at once, one gets it', async () => {
      const { id } = await create();
      const others = await Promise.all([openAccounts(url), openAccounts(url), openAccounts(url)]);
      const claims = await Promise.all(
        others.flatMap((one) => {
          const { claim: claimOf } = createWebhooks(one.engine);
          return [claimOf(id, LEASE_MS, NOW), claimOf(id, LEASE_MS, NOW)];
        }),
      );
      const [won, ...rest] = claims.filter((one) => one !== null);
      expect([won?.id, rest]).toEqual([id, []]);
      const isCandidate = async () => (await webhooks.candidates(EVERYONE)).some((one) => one.id === id);
      expect(await isCandidate()).toBe(false);
      await webhooks.release((won as ClaimedWebhook).lease);
      expect(await isCandidate()).toBe(true);
      await Promise.all(others.map((one) => one.close()));
    });

    test('a delivery is stored before it is sent, and moves the cursor when it has succeeded', async () => {
      const made = await create();
      const { lease, secrets, body } = await claim(made);
      expect([secrets, body]).toEqual([['whsec_1'], null]);
      const store = (delivery = DELIVERY) => webhooks.storePending(lease, delivery, LEASE_MS, NOW + 1);
      expect([await store({ ...DELIVERY, from: 'elsewhere' }), await store(), await store()]).toEqual([
        false,
        true,
        false,
      ]);
      await webhooks.release(lease);

      const again = await claim(made);
      expect(again).toMatchObject({
        cursor: 'start',
        body: DELIVERY.body,
        pending: { id: 'msg_1', changes: 3, createdAt: NOW + 1 },
      });
      expect(await webhooks.record(again.lease, attempt(FAILED), { retryAt: NOW + 5000 })).toBe('start');
      expect(
        await webhooks.record(again.lease, attempt({ ...FAILED, at: NOW + 9 }), {
          retryAt: NOW + 9000,
        }),
      ).toBe('start');
      expect(await webhooks.byId(made.id)).toMatchObject({
        failures: 2,
        failingSince: NOW,
        nextAttemptAt: NOW + 9000,
        cursor: 'start',
      });
      expect(await webhooks.record(again.lease, attempt({ at: NOW + 10 }), null)).toBe('next');
      expect(await webhooks.byId(made.id)).toEqual({ ...made, cursor: 'next' });
      expect(await webhooks.advance(again.lease, 'start', 'never')).toBe(false);
      expect(await webhooks.advance(again.lease, 'next', 'later')).toBe(true);
      expect(await webhooks.attempts(made.id)).toEqual([
        attempt({ at: NOW + 10 }),
        attempt({ ...FAILED, at: NOW + 9 }),
        attempt(FAILED),
      ]);
      await webhooks.release(again.lease);
    });

    test('a process whose lease has ended and was taken over writes nothing', async () => {
      const made = await create();
      const old = (await webhooks.claim(made.id, -1, NOW)) as ClaimedWebhook;
      await webhooks.storePending(old.lease, DELIVERY, -1, NOW);
      const { lease } = await claim(made);
      expect([
        await webhooks.record(old.lease, attempt(), null),
        await webhooks.record(old.lease, attempt(FAILED), { pause: 'gone' }),
        await webhooks.record(old.lease, attempt({ type: 'test' }), null),
        await webhooks.advance(old.lease, 'start', 'x'),
        await webhooks.storePending(old.lease, DELIVERY, LEASE_MS, NOW),
      ]).toEqual([null, null, null, false, false]);
      await webhooks.release(old.lease);
      expect(await webhooks.claim(made.id, LEASE_MS, NOW)).toBeNull();
      expect(await webhooks.attempts(made.id)).toEqual([]);
      expect(await webhooks.record(lease, attempt(), null)).toBe('next');
      await webhooks.release(lease);
    });

    test('a replay during an attempt wins: the attempt is in the log, and the cursor is that of the replay', async () => {
      const made = await create();
      const { lease } = await claim(made);
      await webhooks.storePending(lease, DELIVERY, LEASE_MS, NOW);
      await webhooks.pause(made.id, NOW);
      expect(await webhooks.replayFrom(made.id, 'earlier')).toBe(true);
      expect(await webhooks.claim(made.id, LEASE_MS, NOW)).toBeNull();
      expect(await webhooks.record(lease, attempt(), null)).toBeNull();
      await webhooks.release(lease);
      expect(await webhooks.byId(made.id)).toEqual({
        ...made,
        cursor: 'earlier',
        paused: { at: NOW, reason: 'paused' },
      });
      expect(await webhooks.attempts(made.id)).toHaveLength(1);
    });

    test('a paused webhook keeps its delivery, and continues with it at once when it is resumed', async () => {
      const made = await create();
      const { lease } = await claim(made);
      await webhooks.storePending(lease, DELIVERY, LEASE_MS, NOW);
      await webhooks.record(lease, attempt(FAILED), { pause: 'failing' });
      await webhooks.release(lease);
      const isCandidate = async () => (await webhooks.candidates(EVERYONE)).some(({ id }) => id === made.id);
      expect([(await webhooks.byId(made.id))?.paused, await isCandidate()]).toEqual([
        { at: NOW, reason: 'failing' },
        false,
      ]);
      expect(await webhooks.pause(made.id, NOW)).toBe(false);
      expect([await webhooks.resume(made.id), await webhooks.resume(made.id)]).toEqual([true, false]);
      expect(await webhooks.byId(made.id)).toMatchObject({
        paused: null,
        pending: { id: 'msg_1' },
        failures: 0,
        failingSince: null,
        nextAttemptAt: null,
        cursor: 'start',
      });
      await webhooks.pause(made.id, NOW);
      expect((await webhooks.byId(made.id))?.paused).toEqual({ at: NOW, reason: 'paused' });
      // A test is sent even so.
      await webhooks.requestTest(made.id, NOW);
      expect(await isCandidate()).toBe(true);
      const again = await claim(made);
      await webhooks.record(again.lease, attempt({ type: 'test', deliveryId: 'msg_test', changes: 0 }), null);
      await webhooks.release(again.lease);
      expect([await isCandidate(), (await webhooks.byId(made.id))?.pending?.id]).toEqual([false, 'msg_1']);
    });

    test('a wallet without an active key is not delivered to', async () => {
      const owner = '0xkeyless';
      const key = await giveKey(owner);
      const made = await create({ owner });
      const { lease } = await claim(made);
      await webhooks.release(lease);
      await accounts.revoke(key, NOW / 1000);
      expect(await webhooks.claim(made.id, LEASE_MS, NOW)).toBeNull();
      expect((await webhooks.byId(made.id))?.paused).toEqual({ at: NOW, reason: 'no-active-key' });
      await giveKey(owner);
      expect(await webhooks.resume(made.id)).toBe(true);
      await webhooks.release((await claim(made)).lease);
    });

    test('a paused webhook of such a wallet stays paused for its reason, and its test is not tried for ever', async () => {
      const owner = '0xpaused';
      const key = await giveKey(owner);
      const { id } = await create({ owner });
      await webhooks.pause(id, NOW - 5, 'gone');
      await webhooks.requestTest(id, NOW);
      await accounts.revoke(key, NOW / 1000);
      expect(await webhooks.claim(id, LEASE_MS, NOW)).toBeNull();
      expect(await webhooks.byId(id)).toMatchObject({
        paused: { at: NOW - 5, reason: 'gone' },
        testRequestedAt: null,
      });
    });

    test('after a rotation both secrets sign until the overlap ends', async () => {
      const made = await create();
      const rotation = { id: made.id, secret: 'whsec_2', now: NOW, overlapMs: 1000 };
      expect(await webhooks.rotateSecret(rotation)).toBe(true);
      expect((await webhooks.byId(made.id))?.previousSecretUntil).toBe(NOW + 1000);
      for (const [now, secrets] of [
        [NOW + 999, ['whsec_2', 'whsec_1']],
        [NOW + 1000, ['whsec_2']],
      ] as const) {
        const claimed = await claim(made, now);
        expect(claimed.secrets).toEqual([...secrets]);
        await webhooks.release(claimed.lease);
      }
    });

    test('the last attempts of a webhook are kept, and go with it', async () => {
      const made = await create();
      const { lease } = await claim(made);
      for (let at = 0; at < 55; at++) await webhooks.record(lease, attempt({ at }), null);
      const kept = await webhooks.attempts(made.id);
      expect([kept.length, kept[0]?.at, kept.at(-1)?.at]).toEqual([50, 54, 5]);
      const tables = await openEngine(url, { readOnly: true });
      const count = async () => {
        const sql = 'SELECT count(*) FROM webhook_attempt WHERE webhook = $1';
        const [[rows] = []] = await tables.rows(sql, [made.id]);
        return Number(rows);
      };
      expect(await count()).toBe(50);
      await webhooks.remove(made.id);
      expect(await count()).toBe(0);
      await tables.close();
    });

    test('the statistics count webhooks by state and name those with a pending delivery, the oldest first', async () => {
      for (const { id } of await webhooks.list({ limit: 1000 })) await webhooks.remove(id);
      const [first, second, third] = [await create(), await create(), await create()];
      await create();
      await webhooks.pause(third.id, NOW);
      for (const [{ id }, at] of [
        [first, 20],
        [second, 10],
        [third, 5],
      ] as const)
        await webhooks.storePending((await claim({ id })).lease, DELIVERY, LEASE_MS, NOW + at);
      expect(await webhooks.stats()).toEqual({
        counts: { active: 3, unconfirmed: 0, paused: 1, failing: 0, gone: 0, 'no-active-key': 0 },
        pending: [
          { id: second.id, since: NOW + 10 },
          { id: first.id, since: NOW + 20 },
        ],
      });
    });
  });
}
