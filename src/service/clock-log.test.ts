import { afterEach, expect, mock, spyOn, test } from 'bun:test';
import { createClockLog } from './clock-log.ts';

afterEach(() => mock.restore());

test('a clock that disagrees with a chain is logged once an hour for each chain', () => {
  let now = 1000;
  spyOn(performance, 'now').mockImplementation(() => now);
  const lines: string[] = [];
  const log = createClockLog((_level, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`));
  const seen = () => lines.splice(0).map((line) => line.replace(/,"help.*/, ''));
  log(1, 0, 0);
  expect(seen()).toEqual([]);
  log(1, 90, 0);
  log(10, 0, 70);
  log(1, 0, 80);
  expect(seen()).toEqual([
    'clock behind the chain {"chainId":1,"seconds":90',
    'clock ahead of the chain {"chainId":10,"seconds":70',
  ]);
  now += 3_599_999;
  log(1, 91, 0);
  expect(seen()).toEqual([]);
  now += 1;
  log(1, 92, 0);
  expect(seen()).toEqual(['clock behind the chain {"chainId":1,"seconds":92']);
});
