// A limit that several processes keep together: the windows are elsewhere, and this is what each process knows of them.

import type { Limit, Limiter, LimitResult } from './limiter.ts';

/** Asks a window that others share. Throws where it cannot be asked. */
export type SharedWindow = (client: string) => Promise<LimitResult>;

export interface SharedLimiterOptions {
  readonly limit: Limit;
  /** The first is the one that counts; each further one stands in for those before. */
  readonly windows: readonly SharedWindow[];
  /** Limits where none of them can be asked; null where nobody does. */
  readonly fallback: Limiter | null;
  /** Told of every request that was judged without the first window. */
  readonly onFallback: () => void;
}

/** So many clients are known to be refused; more of them are asked about each time. */
const MOST_REFUSED = 10_000;
/** So long a window is left alone after a failure. */
const REST_MS = 1000;

export function createSharedLimiter({ limit, windows, fallback, onFallback }: SharedLimiterOptions): Limiter {
  /** Until when each client is refused: nothing but time makes room in a window, so nobody needs to be asked before. */
  const refused = new Map<string, number>();
  const restUntil = windows.map(() => 0);

  return {
    limit,
    async consume(client, now) {
      const until = refused.get(client);
      if (until !== undefined && now < until) return { accepted: false, remaining: 0, seconds: (until - now) / 1000 };
      refused.delete(client);
      for (const [position, ask] of windows.entries()) {
        if (now >= (restUntil[position] ?? 0)) {
          try {
            const result = await ask(client);
            if (!result.accepted) {
              if (refused.size >= MOST_REFUSED) refused.clear();
              refused.set(client, now + 1000 * result.seconds);
            }
            return result;
          } catch {
            restUntil[position] = now + REST_MS;
          }
        }
        if (position === 0) onFallback();
      }
      return fallback?.consume(client, now) ?? { accepted: true, remaining: limit.most, seconds: limit.seconds };
    },
    get clients() {
      return refused.size;
    },
  };
}
