// Limits how many streams of changes a caller, and the process, can have open at once.

import { type Caller, countedAs } from './long-lists.ts';
import { createShares } from './shares.ts';

export interface StreamLimits {
  /** Open at once, for each client address without a key; all of an IPv6 /48 together. */
  readonly perAddress: number;
  /** Open at once, for all keys of one owner. */
  readonly perKey: number;
}

/** In each process, half of them with a key. Each needs a few kilobytes and a file descriptor, and as much as waits for its reader. */
export const MAX_STREAMS = 20_000;

/** Counts the streams of each caller. Throws a problem, or returns a function that gives the place back. */
export function createStreamCounts({ perAddress, perKey }: StreamLimits) {
  const sharesOf = (words: string) =>
    createShares(MAX_STREAMS / 2, [
      (most) => `At most ${most} streams can be open at once ${words}.`,
      'The service has as many open streams as it can. Retry later.',
    ]);
  const [anonymous, keyed] = [sharesOf('without an API key'), sharesOf('with the API keys of one owner')];
  return (caller: Caller): (() => void) =>
    caller.hasKey ? keyed.take(countedAs(caller), perKey) : anonymous.take(countedAs(caller), perAddress);
}
