import { expect, test } from 'bun:test';
import { createRoom, type Work } from './room.ts';

const work = (more: Partial<Work> = {}): Work => ({
  isTest: false,
  isTroubled: false,
  owner: 'Ada',
  host: 'a.example',
  ...more,
});

test('a host has 600 attempts a minute, 20 of tests and of what has failed, and others have theirs', () => {
  const at = { now: 0 };
  const room = createRoom(() => at.now, 1);
  const tried = (one: Work, times: number) =>
    Array.from({ length: times }, () => room.isInPace(one)).filter(Boolean).length;
  expect(tried(work({ isTest: true }), 15)).toBe(15);
  expect(tried(work({ isTroubled: true }), 15)).toBe(5);
  expect(tried(work(), 1000)).toBe(580);
  expect(tried(work({ host: 'b.example' }), 1000)).toBe(600);
  at.now = 59_999;
  expect(tried(work(), 1)).toBe(0);
  at.now = 60_000;
  expect(tried(work(), 1000)).toBe(600);
});

test('an owner has one test at a time, and all have four, whatever is delivered', () => {
  const room = createRoom(() => 0, 1);
  for (let turn = 0; turn < 40; turn++) room.take(work({ owner: null, host: `${turn}.example` }));
  const testOf = (owner: string) => work({ isTest: true, owner, host: `${owner}.example` });
  const give = room.take(testOf('Ada'));
  expect([room.has(testOf('Ada')), room.has(testOf('Bob'))]).toEqual([false, true]);
  for (const owner of ['Bob', 'Cid', 'Dan']) room.take(testOf(owner));
  expect(room.has(testOf('Eve'))).toBe(false);
  give();
  expect([room.has(testOf('Eve')), room.has(testOf('Ada'))]).toEqual([true, true]);
});

test('32 deliveries are sent at once, whoever they are for', () => {
  const room = createRoom(() => 0, 1);
  const next = (turn: number) => work({ owner: `${turn}`, host: `${turn}.example` });
  const given = Array.from({ length: 32 }, (_, turn) => room.take(next(turn)));
  expect(room.has(next(32))).toBe(false);
  given[0]?.();
  expect(room.has(next(32))).toBe(true);
});

test('a receiver is slow until it is quick again, and is forgotten with its webhook', () => {
  const room = createRoom(() => 0, 1);
  const isSlow = () => [1, 2].map((id) => room.isSlow({ id }));
  for (const id of [1, 2]) room.note({ id }, 2001);
  expect(isSlow()).toEqual([true, true]);
  room.note({ id: 1 }, 2000);
  expect(isSlow()).toEqual([false, true]);
  room.keep(new Set([1]));
  expect(isSlow()).toEqual([false, false]);
});
