import { expect, test } from 'bun:test';
import { readConfig } from './config.ts';
import { createLimits } from './limits.ts';
import { createMetrics } from './metrics.ts';

const limitsOf = (environment: Record<string, string>) =>
  createLimits(readConfig(environment), () => {}, createMetrics(), null);

test('a key has its own limit, or the default of keys; off alone is no limit', () => {
  const limits = limitsOf({ KEY_LIMIT: '1000/10s' });
  const limitOf = (rateLimit: string | null) => limits.limiterOfKey(rateLimit)?.limit ?? null;
  expect(limitOf('50/60s')).toEqual({ most: 50, seconds: 60 });
  expect(limitOf(null)).toEqual({ most: 1000, seconds: 10 });
  expect(limitOf('off')).toBeNull();
  // A newer version may have written it.
  for (const unreadable of ['50/1m', '0/10s', '', 'OFF'])
    expect(limitOf(unreadable)).toEqual({ most: 1000, seconds: 10 });
  expect(limits.limiterOfKey('50/60s')).toBe(limits.limiterOfKey('50/60s'));
});

test('pages, sign-ins and new webhooks have limits that no setting lifts', () => {
  const { anonymous, pages, lookups, registrations } = limitsOf({ ANONYMOUS_LIMIT: 'off' });
  expect([anonymous, pages.limit, lookups.limit, registrations.limit]).toEqual([
    null,
    { most: 300, seconds: 10 },
    { most: 40, seconds: 10 },
    { most: 20, seconds: 3600 },
  ]);
});
