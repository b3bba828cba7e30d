// Limits how many streams of changes a caller, and the process, can have open at once.

import { type Caller, countedAs, tooMany } from './long-lists.ts';

export interface StreamLimits {
  /** Open at once, for each client address without a key; all of an IPv6 /48 together. */
  readonly perAddress: number;
  /** Open at once, for all keys of one owner. */
  readonly perKey: number;
}

/** In each process. Each needs a few kilobytes and a file descriptor, and as much as waits for its reader. */
export const MAX_STREAMS = 20_000;

/** Counts the streams of each caller. Throws a problem, or returns a function that gives the place back. */
export function createStreamCounts({ perAddress, perKey }: StreamLimits) {
  const counts = new Map<string, number>();
  let total = 0;
  return (caller: Caller): (() => void) => {
    const { hasKey } = caller;
    const key = hasKey ? `key ${caller.id}` : countedAs(caller);
    const [most, words] = hasKey ? [perKey, 'with the API keys of one owner'] : [perAddress, 'without an API key'];
    const count = counts.get(key) ?? 0;
    if (count >= most) throw tooMany(`At most ${most} streams can be open at once ${words}.`);
    if (total >= MAX_STREAMS) throw tooMany('The service has as many open streams as it can. Retry later.');
    counts.set(key, count + 1);
    total++;
    return () => {
      total--;
      const left = (counts.get(key) ?? 1) - 1;
      if (left === 0) counts.delete(key);
      else counts.set(key, left);
    };
  };
}
