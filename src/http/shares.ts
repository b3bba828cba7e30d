// A pool that callers share: nobody can take more than a part of it, or more than is left.

import { Problem } from '../api/problems.ts';

export interface Shares {
  /** Takes so much. Throws if the caller would have more than `most`, or all callers more than there is. Returns what gives it back. */
  take(caller: string, most: number, amount?: number): () => void;
  readonly taken: number;
}

const RETRY_SECONDS = 5;

export const tooMany = (detail: string) => new Problem('too-many-requests', detail, { retryAfter: RETRY_SECONDS });

/** `refusals`: what the caller is told if it has too much, and if there is too little left. */
export function createShares(total: number, refusals: readonly [own: (most: number) => string, all: string]): Shares {
  const [tooManyOwn, tooManyInAll] = refusals;
  const held = new Map<string, number>();
  let taken = 0;
  return {
    take(caller, most, amount = 1) {
      const own = held.get(caller) ?? 0;
      if (own + amount > most) throw tooMany(tooManyOwn(most));
      if (taken + amount > total) throw tooMany(tooManyInAll);
      held.set(caller, own + amount);
      taken += amount;
      let isGivenBack = false;
      return () => {
        if (isGivenBack) return;
        isGivenBack = true;
        taken -= amount;
        const left = (held.get(caller) ?? amount) - amount;
        if (left === 0) held.delete(caller);
        else held.set(caller, left);
      };
    },
    get taken() {
      return taken;
    },
  };
}
