import { expect, test } from 'bun:test';
import { createTimedCache } from './timed-cache.ts';

test('keeps the most recently used, each until its time is over', () => {
  const cache = createTimedCache<number | null>(2);
  cache.set('a', 1, 60_000);
  cache.set('b', null, 60_000);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3, 60_000);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  cache.set('a', 2, 60_000);
  expect(cache.get('a')).toBe(2);
  cache.set('a', 4, 0);
  expect(cache.get('a')).toBeUndefined();
});
