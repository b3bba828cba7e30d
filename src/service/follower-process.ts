// Runs the follower as a child process, so that neither it nor the API can block the other.

import type { DeniedSample } from '../chain/denied-sample.ts';
import type { FollowerStatus } from '../chain/follower-status.ts';
import { startChild } from './child.ts';
import type { Environment } from './config.ts';
import type { Log } from './log.ts';
import type { Counts, Metrics } from './metrics.ts';

export interface FollowerProcess {
  /** The last status that the process sent. */
  followerStatus(): readonly FollowerStatus[];
  stop(): Promise<void>;
}

/** The process sends its status every second, but a long write to the store can block it. */
const UNRESPONSIVE_MS = 120_000;
const STOP_TIMEOUT_MS = 15_000;

/** Starts the process and sends it the sample of denied questions, for its audit. */
export function startFollowerProcess(
  log: Log,
  metrics: Metrics,
  takeDenied: DeniedSample['take'],
  environment: Environment,
): FollowerProcess {
  let chains: readonly FollowerStatus[] = [];
  const { stop } = startChild({
    name: 'follower',
    args: ['follow'],
    environment,
    log,
    unresponsiveMs: UNRESPONSIVE_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
    onExit: () => {
      chains = [];
    },
    onMessage(message, child) {
      const status = message as { type?: string; chains?: readonly FollowerStatus[]; counts?: Counts };
      if (status.type !== 'follower-status' || status.chains === undefined) return;
      chains = status.chains;
      if (status.counts !== undefined) metrics.add(status.counts);
      const denied = takeDenied();
      if (denied.length > 0) child.send({ type: 'denied', denied });
    },
  });
  return { followerStatus: () => chains, stop };
}
