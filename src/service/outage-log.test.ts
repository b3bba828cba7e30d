import { expect, test } from 'bun:test';
import type { PooledProvider, ProviderFailure } from '../chain/rpc/provider-pool.ts';
import { createClockLog, createFailureFilter, createProviderLog } from './outage-log.ts';

const MINUTE = 60_000;

test('a long outage is logged at its 1st, 2nd, 4th, 8th failure, and at least every five minutes', () => {
  let now = 0;
  const isLogged = createFailureFilter(() => now);
  const logged: number[] = [];
  for (let times = 1; times <= 24 * 60 * 4; times++) {
    if (isLogged(times)) logged.push(now);
    now += 15_000;
  }
  expect(logged.slice(0, 5).map((at) => at / 15_000)).toEqual([0, 1, 3, 7, 15]);
  expect(Math.max(...logged.slice(1).map((at, before) => at - (logged[before] as number)))).toBe(5 * MINUTE);
});

function providerLog() {
  const clock = { now: 0 };
  const lines: object[] = [];
  const log = createProviderLog(
    1,
    (level, message, fields) => lines.push({ level, message, ...fields }),
    () => clock.now,
  );
  return { clock, log, take: () => lines.splice(0) };
}
const failure = (more: Partial<ProviderFailure> = {}): ProviderFailure => ({
  cause: 'http-401',
  message: 'HTTP 401: invalid key',
  httpStatus: 401,
  rpcCode: null,
  since: 0,
  at: 0,
  ...more,
});

test('a provider is logged when it fails, every five minutes while it is unhealthy, and when it recovers', () => {
  const { clock, log, take } = providerLog();
  log.failed('1/2', failure());
  const line = { level: 'warn', message: 'provider unhealthy', chainId: 1, provider: '1/2', cause: 'http-401' };
  expect(take()).toEqual([{ ...line, httpStatus: 401, error: 'HTTP 401: invalid key', unhealthySeconds: 0 }]);
  const providers = [
    { name: '1/2', failure: failure() },
    { name: '1/1', failure: null },
  ] as unknown as PooledProvider[];
  const seen: number[] = [];
  for (; clock.now < 11 * MINUTE; clock.now += 1000) {
    log.remind(providers);
    if (take().length > 0) seen.push(clock.now);
  }
  expect(seen).toEqual([5 * MINUTE, 10 * MINUTE]);
  log.recovered('1/2', 11 * MINUTE);
  expect(take()).toEqual([
    { level: 'info', message: 'provider recovered', chainId: 1, provider: '1/2', unhealthySeconds: 660 },
  ]);
});

test('another cause is logged, and a provider that keeps changing only once a minute', () => {
  const { clock, log, take } = providerLog();
  for (; clock.now < 10 * MINUTE; clock.now += 1000) {
    log.failed('1/1', failure({ cause: clock.now % 2000 === 0 ? 'timeout' : 'dns' }));
    log.recovered('1/1', 500);
  }
  expect(take()).toHaveLength(20);
  clock.now += MINUTE;
  log.failed('1/1', failure());
  clock.now += MINUTE;
  log.failed('1/1', failure({ cause: 'rate-limited' }));
  expect(take()).toMatchObject([{ cause: 'http-401' }, { cause: 'rate-limited' }]);
});

test('a wrong clock is logged once an hour for each chain, however often it is checked', () => {
  const told: unknown[] = [];
  let ticks = 0;
  const check = createClockLog(
    (level, message, fields) => void told.push([ticks, level, message, (fields as { chainId: number }).chainId]),
    () => ticks,
  );
  for (; ticks <= 3_600_000; ticks += 1_200_000) {
    check(1, 0, 0);
    check(1, 3600, 0);
    check(10, 0, 900);
  }
  expect(told).toEqual([
    [0, 'error', 'clock behind the chain', 1],
    [0, 'error', 'clock ahead of the chain', 10],
    [3_600_000, 'error', 'clock behind the chain', 1],
    [3_600_000, 'error', 'clock ahead of the chain', 10],
  ]);
});
