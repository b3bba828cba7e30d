import { expect, test } from 'bun:test';
import { createWorld } from '../../../test/support/world.ts';
import { pauseAfterFailure, runFollower } from './run-follower.ts';

test('a follower whose chain another one has claimed ends, and reports no failure', async () => {
  const world = await createWorld({ blocks: 5 });
  await world.one.catchUp();
  const overtaken = world.one.follower;
  world.one.restart();
  await world.one.catchUp();
  world.grow(1);
  const failures: unknown[] = [];
  const onError = (error: unknown) => failures.push(error);
  const { signal } = new AbortController();
  expect(await runFollower(overtaken, { pollMs: 1, signal, onError, stalledMs: 0 })).toBe('overtaken');
  expect(failures).toEqual([]);
  await world.close();
});

test('after a failure, a follower waits for half a poll to a whole one, and for a quarter of a second at least', () => {
  expect([0, 1].map((random) => pauseAfterFailure(12_000, random))).toEqual([6000, 12_000]);
  expect([0, 1].map((random) => pauseAfterFailure(100, random))).toEqual([250, 250]);
});
