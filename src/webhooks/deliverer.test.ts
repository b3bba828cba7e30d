// Tests the deliverer with a real database, and receivers on real sockets.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { ENGINES } from '../../test/support/engines.ts';
import { eventually } from '../../test/support/eventually.ts';
import { address, ended, granted, HOT } from '../../test/support/fixtures.ts';
import { type Behaviour, type Receiver, startReceiver } from '../../test/support/webhook-receiver.ts';
import { CHAIN, createWebhookRig, type WebhookRig } from '../../test/support/webhook-rig.ts';
import { openAccounts } from '../accounts/accounts.ts';
import { createLongLists } from '../http/limits/long-lists.ts';
import type { Halt } from '../store/halt.ts';
import { createWebhookSource } from '../webhooks/source.ts';
import { type Networks, parseNetworks } from './networks.ts';
import { GIVE_UP_MS } from './retries.ts';
import { createSender, TIMEOUT_MS } from './send.ts';
import { replayCursor } from './source.ts';
import { attemptJson } from './webhook-json.ts';
import { createWebhooks, type WebhookRecord } from './webhooks.ts';

/** Every name is this machine. */
const resolve = async () => ['127.0.0.1'];
const send = createSender({ networks: parseNetworks('loopback') as Networks, allowsHttp: true }, { resolve });
const sender = { send };

interface Body {
  readonly type: string;
  readonly data: {
    readonly webhook: number;
    readonly changes: { readonly type: string; readonly block: { number: number }; delegation?: { from: string } }[];
    readonly cursor: string;
    readonly challenge?: string;
  };
}
const parse = (body: string) => JSON.parse(body) as Body;

