import { expect, test } from 'bun:test';
import { nextStep } from './retries.ts';

const NOW = 1_800_000_000_000;
const failed = { failures: 0, failingSince: null, status: 500, now: NOW };

test('a delivery that keeps failing is retried with growing pauses for three days, then its webhook is paused', () => {
  const pauses: number[] = [];
  let [now, failures] = [NOW, 0];
  for (;;) {
    const next = nextStep({ ...failed, failures, failingSince: failures === 0 ? null : NOW, now }, 0);
    if ('pause' in next) {
      expect(next).toEqual({ pause: 'failing' });
      break;
    }
    pauses.push(next.retryAt - now);
    [now, failures] = [next.retryAt, failures + 1];
  }
  // 5 s, 30 s, 2, 10 and 30 minutes, then 1, 2, 4 and 6 hours.
  const seconds = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600];
  expect(pauses.slice(0, seconds.length).map((ms) => ms / 1000)).toEqual(seconds);
  expect(new Set(pauses.slice(seconds.length, -1))).toEqual(new Set([21_600_000]));
  // The last attempt is made when the three days are over.
  expect(now - NOW).toBe(259_200_000);
});

test('pauses differ by up to a fifth, so that receivers that failed together are not tried together', () => {
  expect([0, 0.5, 1].map((random) => nextStep(failed, random))).toEqual(
    [5000, 5500, 6000].map((ms) => ({ retryAt: NOW + ms })),
  );
});

test('a receiver that is gone (410) pauses its webhook at once', () => {
  expect(nextStep({ ...failed, status: 410 }, 0)).toEqual({ pause: 'gone' });
  expect(nextStep({ ...failed, status: 404 }, 0)).toEqual({ retryAt: NOW + 5000 });
  expect(nextStep({ ...failed, status: null }, 0)).toEqual({ retryAt: NOW + 5000 });
});
