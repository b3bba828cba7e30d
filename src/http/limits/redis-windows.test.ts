// The shared limit on a real Redis: exact across processes, and never blocking when Redis fails.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createRandom } from '../../../test/support/random.ts';
import { type RedisServer, startRedis } from '../../../test/support/redis.ts';
import { createAdmission } from './admission.ts';
import { createLimiter, createSharedLimiter, type Limit, type LimitResult } from './limiter.ts';
import { createRedisWindows } from './redis-windows.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.kill());

const LIMIT: Limit = { most: 25, seconds: 10 };
/** Longer than a test lasts. */
const LONG_MS = 3_600_000;

/** With a long timeout, a busy machine does not make a limiter fall back. */
function openLimiter(limit: Limit, name: string, timeoutMs?: number) {
  const turns: boolean[] = [];
  const windows = createRedisWindows(redis.url, (isConnected) => void turns.push(isConnected), timeoutMs);
  let away = 0;
  const limiter = createSharedLimiter(createLimiter(limit), [windows.windowOf(name, limit)], () => void away++);
  return {
    windows,
    turns,
    away: () => away,
    consume: (client: string, cost = 1) => limiter.consume(client, performance.now(), cost) as Promise<LimitResult>,
  };
}

describe('the window in Redis', () => {
  test('two processes together accept exactly the limit', async () => {
    const [one, other] = [openLimiter(LIMIT, 'two', LONG_MS), openLimiter(LIMIT, 'two', LONG_MS)];
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, turn) => (turn % 2 === 0 ? one : other).consume('client')),
    );
    expect(verdicts.filter(({ accepted }) => accepted)).toHaveLength(25);
    const remaining = verdicts.filter(({ accepted }) => accepted).map((one) => one.remaining);
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 25 }, (_, left) => left));
    for (const { seconds } of verdicts) expect(seconds).toBeWithin(9, 10.001);
    expect((await one.consume('somebody else')).remaining).toBe(24);
    for (const { windows } of [one, other]) windows.close();
  });

  test('takes a cost whole or not at all, also from several processes at once', async () => {
    const [one, other] = [openLimiter(LIMIT, 'costs', LONG_MS), openLimiter(LIMIT, 'costs', LONG_MS)];
    const verdicts = await Promise.all(
      Array.from({ length: 40 }, (_, turn) => (turn % 2 === 0 ? one : other).consume('client', 7)),
    );
    // Three times 7 fit into 25, and 4 are left.
    expect(verdicts.filter(({ accepted }) => accepted).map(({ remaining }) => remaining)).toEqual([18, 11, 4]);
    for (const { accepted, remaining } of verdicts) if (!accepted) expect(remaining).toBe(4);
    // A refused cost does not refuse a smaller one.
    expect(await one.consume('client', 4)).toMatchObject({ accepted: true, remaining: 0 });
    expect(await other.consume('client')).toMatchObject({ accepted: false, remaining: 0 });
    // A /64 that shares the window of its /48 is counted in the same way.
    const network = '2001:db8:5:1::/64';
    expect(await one.consume(network, 25)).toMatchObject({ accepted: true, remaining: 0 });
    expect((await other.consume(network)).accepted).toBe(false);
    for (const { windows } of [one, other]) windows.close();
  });

  test('a refused cost names the time at which it fits', async () => {
    const limit = { most: 5000, seconds: 10 };
    const one = openLimiter(limit, 'later', LONG_MS);
    expect(await one.consume('client', 3000)).toMatchObject({ accepted: true, remaining: 2000 });
    await Bun.sleep(300);
    expect(await one.consume('client', 1999)).toMatchObject({ accepted: true, remaining: 1 });
    // Frees up with the first 3000.
    const began = performance.now();
    const [first, second] = [await one.consume('client', 3001), await one.consume('client', 3002)];
    const between = (performance.now() - began) / 1000;
    expect([first.accepted, second.accepted]).toEqual([false, false]);
    expect(first.seconds).toBeLessThanOrEqual(9.71);
    expect(second.seconds + between).toBeGreaterThan(first.seconds + 0.29);
    one.windows.close();
  });

  test('any arrival pattern: never more than the limit in any window, and never refused below it', async () => {
    const limit = { most: 5, seconds: 0.25 };
    const span = 250;
    const random = createRandom(5);
    const processes = [
      openLimiter(limit, 'random', LONG_MS),
      openLimiter(limit, 'random', LONG_MS),
      openLimiter(limit, 'random', LONG_MS),
    ];
    const accepted: { began: number; ended: number }[] = [];
    const refused: { began: number; ended: number }[] = [];
    const traffic = async (one: (typeof processes)[number]) => {
      for (let turn = 0; turn < 150; turn++) {
        await Bun.sleep(random() < 0.5 ? 0 : random() * 60);
        const began = performance.now();
        const result = await one.consume('client');
        (result.accepted ? accepted : refused).push({ began, ended: performance.now() });
      }
    };
    await Promise.all(processes.map(traffic));
    accepted.sort((a, b) => a.ended - b.ended);
    // Each request was counted at some time between its start and its end.
    for (let turn = 0; turn + limit.most < accepted.length; turn++) {
      const [first, next] = [accepted[turn], accepted[turn + limit.most]];
      expect((next?.ended ?? 0) - (first?.began ?? 0)).toBeGreaterThanOrEqual(span - 1);
    }
    for (const { began, ended } of refused) {
      const recent = accepted.filter((one) => one.ended > began - span - 1 && one.began < ended);
      expect(recent.length).toBeGreaterThanOrEqual(limit.most);
    }
    expect([accepted.length > 20, refused.length > 20]).toEqual([true, true]);
    for (const { windows } of processes) windows.close();
  });

  test('a /48 has 256 windows and one that its other /64s share; a newcomer and the first /64s are not concerned', async () => {
    const one = openLimiter(LIMIT, 'prefix', LONG_MS);
    const burst = async (from: number, to: number) => {
      const clients = Array.from({ length: to - from }, (_, turn) => `2001:db8:0:${(from + turn).toString(16)}::/64`);
      const results = await Promise.all(clients.map((client) => one.consume(client)));
      return results.filter(({ accepted }) => accepted).length;
    };
    expect(await burst(0, 256)).toBe(256);
    expect(await burst(256, 2000)).toBe(25);
    expect(await burst(0, 256)).toBe(256);
    expect((await one.consume('2001:db8:1:1::/64')).remaining).toBe(24);
    expect((await one.consume('192.0.2.1')).remaining).toBe(24);
    one.windows.close();
  });

  test('a /64 that used the window of its /48 does not start afresh', async () => {
    const limit = { most: 3, seconds: 2 };
    const [one, admin] = [openLimiter(limit, 'moved', LONG_MS), new Bun.RedisClient(redis.url)];
    const clients = Array.from({ length: 256 }, (_, turn) => `2001:db8:0:${turn.toString(16)}::/64`);
    await Promise.all(clients.map((client) => one.consume(client)));
    expect((await one.consume('2001:db8:0:ffff::/64')).remaining).toBe(2);
    // As if the others had been idle for long.
    await admin.send('DEL', ['delegations:moved:2001:db8:0::/48:clients']);
    expect((await one.consume('2001:db8:0:ffff::/64')).remaining).toBe(1);
    admin.close();
    one.windows.close();
  });

  test('while Redis is unreachable each process has its own limit; when it is back they share one again', async () => {
    const [one, other] = [openLimiter(LIMIT, 'away', LONG_MS), openLimiter(LIMIT, 'away', LONG_MS)];
    const burst = async (client: string) => {
      const verdicts = await Promise.all(
        Array.from({ length: 80 }, (_, turn) => (turn % 2 === 0 ? one : other).consume(client)),
      );
      return verdicts.filter(({ accepted }) => accepted).length;
    };
    expect(await burst('before')).toBe(25);
    await redis.kill();
    expect(await burst('meanwhile')).toBe(50);
    expect([one.windows.isConnected, one.turns, one.away() > 0]).toEqual([false, [false], true]);
    await redis.start();
    while (!one.windows.isConnected || !other.windows.isConnected) {
      await burst('between');
      await Bun.sleep(50);
    }
    expect(await burst('after')).toBe(25);
    expect([one.windows.isConnected, one.turns]).toEqual([true, [false, true]]);
    for (const { windows } of [one, other]) windows.close();
  });

  test('lookups of random keys are limited, also with two concurrent requests per key', async () => {
    const windows = createRedisWindows(redis.url, () => {}, LONG_MS);
    const limit = { most: 40, seconds: 10 };
    const lookups = createSharedLimiter(createLimiter(limit), [windows.windowOf('keys', limit)], () => {});
    const looked = new Set<string>();
    const keys = {
      known: () => null,
      found: () => null,
      isFamiliar: () => false,
      lookUp: async (key: string) => looked.size < looked.add(key).size && false,
    };
    const admission = createAdmission({
      anonymous: null,
      pages: lookups,
      lookups,
      limiterOfKey: () => null,
      keys,
      proxies: { check: () => false },
    });
    const requests = Array.from({ length: 400 }, (_, turn) => `dk_${turn >> 1}`);
    await Promise.all(
      requests.map((key) =>
        admission.admit({
          request: new Request('http://x/', { headers: { 'x-api-key': key } }),
          budget: 'keyed',
          socket: () => '192.0.2.1',
        }),
      ),
    );
    expect(looked.size).toBe(40);
    windows.close();
  });

  test('a Redis that closes idle connections still counts as connected', async () => {
    const one = openLimiter(LIMIT, 'quiet', LONG_MS);
    await one.consume('client');
    const admin = new Bun.RedisClient(redis.url);
    await admin.send('CLIENT', ['KILL', 'TYPE', 'normal', 'SKIPME', 'yes']);
    admin.close();
    await Bun.sleep(50);
    expect((await one.consume('client')).remaining).toBe(23);
    expect([one.away(), one.turns]).toEqual([0, []]);
    one.windows.close();
  });

  test('a Redis that hangs does not delay requests, and is not tried for a while', async () => {
    const one = openLimiter(LIMIT, 'hanging');
    await one.consume('client');
    process.kill(redis.pid, 'SIGSTOP');
    for (let turn = 0; turn < 30; turn++) await one.consume('client');
    process.kill(redis.pid, 'SIGCONT');
    expect([one.windows.isConnected, one.away()]).toEqual([false, 30]);
    // The first of the 30 was sent to Redis, which counts it late; the others were not.
    const other = openLimiter(LIMIT, 'hanging', LONG_MS);
    expect((await other.consume('client')).remaining).toBe(22);
    for (const { windows } of [one, other]) windows.close();
  });
});