for (const engine of ENGINES) {
  describe(`the deliverer on ${engine.name}`, () => {
    let url: string;
    let rig: WebhookRig;
    let receiver: Receiver;
    const behaviours = new Map<string, Behaviour>();
    beforeAll(async () => {
      receiver = await startReceiver((path) => behaviours.get(path) ?? 'ok');
    });
    afterAll(() => receiver.stop());
    beforeEach(async () => {
      behaviours.clear();
      (receiver.received as unknown[]).length = 0;
      url = await engine.fresh();
      rig = await createWebhookRig(url, sender);
      await rig.extend();
    });
    afterEach(() => rig.close());

    const sentTo = (path: string) => receiver.received.filter((one) => one.path === path);
    const changesOf = (path: string) =>
      sentTo(path)
        .filter(({ isAccepted }) => isAccepted)
        .flatMap(({ body }) => parse(body).data.changes);
    const record = async ({ id }: WebhookRecord) => (await rig.webhooks.byId(id)) as WebhookRecord;
    const create = (path: string, more: Parameters<WebhookRig['create']>[1] = {}) =>
      rig.create(receiver.url + path, more);
    const grant = (from: number) => granted('ALL', { from: address(from) });
    /** At a host of its own. */
    const createAt = (host: string, path: string, more: Parameters<WebhookRig['create']>[1] = {}) =>
      rig.create(receiver.url.replace('127.0.0.1', host) + path, more);
    const withKey = async (owner: string) => {
      await rig.accounts.create({ label: 'site', owner, now: rig.clock / 1000 });
      return owner;
    };

    test('delivers what comes after its creation, in order, in batches, and records each attempt', async () => {
      await rig.extend([grant(1)]);
      const webhook = await create('/a');
      for (let turn = 0; turn < 5; turn++)
        await rig.extend(Array.from({ length: 50 }, (_, log) => grant(1000 + turn * 50 + log)));
      rig.deliver();
      await eventually('delivered', () => changesOf('/a').length === 250);
      expect(changesOf('/a').map(({ delegation }) => Number(delegation?.from))).toEqual(
        Array.from({ length: 250 }, (_, turn) => 1000 + turn),
      );
      expect(sentTo('/a').map(({ body }) => parse(body).data.changes.length)).toEqual([100, 100, 50]);
      await eventually('recorded', async () => (await record(webhook)).pending === null);
      const [first] = sentTo('/a');
      expect(parse(first?.body ?? '')).toMatchObject({ type: 'delegations.changes', data: { webhook: webhook.id } });
      expect(first?.headers).toMatchObject({
        'content-type': 'application/json',
        'webhook-id': expect.stringMatching(/^msg_[\w-]{24}$/),
        'webhook-timestamp': String(Math.floor(rig.clock / 1000)),
        'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/),
      });
      const attempts = await rig.webhooks.attempts(webhook.id);
      expect(attempts.map(({ changes, failure, status }) => [changes, failure, status])).toEqual([
        [50, null, 204],
        [100, null, 204],
        [100, null, 204],
      ]);
      expect((await record(webhook)).cursor).toBe(parse(sentTo('/a').at(-1)?.body ?? '').data.cursor);
    });

    test('filters by wallet, and stores how far it has read where nothing matches', async () => {
      const webhook = await create('/b', { filter: { chainIds: [CHAIN], from: address(7) } });
      await rig.extend(Array.from({ length: 1100 }, (_, log) => grant(1000 + log)));
      rig.deliver();
      await eventually('moved', async () => (await record(webhook)).cursor !== webhook.cursor);
      expect(sentTo('/b')).toEqual([]);
      await rig.extend([grant(8), grant(7), ended('ALL', { from: address(7), to: HOT, version: 1 })]);
      await eventually('delivered', () => changesOf('/b').length === 1);
      expect(changesOf('/b').map(({ type, delegation }) => [type, Number(delegation?.from)])).toEqual([['began', 7]]);
    });

    test('at final, delivers a change when its block is final; at head, at once and with an undo', async () => {
      await create('/final');
      await create('/head', { at: 'head' });
      await rig.extend([grant(5)], { isFinal: false });
      rig.deliver();
      await eventually('delivered', () => changesOf('/head').length === 1);
      const base = (rig.state.head?.number ?? 0) - 1;
      await rig.extend([grant(6)], { rollbackTo: base, isFinal: false });
      await eventually('delivered', () => changesOf('/head').length === 3);
      expect(changesOf('/final')).toEqual([]);
      await rig.extend();
      await eventually('final', () => changesOf('/final').length === 1);
      expect(changesOf('/head').map(({ type, block, delegation }) => [type, block.number, delegation?.from])).toEqual([
        ['began', base + 1, address(5)],
        ['undo', base, undefined],
        ['began', base + 1, address(6)],
      ]);
      expect(changesOf('/final').map(({ delegation }) => delegation?.from)).toEqual([address(6)]);
    });

    test('retries the same bytes with the same id, also if history has changed, then sends the undo', async () => {
      behaviours.set('/c', '500');
      const webhook = await create('/c', { at: 'head' });
      await rig.extend([grant(1)]);
      rig.deliver();
      await eventually('tried', async () => (await record(webhook)).failures === 1);
      const { nextAttemptAt, failingSince } = await record(webhook);
      expect([
        failingSince,
        Number(nextAttemptAt) >= rig.clock + 5000,
        Number(nextAttemptAt) <= rig.clock + 6000,
      ]).toEqual([rig.clock, true, true]);
      await rig.extend([grant(2)], { rollbackTo: (rig.state.head?.number ?? 0) - 1 });
      // The clock has not moved, so it is not tried again.
      await rig.rounds();
      expect(sentTo('/c')).toHaveLength(1);
      rig.clock = Number(nextAttemptAt);
      await eventually('tried again', async () => (await record(webhook)).failures === 2);
      behaviours.set('/c', 'ok');
      rig.clock += 60_000;
      await eventually('delivered', () => changesOf('/c').length === 3);
      expect(changesOf('/c').map(({ type, delegation }) => [type, delegation?.from])).toEqual([
        ['began', address(1)],
        ['undo', undefined],
        ['began', address(2)],
      ]);
      const [first, ...more] = sentTo('/c').slice(0, 3);
      for (const one of more) expect([one.id, one.body]).toEqual([first?.id ?? '', first?.body ?? '']);
      expect(new Set(sentTo('/c').map(({ id }) => id)).size).toBe(2);
    });

    test('pauses after three days of failures with its reason, and continues from there when resumed', async () => {
      behaviours.set('/d', 'redirect');
      const webhook = await create('/d');
      await rig.extend([grant(1)]);
      const paused: string[] = [];
      rig.deliver({ onPause: (_, reason) => void paused.push(reason) });
      for (let failures = 1; (await record(webhook)).paused === null; failures++) {
        await eventually('tried', async () => {
          const now = await record(webhook);
          return now.paused !== null || now.failures >= failures;
        });
        rig.clock = (await record(webhook)).nextAttemptAt ?? rig.clock;
      }
      const given = await record(webhook);
      expect([given.paused?.reason, paused]).toEqual(['failing', ['failing']]);
      expect(Number(given.paused?.at) - Number(given.failingSince)).toBe(GIVE_UP_MS);
      await rig.extend([grant(2)]);
      const tries = sentTo('/d').length;
      rig.clock += GIVE_UP_MS;
      await rig.rounds();
      expect(sentTo('/d')).toHaveLength(tries);
      behaviours.delete('/d');
      await rig.webhooks.resume(webhook.id);
      await eventually('delivered', () => changesOf('/d').length === 2);
      expect(changesOf('/d').map(({ delegation }) => delegation?.from)).toEqual([address(1), address(2)]);
      expect(sentTo('/d').at(-2)?.body).toBe(sentTo('/d')[0]?.body ?? '');
      expect(sentTo('/elsewhere')).toEqual([]);
    });

    test('pauses at once if the receiver is gone, or if its owner has no active key', async () => {
      behaviours.set('/gone', '410');
      const gone = await create('/gone');
      const key = await rig.accounts.create({ label: 'site', owner: '0xabc', now: rig.clock / 1000 });
      const keyless = await create('/keyless', { owner: '0xabc' });
      await rig.accounts.revoke(key?.record.id ?? 0, Math.floor(rig.clock / 1000));
      await rig.extend([grant(1)]);
      rig.deliver();
      await eventually('paused', async () => (await record(gone)).paused?.reason === 'gone');
      await eventually('paused', async () => (await record(keyless)).paused?.reason === 'no-active-key');
      expect([sentTo('/gone').length, sentTo('/keyless').length]).toEqual([1, 0]);
    });

    test('receivers that hang or fail delay no other webhook', async () => {
      const hanging = await Promise.all(
        Array.from({ length: 30 }, (_, turn) => createAt(`hang${turn}.test`, `/hang/${turn}`)),
      );
      for (const turn of hanging.keys()) behaviours.set(`/hang/${turn}`, '500');
      await rig.extend([grant(1)]);
      rig.deliver();
      await eventually('failed', async () =>
        (await Promise.all(hanging.map(record))).every(({ failures }) => failures > 0),
      );
      // All of them hang at their next attempt, which takes only a part of the places.
      for (const turn of hanging.keys()) behaviours.set(`/hang/${turn}`, 'hang');
      rig.clock += 60_000;
      await eventually('hanging', () => receiver.received.length >= 30 + 16);
      const others = await Promise.all(
        Array.from({ length: 40 }, (_, turn) => createAt(`fine${turn}.test`, `/fine/${turn}`)),
      );
      await rig.extend([grant(2)]);
      await eventually('delivered', () => others.every((_, turn) => changesOf(`/fine/${turn}`).length === 1));
      expect(receiver.received.filter(({ path }) => path.startsWith('/hang'))).toHaveLength(30 + 16);
    });

    test('many webhooks of one owner, or to one host, that hang leave room for others', async () => {
      const [owner, other] = [await withKey('0xabc'), await withKey('0xdef')];
      for (let turn = 0; turn < 20; turn++) {
        behaviours.set(`/own/${turn}`, 'hang');
        behaviours.set(`/host/${turn}`, 'hang');
        await createAt(`own${turn}.test`, `/own/${turn}`, { owner });
        await createAt('host.test', `/host/${turn}`);
      }
      await createAt('fine.test', '/other', { owner: other });
      await rig.extend([grant(1)]);
      rig.deliver();
      await eventually('delivered', () => changesOf('/other').length === 1);
      await eventually('hanging', () => receiver.received.length >= 4 + 8 + 1);
      await rig.rounds();
      const sent = (prefix: string) => receiver.received.filter(({ path }) => path.startsWith(prefix)).length;
      expect([sent('/own'), sent('/host')]).toEqual([4, 8]);
    });

    test('tests that hang leave all room to deliveries, and are few at once', async () => {
      for (let turn = 0; turn < 10; turn++) {
        behaviours.set(`/test/${turn}`, 'hang');
        const owner = await withKey(`0xabc${turn % 5}`);
        const { id } = await createAt(`test${turn}.test`, `/test/${turn}`, { owner });
        await rig.webhooks.requestTest(id, rig.clock);
      }
      for (let turn = 0; turn < 40; turn++) await createAt(`fine${turn}.test`, `/fine/${turn}`);
      await rig.extend([grant(1)]);
      rig.deliver();
      await eventually(
        'delivered',
        () => receiver.received.filter(({ path }) => path.startsWith('/fine')).length === 40,
      );
      await eventually('tested', () => receiver.received.length >= 44);
      await rig.rounds();
      expect(receiver.received).toHaveLength(44);
    });

    test('a host is not tried more than 20 times a minute by tests and by what has failed', async () => {
      for (let turn = 0; turn < 30; turn++) {
        behaviours.set(`/no/${turn}`, '500');
        const { id } = await createAt('no.test', `/no/${turn}`);
        await rig.webhooks.requestTest(id, rig.clock);
      }
      rig.deliver();
      await eventually('tried', () => receiver.received.length >= 20);
      await rig.rounds();
      expect(receiver.received).toHaveLength(20);
      rig.clock += 60_000;
      await eventually('tried', () => receiver.received.length >= 30);
    });

    test('a test that failed counts, and neither a replay nor another test shortens the wait', async () => {
      behaviours.set('/waits', '500');
      const webhook = await create('/waits');
      await rig.webhooks.requestTest(webhook.id, rig.clock);
      rig.deliver();
      await eventually('tested', async () => (await record(webhook)).failures === 1);
      const { nextAttemptAt } = await record(webhook);
      expect(Number(nextAttemptAt)).toBeGreaterThanOrEqual(rig.clock + 5000);
      await rig.extend([grant(1)]);
      await rig.webhooks.replayFrom(webhook.id, await replayCursor(await record(webhook), 'start', rig));
      await rig.rounds();
      expect([await record(webhook), sentTo('/waits').length]).toMatchObject([{ failures: 1, nextAttemptAt }, 1]);
      rig.clock = Number(nextAttemptAt);
      await eventually('delivered', async () => (await record(webhook)).failures === 2);
      behaviours.delete('/waits');
      await rig.webhooks.requestTest(webhook.id, rig.clock);
      await eventually('tested', async () => (await record(webhook)).testRequestedAt === null);
      expect([await record(webhook), sentTo('/waits').length]).toMatchObject([{ failures: 2 }, 3]);
      rig.clock = Number((await record(webhook)).nextAttemptAt);
      await eventually('delivered', () => changesOf('/waits').length === 1);
    });

    test('nothing but a challenge is sent before the receiver has answered with it', async () => {
      const webhook = await create('/new', { isConfirmed: false });
      await rig.extend([grant(1)]);
      rig.deliver();
      const challenge = async () => {
        const before = (await rig.webhooks.attempts(webhook.id)).length;
        await rig.webhooks.requestTest(webhook.id, rig.clock);
        await eventually('asked', async () => (await rig.webhooks.attempts(webhook.id)).length > before);
        return (await rig.webhooks.attempts(webhook.id))[0];
      };
      await rig.webhooks.replayFrom(webhook.id, await replayCursor(webhook, 'start', rig));
      await rig.rounds();
      expect(sentTo('/new')).toEqual([]);
      expect(await challenge()).toMatchObject({ type: 'challenge', failure: 'challenge', status: 204 });
      expect(await record(webhook)).toMatchObject({ paused: { reason: 'unconfirmed' }, pending: null });
      behaviours.set('/new', 'echo');
      expect(await challenge()).toMatchObject({ type: 'challenge', failure: null, status: 200 });
      await eventually('delivered', () => sentTo('/new').length === 3);
      const bodies = sentTo('/new').map(({ body }) => parse(body));
      const types = bodies.map(({ type }) => type);
      expect(types).toEqual(['webhook.challenge', 'webhook.challenge', 'delegations.changes']);
      // Nobody can guess it.
      const challenges = bodies.slice(0, 2).map(({ data }) => data.challenge);
      expect(challenges).toEqual([1, 2].map(() => expect.stringMatching(/^[\w-]{32}$/)));
      expect(new Set(challenges).size).toBe(2);
      expect(await record(webhook)).toMatchObject({ paused: null, failures: 0 });
    });

    test('an owner learns that a receiver is unreachable, not why and not when; the operator does', async () => {
      const owner = await withKey('0xabc');
      const outcomes: string[] = [];
      const resolve = async (name: string) =>
        ({ 'private.test': ['10.0.0.1'], 'none.test': [] as string[] })[name] ?? ['127.0.0.1'];
      const rules = { networks: parseNetworks('loopback') as Networks, allowsHttp: true };
      const options = { resolve, timeoutMs: 1500 };
      behaviours.set('/silent', 'hang');
      const made = await Promise.all([
        createAt('private.test', '/', { owner: await withKey('0x1') }),
        createAt('none.test', '/', { owner: await withKey('0x2') }),
        rig.create('http://127.0.0.1:1/', { owner: await withKey('0x3') }),
        createAt('silent.test', '/silent', { owner }),
        createAt('none.test', '/'),
      ]);
      for (const { id } of made) await rig.webhooks.requestTest(id, rig.clock);
      const began = performance.now();
      const since: number[] = [];
      const recordTimed: typeof rig.webhooks.record = (lease, ...rest) => {
        if (lease.id !== made.at(-1)?.id) since.push(performance.now() - began);
        return rig.webhooks.record(lease, ...rest);
      };
      rig.deliver({
        send: createSender(rules, options),
        timeoutMs: 1500,
        webhooks: { ...rig.webhooks, record: recordTimed },
        onAttempt: (outcome) => void outcomes.push(outcome),
      });
      await eventually('recorded', async () =>
        (await Promise.all(made.map(record))).every((one) => one.failures === 1),
      );
      const [operator, ...owners] = (await Promise.all(made.map(({ id }) => rig.webhooks.attempts(id)))).reverse();
      expect(operator).toMatchObject([{ failure: 'dns', ms: expect.any(Number) }]);
      for (const one of owners) expect(one).toMatchObject([{ failure: 'unreachable', status: null, ms: null }]);
      for (const ms of since) expect(ms).toBeGreaterThanOrEqual(1499);
      expect(outcomes.sort()).toEqual(['address-refused', 'connect', 'dns', 'dns', 'timeout']);
    });

    test('slow receivers leave room for quick ones', async () => {
      const times = new Map<string, number>();
      let waiting = 0;
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const slowly: typeof send = async (target, headers, body, rules) => {
        const sent = await send(target, headers, body, rules);
        const isSecond = (times.get(target) ?? 0) > 0;
        times.set(target, (times.get(target) ?? 0) + 1);
        if (!target.includes('slow')) return sent;
        if (isSecond) {
          waiting++;
          await ended;
        }
        return { ...sent, ms: 14_000 };
      };
      const slow: WebhookRecord[] = [];
      for (let turn = 0; turn < 40; turn++) slow.push(await createAt(`slow${turn}.test`, `/slow/${turn}`));
      await rig.extend([grant(1)]);
      rig.deliver({ send: slowly });
      await eventually('known', async () =>
        (await Promise.all(slow.map(record))).every(
          ({ cursor, pending }, turn) => pending === null && cursor !== slow[turn]?.cursor,
        ),
      );
      await rig.extend([grant(2)]);
      await eventually('waiting', () => waiting >= 16);
      for (let turn = 0; turn < 40; turn++) await createAt(`fine${turn}.test`, `/fine/${turn}`);
      await rig.extend([grant(3)]);
      await eventually(
        'delivered',
        () => receiver.received.filter(({ path }) => path.startsWith('/fine')).length === 40,
      );
      expect(waiting).toBe(16);
      end();
    });

    test('a receiver that turns out to be slow gives its room back, however much there is for it', async () => {
      let waiting = 0;
      const tried = new Set<string>();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const slowly: typeof send = async (target, headers, body, rules) => {
        if (tried.has(target)) {
          waiting++;
          await ended;
        }
        tried.add(target);
        return { ...(await send(target, headers, body, rules)), ms: 14_000 };
      };
      for (let turn = 0; turn < 40; turn++) await createAt(`slow${turn}.test`, `/slow/${turn}`);
      await rig.extend(Array.from({ length: 300 }, (_, turn) => grant(turn)));
      rig.deliver({ send: slowly });
      await eventually('tried', () => tried.size === 40 && waiting >= 16);
      expect(waiting).toBe(16);
      end();
    });

    test('after ten deliveries it is the turn of others, and a lease is longer than two attempts', async () => {
      await create('/long');
      for (let turn = 0; turn < 12; turn++)
        await rig.extend(Array.from({ length: 100 }, (_, log) => grant(turn * 100 + log)));
      const { webhooks } = rig;
      const claims: [deliveries: number, isLong: boolean][] = [];
      const claim: typeof webhooks.claim = (id, forMs, now) => {
        claims.push([sentTo('/long').length, forMs > 2 * TIMEOUT_MS]);
        return webhooks.claim(id, forMs, now);
      };
      rig.deliver({ webhooks: { ...webhooks, claim } });
      await eventually('delivered', () => changesOf('/long').length === 1200);
      expect(claims).toEqual([
        [0, true],
        [10, true],
      ]);
    });

    test('what another process has just tried is not tried again before its time', async () => {
      behaviours.set('/tried', '500');
      const webhook = await create('/tried');
      await rig.extend([grant(1)]);
      const { webhooks } = rig;
      let claims = 0;
      // As it was before the attempt.
      const candidates: typeof webhooks.candidates = async () => [{ ...(await record(webhook)), nextAttemptAt: null }];
      const claim: typeof webhooks.claim = async (...args) => {
        const claimed = await webhooks.claim(...args);
        if (claimed !== null) claims++;
        return claimed;
      };
      rig.deliver({ webhooks: { ...webhooks, candidates, claim } });
      await eventually('claimed again', () => claims >= 4);
      expect(sentTo('/tried')).toHaveLength(1);
    });

    test('a round looks at some of many webhooks, and all have their turn', async () => {
      for (let turn = 0; turn < 300; turn++) await create(`/many/${turn}`);
      const looked: number[] = [];
      const { candidates } = rig.webhooks;
      const counted: typeof candidates = async (page) => {
        const found = await candidates(page);
        looked.push(found.length);
        return found;
      };
      await rig.extend([grant(1)]);
      rig.deliver({ webhooks: { ...rig.webhooks, candidates: counted } });
      await eventually('delivered', () => new Set(receiver.received.map(({ path }) => path)).size >= 300);
      expect(Math.max(...looked)).toBe(250);
    }, 60_000);

    test('several processes share the work: each change is delivered once, by one process at a time', async () => {
      const paths = Array.from({ length: 12 }, (_, turn) => `/shared/${turn}`);
      for (const path of paths) {
        behaviours.set(path, 'slow');
        await create(path);
      }
      const others = await Promise.all([openAccounts(url), openAccounts(url)]);
      rig.deliver();
      for (const { engine: shared } of others) rig.deliver({ webhooks: createWebhooks(shared) });
      for (let turn = 0; turn < 10; turn++) await rig.extend([grant(100 + turn)]);
      await eventually('delivered', () => paths.every((path) => changesOf(path).length >= 10));
      await rig.rounds();
      for (const path of paths) {
        expect(changesOf(path).map(({ delegation }) => Number(delegation?.from))).toEqual(
          Array.from({ length: 10 }, (_, turn) => 100 + turn),
        );
        expect(receiver.mostAtOnce(path)).toBe(1);
      }
      await rig.close();
      await Promise.all(others.map((one) => one.close()));
      rig = await createWebhookRig(url, sender);
    });

    test('a webhook whose process died during an attempt is delivered by another, with the same id', async () => {
      const webhook = await create('/died');
      await rig.extend([grant(1)]);
      const { promise: isSending, resolve } = Promise.withResolvers<void>();
      // This process sends nothing and never comes back. Its lease ends soon.
      rig.deliver({
        leaseMs: 300,
        send: (_, __, ___, rules) =>
          new Promise((done) => {
            resolve();
            rules?.signal?.addEventListener('abort', () =>
              done({ type: 'failed', reason: 'connect', status: null, ms: 1 }),
            );
          }),
      });
      await isSending;
      const { pending } = await record(webhook);
      rig.deliver();
      await eventually('delivered', () => changesOf('/died').length === 1);
      expect(sentTo('/died').map(({ id }) => id)).toEqual([pending?.id ?? '']);
    });

    test('a process that was held up past half of its lease sends nothing under it', async () => {
      await create('/held');
      await rig.extend([grant(1)]);
      const { webhooks } = rig;
      const sentUntilRelease: number[] = [];
      let isHeldUp = true;
      const storePending: typeof webhooks.storePending = async (...delivery) => {
        const isStored = await webhooks.storePending(...delivery);
        if (isHeldUp) rig.clock += 31_000;
        isHeldUp = false;
        return isStored;
      };
      const release: typeof webhooks.release = (lease) => {
        sentUntilRelease.push(sentTo('/held').length);
        return webhooks.release(lease);
      };
      rig.deliver({ webhooks: { ...webhooks, storePending, release } });
      await eventually('delivered', () => sentUntilRelease.includes(1));
      expect(sentUntilRelease[0]).toBe(0);
      expect(changesOf('/held')).toHaveLength(1);
    });

    test('what could not be read is read again, also if nothing happens on the chain', async () => {
      await create('/unread');
      const source = createWebhookSource({
        store: rig.store,
        chainIds: new Set([CHAIN]),
        longLists: createLongLists(),
      });
      const failures = ['unavailable', 'still unavailable'];
      const errors: unknown[] = [];
      const read: typeof source.read = async (webhook, cursor) => {
        const failure = failures.shift();
        if (failure !== undefined) throw new Error(failure);
        return source.read(webhook, cursor);
      };
      rig.deliver({ source: { ...source, read }, onError: (error) => void errors.push(error) });
      await rig.extend([grant(1)]);
      await eventually('delivered', () => changesOf('/unread').length === 1);
      expect(errors).toHaveLength(2);
    });

    test('a look that failed is taken again, also if nothing happens on the chain', async () => {
      const webhook = await create('/look');
      await rig.extend([grant(1)]);
      let reads = 0;
      const changes: typeof rig.store.changes = async (query) => {
        if (reads++ === 0) throw new Error('away');
        return rig.store.changes(query);
      };
      const store = { ...rig.store, changes };
      const source = createWebhookSource({ store, chainIds: new Set([CHAIN]), longLists: createLongLists() });
      await source.observe();
      const look = () => source.peek(webhook, webhook.cursor);
      await expect(look()).rejects.toThrow('away');
      expect((await look()).count).toBe(1);
      // Others at the same place share it.
      expect([(await look()).count, reads]).toEqual([1, 2]);
    });

    test('a stop waits for attempts in flight; one that takes longer is aborted and does not count as a failure', async () => {
      behaviours.set('/slow', 'slow');
      behaviours.set('/stuck', 'hang');
      const [slow, stuck] = [await create('/slow'), await create('/stuck')];
      await rig.extend([grant(1)]);
      const { webhooks } = rig;
      const released: number[] = [];
      // The database takes its time. A stop waits for the last writes of what it aborts, before the database is closed.
      const release: typeof webhooks.release = async (lease) => {
        await Bun.sleep(20);
        await webhooks.release(lease);
        released.push(lease.id);
      };
      const deliverer = rig.deliver({ webhooks: { ...webhooks, release } });
      await eventually('in flight', () => receiver.received.length === 2);
      await deliverer.stop(500);
      expect(released).toContain(stuck.id);
      expect((await record(slow)).pending).toBeNull();
      expect(await record(stuck)).toMatchObject({ failures: 0, pending: { changes: 1 } });
      behaviours.set('/stuck', 'ok');
      // The lease was released, so that another process continues at once.
      rig.deliver();
      await eventually('delivered', () => changesOf('/stuck').length === 1);
      const ids = sentTo('/stuck').map(({ id }) => id);
      expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    });

    test('a test is sent once, out of order, also to a paused webhook, and is not retried', async () => {
      behaviours.set('/test', '500');
      const webhook = await create('/test');
      await rig.extend([grant(1)]);
      await rig.webhooks.pause(webhook.id, rig.clock);
      await rig.webhooks.requestTest(webhook.id, rig.clock);
      rig.deliver();
      await eventually('sent', async () => (await record(webhook)).testRequestedAt === null);
      rig.clock += 60_000;
      await rig.rounds();
      expect(sentTo('/test').map(({ body }) => parse(body))).toMatchObject([
        { type: 'webhook.test', data: { webhook: webhook.id } },
      ]);
      const attempts = await rig.webhooks.attempts(webhook.id);
      expect(attempts).toMatchObject([{ type: 'test', failure: 'status', status: 500, changes: 0 }]);
      // What its owner is shown is what was sent.
      expect(attempts.map((one) => attemptJson(webhook.id, one).payload)).toEqual([sentTo('/test')[0]?.body ?? null]);
      expect(await record(webhook)).toMatchObject({ failures: 1, pending: null, paused: { reason: 'paused' } });
    });

    test('a replay from a block delivers again what began there', async () => {
      const webhook = await create('/replay');
      for (const from of [1, 2, 3]) await rig.extend([grant(from)]);
      rig.deliver();
      await eventually('delivered', () => changesOf('/replay').length === 3);
      await eventually('recorded', async () => (await record(webhook)).pending === null);
      const again = async (from: Parameters<typeof replayCursor>[1]) =>
        rig.webhooks.replayFrom(webhook.id, await replayCursor(await record(webhook), from, rig));
      const second = changesOf('/replay')[1]?.block.number ?? 0;
      await again({ chainId: CHAIN, block: second });
      await eventually('delivered', () => changesOf('/replay').length === 5);
      expect(changesOf('/replay').map(({ delegation }) => Number(delegation?.from))).toEqual([1, 2, 3, 2, 3]);
      await eventually('recorded', async () => (await record(webhook)).pending === null);
      await again('start');
      await eventually('delivered', () => changesOf('/replay').length === 8);
    });

    test('changes of a halted chain wait until it answers again', async () => {
      await create('/halted');
      const halt: Halt = { code: 'registry-mismatch', block: 1, since: 1 };
      await rig.extend([grant(1)]);
      await rig.store.report(CHAIN, rig.state.epoch, { halt });
      rig.deliver();
      await rig.rounds();
      expect(sentTo('/halted')).toEqual([]);
      await rig.store.report(CHAIN, rig.state.epoch, { halt: null });
      await eventually('delivered', () => changesOf('/halted').length === 1);
    });

    test('there are 50 milliseconds between two looks for work', async () => {
      const sleep = spyOn(Bun, 'sleep');
      try {
        rig.deliver();
        await rig.rounds();
        expect(Math.max(...sleep.mock.calls.map(([ms]) => Number(ms)))).toBe(50);
      } finally {
        sleep.mockRestore();
      }
    });

    test('hundreds of idle webhooks cost a few reads of the index when a block comes', async () => {
      await Promise.all(
        Array.from({ length: 300 }, (_, turn) =>
          create(`/idle/${turn}`, { filter: { chainIds: 'served', from: address(9) } }),
        ),
      );
      let [reads, rounds] = [0, 0];
      const changes: typeof rig.store.changes = (query) => {
        reads++;
        return rig.store.changes(query);
      };
      const source = createWebhookSource({
        store: { ...rig.store, changes },
        chainIds: new Set([CHAIN]),
        longLists: createLongLists(),
      });
      const observe = () => {
        rounds++;
        return source.observe();
      };
      rig.deliver({ source: { ...source, observe } });
      for (let turn = 0; turn < 3; turn++) {
        const before = rounds;
        await rig.extend([grant(turn + 1)]);
        await eventually('looked at', () => rounds > before + 2);
      }
      expect(sentTo('/idle/0')).toEqual([]);
      expect(reads).toBeLessThan(10);
    });
  });
}
