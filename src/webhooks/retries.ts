// Decides what happens after a failed attempt: when to retry, or whether to pause the webhook.

import type { NextStep } from './webhooks.ts';

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];

/** The pauses after the first, the second, … failure of a delivery. The last one repeats. */
export const RETRY_PAUSES_MS: readonly number[] = [
  ...[5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE],
  ...[1 * HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR],
];
/** A delivery that has failed for so long pauses its webhook. */
export const GIVE_UP_MS = 72 * HOUR;
/** A pause is up to this share longer, so that receivers that failed together are not tried together. */
const JITTER = 0.2;
const GONE = 410;

export interface FailedDelivery {
  /** How often it failed before this attempt. */
  readonly failures: number;
  /** When it first failed; null if this is the first failure. */
  readonly failingSince: number | null;
  /** The HTTP status of this attempt; null if there was none. */
  readonly status: number | null;
  readonly now: number;
}

/** `random` is from 0 to 1. `scale` makes all times shorter, for tests. */
export function nextStep({ failures, failingSince, status, now }: FailedDelivery, random: number, scale = 1): NextStep {
  if (status === GONE) return { pause: 'gone' };
  const giveUpAt = (failingSince ?? now) + scale * GIVE_UP_MS;
  if (now >= giveUpAt) return { pause: 'failing' };
  const pause = RETRY_PAUSES_MS[Math.min(failures, RETRY_PAUSES_MS.length - 1)] ?? 0;
  // The last attempt is at the very end.
  return { retryAt: Math.min(Math.round(now + scale * pause * (1 + JITTER * random)), giveUpAt) };
}
