import { expect, test } from 'bun:test';
import { GIVE_UP_MS, nextStep, RETRY_PAUSES_MS } from './retries.ts';

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
  expect(pauses.slice(0, RETRY_PAUSES_MS.length)).toEqual([...RETRY_PAUSES_MS]);
  expect(pauses.slice(RETRY_PAUSES_MS.length, -1).every((pause) => pause === RETRY_PAUSES_MS.at(-1))).toBe(true);
  // The last attempt is made when the three days are over.
  expect(now - NOW).toBe(GIVE_UP_MS);
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
