// The life of one chain's follower: tick after tick, with pauses that fit, until it is told to stop.

import { StoreError } from '../store/errors.ts';
import type { Follower } from './follower.ts';

export interface RunOptions {
  /** Between two ticks when there is nothing to do at once. */
  readonly pollMs: number;
  readonly signal: AbortSignal;
  readonly onTrouble: (error: unknown, failures: number) => void;
  /** Work for between two ticks. */
  readonly afterTick?: () => Promise<void>;
}

/** After a failure. */
const SHORTEST_PAUSE_MS = 250;

/** Ends when the signal does, or when another writer has taken the chain. */
export async function runFollower(follower: Follower, options: RunOptions): Promise<'stopped' | 'overtaken'> {
  const { pollMs, signal, onTrouble, afterTick } = options;
  let failures = 0;
  while (!signal.aborted) {
    let pause = pollMs;
    try {
      const { more } = await follower.tick();
      failures = 0;
      if (more) pause = 0;
      else await afterTick?.();
    } catch (error) {
      if (error instanceof StoreError && error.code === 'overtaken') return 'overtaken';
      failures++;
      onTrouble(error, failures);
      // Nodes that failed are left alone for a while by themselves.
      pause = Math.max(SHORTEST_PAUSE_MS, pollMs * (0.5 + Math.random() / 2));
    }
    await sleep(pause, signal);
  }
  return 'stopped';
}

export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
