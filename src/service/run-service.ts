// The whole service in this process: the store and the API, and beside it the process that follows.

import type { Environment } from './config.ts';
import { readConfig } from './config.ts';
import { startFollowerProcess } from './follower-process.ts';
import { createErrorLog, type Log, openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { startApi } from './start-api.ts';
import { waitForStopSignal } from './stop-signal.ts';

export interface RunningService {
  readonly url: string;
  readonly metricsUrl: string;
  readonly log: Log;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly sandbox?: boolean;
  /** False where another program follows the chains. */
  readonly follows?: boolean;
}

export async function startService(environment: Environment, options: ServiceOptions = {}): Promise<RunningService> {
  const { sandbox = false, follows = true } = options;
  const config = readConfig(environment);
  const log = openLog(config.logLevel);
  const metrics = createMetrics();
  const followed = follows ? [...config.chains.keys()] : [];
  let followerStatus: Parameters<typeof startApi>[0]['followerStatus'] = () => [];
  const api = await startApi({
    config,
    log,
    metrics,
    followed,
    followerStatus: () => followerStatus(),
    sandbox,
  });
  try {
    const view = () => ({ followers: followerStatus(), health: api.health() });
    const told = startMetrics({ ...config, ...api, metrics, view, onError: createErrorLog(log) });
    const following = followed.length > 0 ? startFollowerProcess(log, api.takeDenied, environment) : null;
    if (following !== null) followerStatus = following.followerStatus;
    log('info', 'listening', { url: api.url, metrics: told.url, chainIds: [...api.chainIds] });
    return {
      url: api.url,
      metricsUrl: told.url,
      log,
      async stop() {
        await Promise.all([told.stop(), following?.stop(), api.stop()]);
        log('info', 'stopped');
      },
    };
  } catch (error) {
    await api.stop();
    throw error;
  }
}

/** The whole life of a service that a command starts. */
export async function runService(environment: Environment, options: ServiceOptions = {}): Promise<void> {
  const service = await startService(environment, options);
  await waitForStopSignal(service.log);
  await service.stop();
}
