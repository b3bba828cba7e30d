// The whole service in this process: the store and the API, and beside it the process that follows.

import type { Environment } from './config.ts';
import { readConfig } from './config.ts';
import { startFollowing } from './follower-process.ts';
import { failureLog, type Log, openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { startAnswering } from './start-api.ts';
import { stopSignal } from './stop-signal.ts';

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
  let figures: Parameters<typeof startAnswering>[0]['figures'] = () => [];
  const answering = await startAnswering({
    config,
    log,
    metrics,
    followed,
    figures: () => figures(),
    sandbox,
  });
  try {
    const view = () => ({ followers: figures(), health: answering.health() });
    const told = startMetrics({ ...config, ...answering, metrics, view, onError: failureLog(log) });
    const following = followed.length > 0 ? startFollowing(log, answering.takeDenied, environment) : null;
    if (following !== null) figures = following.figures;
    log('info', 'listening', { url: answering.url, metrics: told.url, chainIds: [...answering.chainIds] });
    return {
      url: answering.url,
      metricsUrl: told.url,
      log,
      async stop() {
        await Promise.all([told.stop(), following?.stop(), answering.stop()]);
        log('info', 'stopped');
      },
    };
  } catch (error) {
    await answering.stop();
    throw error;
  }
}

/** The whole life of a service that a command starts. */
export async function runService(environment: Environment, options: ServiceOptions = {}): Promise<void> {
  const service = await startService(environment, options);
  await stopSignal(service.log);
  await service.stop();
}
