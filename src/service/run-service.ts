// Runs the service: the API and its metrics in this process, the follower in a child process.

import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { startFollowerProcess } from './child.ts';
import { type Environment, readConfig } from './config.ts';
import { logStart } from './describe-config.ts';
import { createErrorLog, openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { migrateFirst } from './migrate-store.ts';
import { readProcessStats } from './process-stats.ts';
import { type ApiOptions, startApi } from './start-api.ts';
import { waitForStopSignal } from './stop-signal.ts';

export type RunningService = Awaited<ReturnType<typeof startService>>;

export interface ServiceOptions extends Pick<ApiOptions, 'sandbox' | 'testWallet' | 'delivery'> {
  /** False if another process follows the chains. */
  readonly follows?: boolean;
}

export async function startService(environment: Environment, options: ServiceOptions = {}) {
  const { follows = true, ...rest } = options;
  const config = readConfig(environment);
  const metrics = createMetrics();
  const log = openLog(config.logLevel, () => metrics.count('delegations_log_dropped_lines_total'));
  logStart(log, environment, config, follows);
  await migrateFirst(config, environment, log);
  const followed = follows ? [...config.chains.keys()] : [];
  let followerStatus: () => readonly FollowerStatus[] = () => [];
  const api = await startApi({ config, log, metrics, followed, followerStatus: () => followerStatus(), ...rest });
  try {
    const view = () => ({
      followers: followerStatus(),
      health: api.health(),
      processes: [
        { name: 'api', stats: readProcessStats(process.pid), pool: api.store.pool(), streams: api.openStreams() },
        ...(follower === null ? [] : [follower.metrics()]),
      ],
    });
    let follower: ReturnType<typeof startFollowerProcess> | null = null;
    const metricsServer = startMetrics({ ...config, ...api, metrics, view, log, onError: createErrorLog(log) });
    if (followed.length > 0) follower = startFollowerProcess(log, metrics, api.takeDenied, environment);
    if (follower !== null) followerStatus = follower.followerStatus;
    log('info', 'listening', { url: api.url, metrics: metricsServer.url, chainIds: [...api.chainIds] });
    return {
      url: api.url,
      metricsUrl: metricsServer.url,
      log,
      async stop() {
        await api.prepareStop();
        await Promise.all([metricsServer.stop(), follower?.stop(), api.stop()]);
        log('info', 'stopped');
      },
    };
  } catch (error) {
    await api.stop();
    throw error;
  }
}

/** Runs the service until a stop signal. */
export async function runService(environment: Environment, options: ServiceOptions = {}): Promise<void> {
  const service = await startService(environment, options);
  await waitForStopSignal(service.log);
  await service.stop();
}
