// Runs a group of workers on one port: starts them, holds their rate limits, serves their metrics and runs the follower.

import { openAccounts } from '../accounts/accounts.ts';
import { createDeniedSample, type DeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { createLimiter, type Limit, type Limiter } from '../http/limits/limiter.ts';
import { listen, serverUrl } from '../http/server/listener.ts';
import { NETWORKS } from '../registry/network.ts';
import type { PoolStatus } from '../store/engine.ts';
import { openStore } from '../store/open.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import { type ChildOptions, startChild, startFollowerProcess } from './child.ts';
import { type Config, type Environment, readConfig } from './config.ts';
import { logStart } from './describe-config.ts';
import { createFreshness } from './freshness.ts';
import type { LimitName } from './limits.ts';
import { createErrorLog, openLog } from './log.ts';
import { createMetrics, type Health, type Metrics, type ProcessMetrics } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { migrateFirst } from './migrate-store.ts';
import { readProcessStats } from './process-stats.ts';
import { waitForStopSignal } from './stop-signal.ts';
import { UsageError } from './usage-error.ts';
import { type FromWorker, REPORT_MS, type ToWorker } from './worker.ts';

/** What the parent holds for all workers. */
interface Shared {
  readonly limiterOf: (name: LimitName, limit: Limit) => Limiter;
  readonly metrics: Metrics;
  readonly denied: DeniedSample;
}

/** A frozen worker still gets its share of the connections, so it must be found soon. */
const UNRESPONSIVE_MS = 8 * REPORT_MS;
/** For everything that a worker does after its requests have drained. */
const CLOSE_MS = 5000;

/** Starts a worker and handles its messages. `listening` rejects if the process exits before it listens. */
function startWorker(
  number: number,
  follows: boolean,
  options: Pick<ChildOptions, 'environment' | 'log' | 'stopTimeoutMs' | 'onExit'>,
  { limiterOf, metrics, denied }: Shared,
) {
  const listening = Promise.withResolvers<void>();
  let health: Health | null = null;
  let pool: PoolStatus | null = null;
  let streams = 0;
  const child = startChild({
    ...options,
    name: `worker ${number}`,
    args: ['worker', '--number', String(number), ...(follows ? ['--follows'] : [])],
    unresponsiveMs: UNRESPONSIVE_MS,
    onMessage(received, send) {
      const message = received as FromWorker;
      if (message.type === 'listening') listening.resolve();
      else if (message.type === 'consume') {
        const { name, limit, client, cost } = message;
        const result = limiterOf(name, limit).consume(client, performance.now(), cost);
        send({ type: 'limit-result', id: message.id, result } as ToWorker);
      } else {
        metrics.add(message.counts);
        [health, pool, streams] = [message.health, message.pool, message.streams];
        for (const [chainId, no, unread] of message.denied) {
          for (const question of no) denied.add(chainId, question);
          for (const question of unread) denied.add(chainId, question, 'unread');
        }
      }
    },
  });
  void child.firstExit.then(() => listening.reject(new UsageError('A worker failed to start. See its error above.')));
  return {
    listening: listening.promise,
    isAlive: () => child.pid !== null,
    health: () => health ?? [],
    metrics: (): ProcessMetrics =>
      child.pid === null
        ? { name: `worker-${number}`, stats: null, pool: null, streams: 0 }
        : { name: `worker-${number}`, stats: readProcessStats(child.pid), pool, streams },
    sendStatus: (chains: readonly FollowerStatus[]) =>
      child.send({ type: 'follower-status', chains } satisfies ToWorker),
    stop: child.stop,
  };
}

export async function runWorkerGroup(environment: Environment, count: number, follows: boolean): Promise<void> {
  const config = readConfig(environment);
  const metrics = createMetrics();
  const log = openLog(config.logLevel, () => metrics.count('delegations_log_dropped_lines_total'));
  logStart(log, environment, config, follows);
  await migrateFirst(config, environment, log);
  const denied = createDeniedSample();
  const limiters = new Map<string, Limiter>();
  const limiterOf = (name: LimitName, limit: Limit) => {
    const id = `${name} ${limit.most}/${limit.seconds}`;
    const limiter = limiters.get(id) ?? createLimiter(limit);
    limiters.set(id, limiter);
    return limiter;
  };
  // Creates or migrates the tables once, before all workers open them.
  await using store = await openStore(config.databaseUrl, { connections: config.databasePool, role: 'api' });
  await using accounts = await openAccounts(config.databaseUrl);
  const started: (() => unknown)[] = [];
  /** The index stays fresh while the workers still accept requests. */
  let delayMs = 0;
  try {
    const port = reservePort(config);
    let restarts = 0;
    const options = {
      environment: { ...environment, PORT: String(port) },
      log,
      stopTimeoutMs: 1000 * (config.drainDelay + config.drainTimeout) + CLOSE_MS,
      onExit: () => void restarts++,
    };
    const workers = Array.from({ length: count }, (_, position) =>
      startWorker(position + 1, follows, options, { limiterOf, metrics, denied }),
    );
    started.push(() => Promise.all(workers.map((worker) => worker.stop())));
    await Promise.all(workers.map(({ listening }) => listening));

    const follower =
      follows && config.chains.size > 0 ? startFollowerProcess(log, metrics, denied.take, environment) : null;
    if (follower !== null) {
      started.push(async () => {
        await Bun.sleep(delayMs);
        await follower.stop();
      });
    }
    const followerStatus = follower?.followerStatus ?? (() => []);
    const timer = setInterval(() => {
      const chains = followerStatus();
      for (const worker of workers) worker.sendStatus(chains);
    }, REPORT_MS);
    started.push(() => clearInterval(timer));
    const metricsServer = startMetrics({
      ...config,
      store,
      chainIds: new Set(NETWORKS.keys()),
      ...createFreshness(config),
      metrics,
      log,
      onError: createErrorLog(log),
      ...(config.webhooks ? { webhookStats: createWebhooks(accounts.engine).stats } : {}),
      view: () => ({
        followers: followerStatus(),
        health: combineHealth(workers.flatMap((worker) => worker.health())),
        processes: [
          { name: 'parent', stats: readProcessStats(process.pid), pool: store.pool() },
          ...(follower === null ? [] : [follower.metrics()]),
          ...workers.map((worker) => worker.metrics()),
        ],
        workers: { alive: workers.filter((worker) => worker.isAlive()).length, restarts },
      }),
    });
    started.push(metricsServer.stop);
    const url = serverUrl({ hostname: config.host, port });
    log('info', 'listening', { url, metrics: metricsServer.url, workers: count });
    await waitForStopSignal(log);
    delayMs = 1000 * config.drainDelay;
  } finally {
    // All at once, so that no worker gets requests while the others stop.
    await Promise.all(started.map((stop) => stop()));
  }
  log('info', 'stopped');
}

/** True only if it is true of all workers that have the part. */
function combineHealth(healths: readonly Health[]): Health {
  const all = (name: keyof Health) => {
    const known = healths.map((health) => health[name]).filter((one) => one !== null);
    return known.length === 0 ? null : known.every(Boolean);
  };
  return { limiterShared: all('limiterShared'), replicaFresh: all('replicaFresh') };
}

/** Workers share the port with each other only. Binding it alone first fails if another service uses it. */
function reservePort({ host, port }: Config): number {
  const serve = () => Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() });
  const probe = listen(serve, { host, port, names: ['HOST', 'PORT'] });
  const found = Number(new URL(serverUrl(probe)).port);
  void probe.stop(true);
  return found;
}
