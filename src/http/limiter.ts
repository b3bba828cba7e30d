// At most so many requests in any stretch of so many seconds, for each client: an exact sliding window.

import type { Awaitable } from '../store/awaitable.ts';

export interface Limit {
  readonly most: number;
  readonly seconds: number;
}

export interface LimitResult {
  readonly accepted: boolean;
  /** How many more would be accepted now. */
  readonly remaining: number;
  /** Seconds until one more fits than does now. */
  readonly seconds: number;
}

export interface Limiter {
  readonly limit: Limit;
  /** Milliseconds of a clock that never goes back. Refused requests do not count. */
  consume(client: string, now: number): Awaitable<LimitResult>;
  /** How many clients have a window of their own. */
  readonly clients: number;
}

/** So many windows of clients are kept; a window is forgotten when it is empty. */
const MOST_CLIENTS = 100_000;

export function createLimiter(limit: Limit, capacity = MOST_CLIENTS): Limiter {
  const { most } = limit;
  const span = limit.seconds * 1000;
  /** Times of accepted requests, oldest first; the clients in the order of their newest one. */
  const windows = new Map<string, number[]>();
  /** Newcomers share this one while there is no room: memory stays bounded, and so does what they get. */
  const shared: number[] = [];

  const isOver = (time: number | undefined, now: number) => time === undefined || now - time >= span;

  function forget(now: number): void {
    for (const [client, times] of windows) {
      if (!isOver(times.at(-1), now)) return;
      windows.delete(client);
    }
  }

  function windowOf(client: string, now: number): number[] {
    const own = windows.get(client);
    if (own !== undefined) return own;
    forget(now);
    // Who shared a moment ago must not begin anew: a new window begins with all that was shared.
    return windows.size >= capacity ? shared : shared.filter((time) => !isOver(time, now));
  }

  return {
    limit,
    consume(client, now) {
      const times = windowOf(client, now);
      while (times.length > 0 && isOver(times[0], now)) times.shift();
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
