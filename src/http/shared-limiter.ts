// A limit that several processes keep together: the window is elsewhere, and this is what each process knows of it.

import type { Limit, Limiter, Verdict } from './limiter.ts';

/** The window itself. Throws where it cannot be asked. */
export type Ask = (client: string) => Promise<Verdict>;

export interface SharedLimiterOptions {
  readonly limit: Limit;
  readonly ask: Ask;
  /** Limits meanwhile; null where nobody does. */
  readonly otherwise: Limiter | null;
  /** Told of every request that was judged without the window. */
  readonly onAway: () => void;
}

/** So many clients are known to be refused; more of them are asked about each time. */
const MOST_REFUSED = 10_000;

export function createSharedLimiter({ limit, ask, otherwise, onAway }: SharedLimiterOptions): Limiter {
  /** Until when each client is refused: nothing but time makes room in a window, so nobody needs to be asked before. */
  const refused = new Map<string, number>();
  return {
    limit,
    async take(client, now) {
      const until = refused.get(client);
      if (until !== undefined && now < until) return { accepted: false, remaining: 0, seconds: (until - now) / 1000 };
      refused.delete(client);
      try {
        const verdict = await ask(client);
        if (!verdict.accepted) {
          if (refused.size >= MOST_REFUSED) refused.clear();
          refused.set(client, now + 1000 * verdict.seconds);
        }
        return verdict;
      } catch {
        onAway();
        return otherwise?.take(client, now) ?? { accepted: true, remaining: limit.most, seconds: limit.seconds };
      }
    },
    get clients() {
      return refused.size;
    },
  };
}
