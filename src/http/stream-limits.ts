// Limits how many streams of changes a caller, and the process, can have open at once.

import { createShares, type PerCaller } from './shares.ts';

/** In each process, half of them with a key. Each needs a few kilobytes and a file descriptor, and as much as waits for its reader. */
export const MAX_STREAMS = 20_000;

export const createStreamShares = (limits: PerCaller) =>
  createShares(MAX_STREAMS / 2, limits, {
    own: (most, whose) => `At most ${most} streams can be open at once ${whose}.`,
    all: 'The service has as many open streams as it can. Retry later.',
  });
