// One of several processes that answer on one port.

import type { FollowerStatus } from '../chain/follower-status.ts';
import type { LimitResult } from '../http/limiter.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { type Environment, readConfig } from './config.ts';
import type { GroupWindows } from './limits.ts';
import { openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startApi } from './start-api.ts';
import { waitForStopSignal } from './stop-signal.ts';
import { UsageError } from './usage-error.ts';
import { type FromWorker, TELL_MS, type ToWorker } from './worker-messages.ts';

const DEADLINE_MS = 500;

export async function runWorker(environment: Environment, follows: boolean): Promise<void> {
  if (!process.connected)
    throw new UsageError('A worker is started by delegations serve --workers, and by nobody else.');
  const config = readConfig(environment);
  const log = openLog(config.logLevel);
  const metrics = createMetrics();
  const parent = openParent();
  const api = await startApi({
    config,
    log,
    metrics,
    followed: follows ? config.chains.keys() : [],
    followerStatus: parent.followerStatus,
    group: parent.windows,
  });
  const tell = () =>
    parent.send({ type: 'told', counts: metrics.take(), health: api.health(), denied: api.takeDenied() });
  parent.send({ type: 'listening' });
  const timer = setInterval(tell, TELL_MS);
  await waitForStopSignal(log);
  await api.stop();
  clearInterval(timer);
  tell();
  process.disconnect?.();
}

/** The line to the process that started this one: it has the windows of all workers, and knows how the followers stand. */
function openParent() {
  let followerStatus: readonly FollowerStatus[] = [];
  let asked = 0;
  const waiting = new Map<number, (verdict: LimitResult) => void>();
  const send = (message: FromWorker) => void process.send?.(message);
  process.on('message', (message: ToWorker) => {
    if (message.type === 'followerStatus') followerStatus = message.chains;
    else waiting.get(message.id)?.(message.verdict);
  });
  const windows: GroupWindows = (name) => async (client) => {
    const id = ++asked;
    const { promise, resolve } = Promise.withResolvers<LimitResult>();
    waiting.set(id, resolve);
    try {
      send({ type: 'take', id, name, client });
      return await withTimeout(DEADLINE_MS, promise);
    } finally {
      waiting.delete(id);
    }
  };
  return { send, windows, followerStatus: () => followerStatus };
}
