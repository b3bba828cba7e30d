// Runs one worker: an API process that shares its port with the other workers of a group.

import type { DeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import type { Limit, LimitResult } from '../http/limits/limiter.ts';
import type { PoolStatus } from '../store/engine.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { type Environment, readConfig } from './config.ts';
import type { GroupWindows, LimitName } from './limits.ts';
import { openLog } from './log.ts';
import { type Counts, createMetrics, type Health } from './metrics.ts';
import { startApi } from './start-api.ts';
import { waitForStopSignal } from './stop-signal.ts';
import { UsageError } from './usage-error.ts';

/** How often a worker sends its report, which is also its heartbeat. */
export const REPORT_MS = 1000;

export type ToWorker =
  | { readonly type: 'limit-result'; readonly id: number; readonly result: LimitResult }
  | { readonly type: 'follower-status'; readonly chains: readonly FollowerStatus[] };

export type FromWorker =
  | { readonly type: 'listening' }
  | {
      readonly type: 'consume';
      readonly id: number;
      readonly name: LimitName;
      readonly limit: Limit;
      readonly client: string;
      readonly cost: number;
    }
  | {
      readonly type: 'report';
      readonly counts: Counts;
      readonly health: Health;
      readonly pool: PoolStatus | null;
      readonly streams: number;
      readonly denied: ReturnType<DeniedSample['take']>;
    };

const LIMIT_TIMEOUT_MS = 500;

export async function runWorker(environment: Environment, number: number, follows: boolean): Promise<void> {
  if (!process.connected) throw new UsageError('Workers are started by delegations serve --workers, not by hand.');
  const config = readConfig(environment);
  const metrics = createMetrics();
  const log = openLog(config.logLevel, () => metrics.count('delegations_log_dropped_lines_total'), { worker: number });
  const parent = connectParent();
  const api = await startApi({
    config,
    log,
    metrics,
    followed: follows ? config.chains.keys() : [],
    followerStatus: parent.followerStatus,
    group: parent.windows,
  });
  const report = () =>
    parent.send({
      type: 'report',
      counts: metrics.take(),
      health: api.health(),
      pool: api.store.pool(),
      streams: api.openStreams(),
      denied: api.takeDenied(),
    });
  parent.send({ type: 'listening' });
  const timer = setInterval(report, REPORT_MS);
  await waitForStopSignal(log);
  await api.prepareStop();
  await api.stop();
  clearInterval(timer);
  report();
  process.disconnect?.();
}

/** The IPC channel to the parent, which holds the rate limit windows of all workers and knows the follower status. */
function connectParent() {
  let chains: readonly FollowerStatus[] = [];
  let lastId = 0;
  const pending = new Map<number, (result: LimitResult) => void>();
  const send = (message: FromWorker) => void process.send?.(message);
  process.on('message', (message: ToWorker) => {
    if (message.type === 'follower-status') chains = message.chains;
    else pending.get(message.id)?.(message.result);
  });
  const windows: GroupWindows = (name, limit) => async (client, cost) => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<LimitResult>();
    pending.set(id, resolve);
    try {
      send({ type: 'consume', id, name, limit, client, cost });
      return await withTimeout(LIMIT_TIMEOUT_MS, promise);
    } finally {
      pending.delete(id);
    }
  };
  return { send, windows, followerStatus: () => chains };
}
