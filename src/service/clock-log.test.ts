import { expect, test } from 'bun:test';
import { createClockLog } from './clock-log.ts';

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
