// The sliding-window limiter against a brute-force model, and its memory.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createLimiter, createSharedLimiter, type LimitResult } from './limiter.ts';

const LIMIT = { most: 25, seconds: 10 };
const SPAN = 10_000;

/** Checks that no window has more accepted requests than the limit. */
const most = (accepted: readonly number[]) =>
  Math.max(0, ...accepted.map((from) => accepted.filter((time) => time >= from && time < from + SPAN).length));

/** Pauses between requests: bursts, trickles, and the exact edges of the window. */
const waits = fc.array(
  fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 600 }), fc.constantFrom(SPAN - 1, SPAN, SPAN + 1, 399, 400, 401)),
  { minLength: 1, maxLength: 200 },
);

describe('the limiter', () => {
  test('accepts exactly what a count of the last ten seconds allows, for any arrival pattern', () => {
    fc.assert(
      fc.property(waits, (pauses) => {
        const limiter = createLimiter(LIMIT);
        const accepted: number[] = [];
        let now = 1;
        for (const pause of pauses) {
          now += pause;
          const recent = accepted.filter((time) => now - time < SPAN);
          const result = limiter.consume('one', now) as LimitResult;
          expect(result.accepted).toBe(recent.length < LIMIT.most);
          if (result.accepted) accepted.push(now);
          expect(result.remaining).toBe(LIMIT.most - Math.min(LIMIT.most, recent.length + (result.accepted ? 1 : 0)));
          const oldest = recent[0] ?? now;
          expect(result.seconds).toBeCloseTo((oldest + SPAN - now) / 1000, 6);
        }
        expect(most(accepted)).toBeLessThanOrEqual(LIMIT.most);
      }),
      { numRuns: 500 },
    );
  });

  test('takes a cost whole or not at all, and says when it fits', () => {
    const costs = fc.array(fc.tuple(fc.constantFrom(0, 1, 399, SPAN / 2, SPAN), fc.integer({ min: 1, max: 27 })), {
      minLength: 1,
      maxLength: 100,
    });
    fc.assert(
      fc.property(costs, (requests) => {
        const limiter = createLimiter(LIMIT);
        const accepted: number[] = [];
        let now = 1;
        for (const [pause, cost] of requests) {
          now += pause;
          const recent = accepted.filter((time) => now - time < SPAN);
          const result = limiter.consume('one', now, cost) as LimitResult;
          expect(result.accepted).toBe(recent.length + cost <= LIMIT.most);
          if (result.accepted) accepted.push(...Array.from({ length: cost }, () => now));
          expect(result.remaining).toBe(LIMIT.most - recent.length - (result.accepted ? cost : 0));
          if (result.accepted || cost > LIMIT.most) continue;
          const later = now + 1000 * result.seconds;
          const left = (at: number) => recent.filter((time) => at - time < SPAN).length;
          expect([left(later) + cost <= LIMIT.most, left(later - 1) + cost <= LIMIT.most]).toEqual([true, false]);
        }
        expect(most(accepted)).toBeLessThanOrEqual(LIMIT.most);
      }),
      { numRuns: 500 },
    );
  });

  test('with more clients than its capacity, also those with costs, no client exceeds its limit', () => {
    const arrivals = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1, max: 4 })),
      { minLength: 1, maxLength: 300 },
    );
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 5 }), (requests, capacity) => {
        const limiter = createLimiter({ most: 4, seconds: 10 }, capacity);
        const accepted = new Map<number, number[]>();
        let now = 1;
        for (const [client, pause, cost] of requests) {
          now += pause;
          if (!(limiter.consume(String(client), now, cost) as LimitResult).accepted) continue;
          const times = Array.from({ length: cost }, () => now);
          accepted.set(client, [...(accepted.get(client) ?? []), ...times]);
        }
        for (const times of accepted.values()) expect(most(times)).toBeLessThanOrEqual(4);
      }),
      { numRuns: 300 },
    );
  });

  test('with more clients than its capacity, no client exceeds its limit and the total is bounded', () => {
    const arrivals = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 900 })), {
      minLength: 1,
      maxLength: 400,
    });
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 5 }), (requests, capacity) => {
        const limiter = createLimiter({ most: 3, seconds: 10 }, capacity);
        const accepted = new Map<number, number[]>();
        let now = 1;
        for (const [client, pause] of requests) {
          now += pause;
          if (!(limiter.consume(String(client), now) as LimitResult).accepted) continue;
          accepted.set(client, [...(accepted.get(client) ?? []), now]);
        }
        for (const times of accepted.values()) expect(most(times)).toBeLessThanOrEqual(3);
        expect(limiter.clients).toBeLessThanOrEqual(capacity);
        expect(most([...accepted.values()].flat())).toBeLessThanOrEqual(3 * (capacity + 1) + 3 * capacity);
      }),
      { numRuns: 500 },
    );
  });

  test('once there is capacity again, new clients get their own windows', () => {
    const limiter = createLimiter(LIMIT, 1000);
    for (let client = 0; client <= 1000; client++) limiter.consume(`early ${client}`, 1);
    let refused = 0;
    for (let second = 1; second <= 600; second++) {
      for (let turn = 0; turn < 5; turn++) {
        if (!(limiter.consume(`late ${second} ${turn}`, second * 1000) as LimitResult).accepted) refused++;
      }
    }
    // Only while the early clients were tracked.
    expect(refused).toBeLessThan(100);
    expect(limiter.clients).toBeGreaterThan(10);
  });

  test('a client that gets its own window is still counted what it had in the shared one', () => {
    const limiter = createLimiter({ most: 3, seconds: 10 }, 1);
    const accepts = (client: string, now: number) => (limiter.consume(client, now) as LimitResult).accepted;
    expect(accepts('first', 0)).toBe(true);
    expect([1000, 2000, 3000].map((now) => accepts('late', now))).toEqual([true, true, true]);
    // The first one has left the table, and one of the late ones the window.
    expect([11_000, 11_000, 12_000, 12_000].map((now) => accepts('late', now))).toEqual([true, false, true, false]);
  });

  test('of a shared limit asks again at the very moment that a refusal named', async () => {
    let asked = 0;
    const refuse = async () => ({ accepted: false, remaining: 0, seconds: ++asked });
    const limiter = createSharedLimiter(createLimiter(LIMIT), [refuse], () => {});
    const refusals = [];
    for (const now of [0, 999, 1000, 2999, 3000]) refusals.push((await limiter.consume('a', now)).seconds);
    expect(refusals).toEqual([1, 0.001, 2, 0.001, 3]);
  });

  test('of a shared limit remembers at most 10,000 refused clients', async () => {
    const refuse = async () => ({ accepted: false, remaining: 0, seconds: 9 });
    const limiter = createSharedLimiter(createLimiter(LIMIT), [refuse], () => {});
    for (let client = 0; client < 10_000; client++) await limiter.consume(String(client), 1);
    expect(limiter.clients).toBe(10_000);
    await limiter.consume('one more', 1);
    expect(limiter.clients).toBe(1);
  });

  test('100,500 /64s of two /48s leave room for newcomers, and for the /64s that came first', () => {
    const limiter = createLimiter(LIMIT);
    const accepts = (client: string, now = 1) => (limiter.consume(client, now) as LimitResult).accepted;
    for (let turn = 0; turn < 100_500; turn++)
      accepts(`2001:db8:${(turn >> 16).toString(16)}:${(turn & 0xffff).toString(16)}::/64`);
    // 256 windows for each /48, and one that its other /64s share.
    expect(limiter.clients).toBe(2 * 257);
    for (let newcomer = 0; newcomer < 1000; newcomer++) expect(accepts(`192.0.2.${newcomer}`)).toBe(true);
    expect(accepts('2001:db8:2:1::/64')).toBe(true);
    expect(accepts('2001:db8:0:0::/64')).toBe(true);
    expect(accepts('2001:db8:0:ffff::/64')).toBe(false);
    expect(accepts('2001:db8:0:ffff::/64', 10_002)).toBe(true);
    expect(limiter.clients).toBe(1);
  });

  test('a /64 never exceeds its limit, however its /48 and the table fill up', () => {
    const arrivals = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 2500 })),
      { minLength: 1, maxLength: 300 },
    );
    fc.assert(
      fc.property(
        arrivals,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        (requests, size, share) => {
          const limiter = createLimiter({ most: 3, seconds: 10 }, size, share);
          const accepted = new Map<string, number[]>();
          let now = 1;
          for (const [prefix, network, pause] of requests) {
            now += pause;
            const client = `2001:db8:${prefix}:${network}::/64`;
            const { accepted: isAccepted, remaining, seconds } = limiter.consume(client, now) as LimitResult;
            expect(remaining).toBeWithin(0, 4);
            expect(seconds).toBeWithin(0, 10.001);
            if (isAccepted) accepted.set(client, [...(accepted.get(client) ?? []), now]);
          }
          for (const times of accepted.values()) expect(most(times)).toBeLessThanOrEqual(3);
          expect(limiter.clients).toBeLessThanOrEqual(size);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a million clients use the memory of a hundred thousand, which is freed later', () => {
    const limiter = createLimiter(LIMIT);
    Bun.gc(true);
    const before = process.memoryUsage().heapUsed;
    let accepted = 0;
    for (let client = 0; client < 1_000_000; client++) {
      if (
        (limiter.consume(`10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`, 1 + client / 1e6) as LimitResult)
          .accepted
      )
        accepted++;
    }
    Bun.gc(true);
    const grown = (process.memoryUsage().heapUsed - before) / 1e6;
    console.log(`a million clients: ${limiter.clients} windows, ${grown.toFixed(0)} MB, ${accepted} accepted`);
    expect([limiter.clients, accepted]).toEqual([100_000, 100_025]);
    expect(grown).toBeLessThan(60);
    limiter.consume('later', 20_000);
    expect(limiter.clients).toBe(1);
  });
});
