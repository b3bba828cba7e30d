// Runs a group of workers: API processes that share one port. Their parent starts them, holds their rate limits, serves
// their metrics and runs the follower.

import { openAccounts } from '../accounts/accounts.ts';
import { createDeniedSample, type DeniedSample, REASONS } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { createLimiter, type Limit, type Limiter, type LimitResult } from '../http/limits/limiter.ts';
import { listen, serverUrl } from '../http/server/listener.ts';
import { NETWORKS } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import { type ChildOptions, startChild, startFollowerProcess } from './child.ts';
import { type Config, type Environment, readConfig } from './config.ts';
import { logStart } from './describe-config.ts';
import { createFreshness } from './freshness.ts';
import type { GroupWindows, LimitName } from './limits.ts';
import { createErrorLog, openLog } from './log.ts';
import { createMetrics, type Health, type Metrics, type ProcessMetrics } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { migrateFirst } from './migrate-store.ts';
import { readProcessStats } from './process-stats.ts';
import { type RunningApi, startApi } from './start-api.ts';
import { waitForStopSignal } from './stop-signal.ts';
import { learnNetworks } from './stored-networks.ts';
import { UsageError } from './terminal.ts';

/** How often a worker sends its report, which is also its heartbeat. */
const REPORT_MS = 1000;

type ToWorker =
  | { readonly type: 'limit-result'; readonly id: number; readonly result: LimitResult }
  | { readonly type: 'follower-status'; readonly chains: readonly FollowerStatus[] };

type FromWorker =
  | { readonly type: 'listening' }
  | {
      readonly type: 'consume';
      readonly id: number;
      readonly name: LimitName;
      readonly limit: Limit;
      readonly client: string;
      readonly cost: number;
    }
  | ReturnType<typeof reportOf>;

/** A frozen worker still gets its share of the connections, so it must be found soon. */
const UNRESPONSIVE_MS = 8 * REPORT_MS;
/** For everything that a worker does after its requests have drained. */
const CLOSE_MS = 5000;

interface WorkerOptions extends Pick<ChildOptions, 'environment' | 'log' | 'stopTimeoutMs' | 'onExit'> {
  readonly limiterOf: (name: LimitName, limit: Limit) => Limiter;
  readonly metrics: Metrics;
  readonly denied: DeniedSample;
}

/** Starts a worker and handles its messages. `listening` rejects if the process exits before it listens. */
function startWorker(number: number, follows: boolean, { limiterOf, metrics, denied, ...options }: WorkerOptions) {
  const listening = Promise.withResolvers<void>();
  let last: ReturnType<typeof reportOf> | null = null;
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
        last = message;
        metrics.add(message.counts);
        for (const [chainId, sampled] of message.denied)
          for (const reason of REASONS) for (const question of sampled[reason]) denied.add(chainId, question, reason);
      }
    },
  });
  void child.firstExit.then(() => listening.reject(new UsageError('A worker failed to start. See its error above.')));
  return {
    listening: listening.promise,
    isAlive: () => child.pid !== null,
    health: () => last?.health ?? [],
    metrics: (): ProcessMetrics => {
      const { pool = null, streams = 0 } = (child.pid === null ? null : last) ?? {};
      return { name: `worker-${number}`, stats: readProcessStats(child.pid), pool, streams };
    },
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
  const limiterOf = (name: LimitName, limit: Limit) =>
    limiters.getOrInsertComputed(`${name} ${limit.most}/${limit.seconds}`, () => createLimiter(limit));
  // Creates or migrates the tables once, before all workers open them.
  await using store = await openStore(config.databaseUrl, { connections: config.databasePool, role: 'api' });
  learnNetworks(await store.chains());
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
      limiterOf,
      metrics,
      denied,
    };
    const workers = Array.from({ length: count }, (_, position) => startWorker(position + 1, follows, options));
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
  const report = () => parent.send(reportOf(api, metrics));
  parent.send({ type: 'listening' });
  const timer = setInterval(report, REPORT_MS);
  await waitForStopSignal(log);
  await api.prepareStop();
  await api.stop();
  clearInterval(timer);
  report();
  process.disconnect?.();
}

const reportOf = (api: RunningApi, metrics: Metrics) => ({
  type: 'report' as const,
  counts: metrics.take(),
  health: api.health(),
  pool: api.store.pool(),
  streams: api.openStreams(),
  denied: api.takeDenied(),
});

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
