// A rate limiter whose windows are held elsewhere (Redis or the parent process), with a local fallback.

import type { Limit, Limiter, LimitResult } from './limiter.ts';

/** Consumes a cost from a window that several processes share. Rejects if the window is unreachable. */
export type SharedWindow = (client: string, cost: number) => Promise<LimitResult>;

export interface SharedLimiterOptions {
  readonly limit: Limit;
  /** In order of preference: the next one is used while those before it are unreachable. */
  readonly windows: readonly SharedWindow[];
  /** Used while all windows are unreachable; null means no limit then. */
  readonly fallback: Limiter | null;
  /** Called for every request that is limited without the first window. */
  readonly onFallback: () => void;
}

/** Bounds the memory of the local cache. */
const MAX_REFUSED = 10_000;
/** A window is not tried again for this long after a failure. */
const RETRY_MS = 1000;

export function createSharedLimiter({ limit, windows, fallback, onFallback }: SharedLimiterOptions): Limiter {
  /** When each refused client may try again. Only time frees a window, so no round trip is needed before. */
  const refused = new Map<string, number>();
  const retryAt = windows.map(() => 0);

  return {
    limit,
    async consume(client, now, cost = 1) {
      const until = refused.get(client);
      if (until !== undefined && now < until) return { accepted: false, remaining: 0, seconds: (until - now) / 1000 };
      refused.delete(client);
      for (const [position, consume] of windows.entries()) {
        if (now >= (retryAt[position] ?? 0)) {
          try {
            const result = await consume(client, cost);
            // A smaller cost may fit.
            if (!result.accepted && cost === 1) {
              if (refused.size >= MAX_REFUSED) refused.clear();
              refused.set(client, now + 1000 * result.seconds);
            }
            return result;
          } catch {
            retryAt[position] = now + RETRY_MS;
          }
        }
        if (position === 0) onFallback();
      }
      return fallback?.consume(client, now, cost) ?? { accepted: true, remaining: limit.most, seconds: limit.seconds };
    },
    get clients() {
      return refused.size;
    },
  };
}
