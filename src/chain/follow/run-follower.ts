// Runs a follower: tick after tick, until it is stopped, overtaken or stalled.

import { setTimeout } from 'node:timers/promises';
import { StoreError } from '../../store/errors.ts';
import type { Follower } from './follower.ts';

export interface RunOptions {
  /** Pause between two ticks. */
  readonly pollMs: number;
  readonly signal: AbortSignal;
  /** Called for every failed tick. */
  readonly onError: (error: unknown) => void;
  /** Called for every successful tick, with or without new blocks. */
  readonly onProgress?: () => void;
  /** After this time without a successful tick, the next failure ends the run. */
  readonly stalledMs?: number;
}

/** After a failed tick. */
const MIN_PAUSE_MS = 250;

/**
 * Three polls are added. Longer than the 30 s for which a follower rejects a shorter chain; short enough that a standby takes
 * over before answers are stale, which is after 60 s or ten blocks.
 */
const STALLED_MS = 40_000;

/** Why a run ended: by the signal, because another writer took the chain, or because no tick succeeded for too long. */
export type StopReason = 'stopped' | 'overtaken' | 'stalled';

export async function runFollower(follower: Follower, options: RunOptions): Promise<StopReason> {
  const { pollMs, signal, onError, onProgress } = options;
  const { stalledMs = STALLED_MS + 3 * pollMs } = options;
  let progressedAt = performance.now();
  let isBehind = false;
  while (!signal.aborted) {
    let pause = pollMs;
    try {
      const { more } = await follower.tick();
      progressedAt = performance.now();
      onProgress?.();
      isBehind = more;
      if (more) pause = 0;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'overtaken') return 'overtaken';
      onError(error);
      // Checked only after a failure: a slow tick that succeeds is progress.
      if (performance.now() - progressedAt > stalledMs) return 'stalled';
      // The provider pool adds its own back-off. A backfill goes on as soon as a provider is available.
      pause = isBehind ? MIN_PAUSE_MS : pauseAfterFailure(pollMs, Math.random());
    }
    await sleep(pause, signal);
  }
  return 'stopped';
}

/** A poll at most, and not the same for all chains of a provider. `random`: from 0 to 1. */
export const pauseAfterFailure = (pollMs: number, random: number): number =>
  Math.max(MIN_PAUSE_MS, pollMs * (0.5 + random / 2));

/** Ends early when the signal aborts. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, { signal }).catch(() => {});
