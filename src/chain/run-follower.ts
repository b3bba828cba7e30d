// The life of one chain's follower: tick after tick, with pauses that fit, until it is told to stop.

import { StoreError } from '../store/errors.ts';
import type { Follower } from './follower.ts';

export interface RunOptions {
  /** Between two ticks when there is nothing to do at once. */
  readonly pollMs: number;
  readonly signal: AbortSignal;
  /** Told of every tick that failed. */
  readonly onError: (error: unknown) => void;
  /** Told of every tick that succeeded, new blocks or not. */
  readonly onProgress?: () => void;
  /** After so long without a successful tick the next failure is the last one. */
  readonly stalledMs?: number;
}

/** After a failure. */
const SHORTEST_PAUSE_MS = 250;

/**
 * Together with three polls. Longer than the 30 s in which a follower fails on purpose before it believes that its chain has
 * become shorter; short enough that a standby follows before answers count as stale, which is after 60 s or ten blocks.
 */
const STALLED_MS = 40_000;

/** Why a follower ended: the signal came, another writer has taken the chain, or no tick succeeded for too long. */
export type StopReason = 'stopped' | 'overtaken' | 'stalled';

export async function runFollower(follower: Follower, options: RunOptions): Promise<StopReason> {
  const { pollMs, signal, onError, onProgress } = options;
  const { stalledMs = STALLED_MS + 3 * pollMs } = options;
  let progressedAt = performance.now();
  while (!signal.aborted) {
    let pause = pollMs;
    try {
      const { more } = await follower.tick();
      progressedAt = performance.now();
      onProgress?.();
      if (more) pause = 0;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'overtaken') return 'overtaken';
      onError(error);
      // Judged between two ticks only: a slow one that succeeds in the end is progress.
      if (performance.now() - progressedAt > stalledMs) return 'stalled';
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
