import { expect, test } from 'bun:test';
import { hash } from '../../../test/support/fixtures.ts';
import type { Header, Node } from '../rpc/node.ts';
import type { BlockLogs } from '../rpc/registry-logs.ts';
import { resolveTimes } from './resolve-blocks.ts';

/** By their headers, block N has the time 10 N. */
const node = {
  headers: async (numbers: readonly number[]) =>
    numbers.map((number) => ({ number, hash: hash(number), timestamp: 10 * number })),
} as unknown as Node;
const NUMBERS = [1, 2, 3, 4, 5, 6, 7];
const resolve = async (told: Readonly<Record<number, number>>, between = { after: 0, until: 70 }) => {
  const found = NUMBERS.map(
    (number): BlockLogs => ({ number, hash: hash(number), timestamp: told[number] ?? 10 * number, logs: [] }),
  );
  const times = await resolveTimes(node, found, { between });
  return NUMBERS.map((number) => times.get(number)?.time);
};
const RIGHT = NUMBERS.map((number) => 10 * number);

test('times in logs are used if a sample is right', async () => {
  expect(await resolve({})).toEqual(RIGHT);
  expect(await resolve({ 2: 21 })).toEqual([10, 21, 30, 40, 50, 60, 70]);
});

test('a header that is known is one of the sample, and is not asked for again', async () => {
  const asked: number[] = [];
  const counting = {
    headers: (numbers: readonly number[]) => {
      asked.push(...numbers);
      return node.headers(numbers);
    },
  } as unknown as Node;
  const resolveWith = async (last: number) => {
    asked.length = 0;
    const times = [10, 20, 30, 40, 50, 60, last];
    const found = NUMBERS.map(
      (number, at): BlockLogs => ({ number, hash: hash(number), timestamp: times[at] ?? null, logs: [] }),
    );
    const known = new Map([[7, { number: 7, hash: hash(7), timestamp: 70 } as Header]]);
    await resolveTimes(counting, found, { known, between: { after: 0, until: 70 } });
    return asked;
  };
  expect(await resolveWith(70)).toEqual([1, 4]);
  expect(await resolveWith(69)).toEqual([1, 4, 2, 3, 5, 6]);
});

test('times in logs that go back, or are beyond the headers around them, are not used', async () => {
  expect(await resolve({ 2: 9 })).toEqual(RIGHT);
  expect(await resolve({ 2: 31 })).toEqual(RIGHT);
  expect(await resolve({ 2: 21 }, { after: 0, until: 69 })).toEqual(RIGHT);
  expect(await resolve({ 2: 21 }, { after: 11, until: 70 })).toEqual(RIGHT);
});

test('if one of the sample is wrong, no time in logs is used', async () => {
  for (const wrong of [1, 4, 7]) expect(await resolve({ 2: 21, [wrong]: 10 * wrong - 1 })).toEqual(RIGHT);
});

test('a block whose header has another hash is not stored', async () => {
  const found = [{ number: 1, hash: hash(1, 1), timestamp: null, logs: [] }];
  await expect(resolveTimes(node, found, {})).rejects.toThrow('block 1 has two hashes');
});
