// An exact sliding-window rate limiter, per client.

import type { Awaitable } from '../store/awaitable.ts';

/** At most `most` requests in any window of `seconds`. */
export interface Limit {
  readonly most: number;
  readonly seconds: number;
}

export interface LimitResult {
  readonly accepted: boolean;
  /** Requests left in the window. */
  readonly remaining: number;
  /** Seconds until the oldest request leaves the window and `remaining` grows. */
  readonly seconds: number;
}

export interface Limiter {
  readonly limit: Limit;
  /** Counts a request if it is accepted. `now` is in milliseconds of a monotonic clock. */
  consume(client: string, now: number): Awaitable<LimitResult>;
  /** Number of clients that are tracked. */
  readonly clients: number;
}

const MOST_REQUESTS = 10_000;
const LONGEST_SECONDS = 3600;
export const LIMIT_RULE = `<requests>/<seconds>s, at most ${MOST_REQUESTS} requests and ${LONGEST_SECONDS} seconds`;

/** Parses `25/10s`; null if it is not a valid limit. */
export function parseLimit(text: string): Limit | null {
  const [, most, seconds] = /^(\d{1,6})\/(\d{1,5})s$/.exec(text) ?? [];
  const limit = { most: Number(most), seconds: Number(seconds) };
  const isValid =
    limit.most >= 1 && limit.most <= MOST_REQUESTS && limit.seconds >= 1 && limit.seconds <= LONGEST_SECONDS;
  return isValid ? limit : null;
}

/** Bounds the memory. A window is dropped once it is empty. */
const MAX_CLIENTS = 100_000;

export function createLimiter(limit: Limit, capacity = MAX_CLIENTS): Limiter {
  const { most } = limit;
  const span = limit.seconds * 1000;
  /** Times of accepted requests, oldest first. Clients are ordered by their newest request. */
  const windows = new Map<string, number[]>();
  /** New clients share this window while all others are in use. */
  const shared: number[] = [];

  const isExpired = (time: number | undefined, now: number) => time === undefined || now - time >= span;

  function dropExpired(now: number): void {
    for (const [client, times] of windows) {
      if (!isExpired(times.at(-1), now)) return;
      windows.delete(client);
    }
  }

  function windowOf(client: string, now: number): number[] {
    const own = windows.get(client);
    if (own !== undefined) return own;
    dropExpired(now);
    // A client that used the shared window must not start afresh, so a new window starts with the shared requests.
    return windows.size >= capacity ? shared : shared.filter((time) => !isExpired(time, now));
  }

  return {
    limit,
    consume(client, now) {
      const times = windowOf(client, now);
      while (times.length > 0 && isExpired(times[0], now)) times.shift();
      const accepted = times.length < most;
      if (accepted) {
        times.push(now);
        if (times !== shared) {
          windows.delete(client);
          windows.set(client, times);
        }
      }
      const oldest = times[0] ?? now;
      return { accepted, remaining: most - times.length, seconds: (oldest + span - now) / 1000 };
    },
    get clients() {
      return windows.size;
    },
  };
}
