// Runs the follower as a child process, so that neither it nor the API can block the other.

import type { DeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import type { PoolStatus } from '../store/engine.ts';
import { startChild } from './child.ts';
import type { Environment } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics, ProcessMetrics } from './metrics.ts';
import { readProcessStats } from './process-stats.ts';
import type { FollowerReport } from './progress.ts';

/** The process sends its status every second, but a long write to the store can block it. */
const UNRESPONSIVE_MS = 120_000;
const STOP_TIMEOUT_MS = 15_000;

/** Starts the process and sends it the sample of denied questions, for its audit. */
export function startFollowerProcess(
  log: Log,
  metrics: Metrics,
  takeDenied: DeniedSample['take'],
  environment: Environment,
) {
  let chains: readonly FollowerStatus[] = [];
  let pool: PoolStatus | null = null;
  const child = startChild({
    name: 'follower',
    args: ['follow'],
    environment,
    log,
    unresponsiveMs: UNRESPONSIVE_MS,
    stopTimeoutMs: STOP_TIMEOUT_MS,
    onExit: () => {
      [chains, pool] = [[], null];
    },
    onMessage(message, send) {
      const status = message as Partial<FollowerReport>;
      if (status.type !== 'follower-status' || status.chains === undefined) return;
      [chains, pool] = [status.chains, status.pool ?? null];
      if (status.counts !== undefined) metrics.add(status.counts);
      const denied = takeDenied();
      if (denied.length > 0) send({ type: 'denied', denied });
    },
  });
  return {
    /** The last status that the process sent. */
    followerStatus: () => chains,
    metrics: (): ProcessMetrics => ({
      name: 'follower',
      stats: child.pid === null ? null : readProcessStats(child.pid),
      pool,
    }),
    stop: child.stop,
  };
}
