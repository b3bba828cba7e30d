// Several processes that answer on one port: this one starts them, looks after them, counts for them, and follows beside them.

import { createDeniedSample } from '../chain/denied-sample.ts';
import { createLimiter, type Limiter } from '../http/limiter.ts';
import { serverUrl } from '../http/listener.ts';
import { NETWORKS } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { type Child, startChild } from './child.ts';
import type { Environment } from './config.ts';
import { type Config, readConfig } from './config.ts';
import { startFollowerProcess } from './follower-process.ts';
import { LIMIT_NAMES, type LimitName, limitOf } from './limits.ts';
import { createErrorLog, openLog } from './log.ts';
import { createMetrics, type Health } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { createFreshness } from './start-api.ts';
import { waitForStopSignal } from './stop-signal.ts';
import { UsageError } from './usage-error.ts';
import { type FromWorker, TELL_MS, type ToWorker } from './worker-messages.ts';

/** A frozen worker keeps its share of the callers waiting. */
const SILENT_MS = 8 * TELL_MS;

interface Worker {
  readonly child: Child;
  readonly listening: Promise<void>;
  health: Health | null;
}

export async function runWorkerGroup(environment: Environment, count: number, follows: boolean): Promise<void> {
  const config = readConfig(environment);
  const log = openLog(config.logLevel);
  const onError = createErrorLog(log);
  const metrics = createMetrics();
  const denials = createDeniedSample();
  const limiters = new Map<LimitName, Limiter>();
  for (const name of LIMIT_NAMES) {
    const limit = limitOf(name, config);
    if (limit !== null) limiters.set(name, createLimiter(limit));
  }
  const started: (() => unknown)[] = [];
  let store: Store | null = null;
  try {
    // Set up or migrated once, before they all open it.
    store = await openStore(config.databaseUrl);
    const port = portOf(config);
    let restarts = 0;
    const startWorker = (number: number): Worker => {
      const listening = Promise.withResolvers<void>();
      const child = startChild({
        name: `worker ${number}`,
        args: ['worker', ...(follows ? ['--follows'] : [])],
        environment: { ...environment, PORT: String(port) },
        log,
        silentMs: SILENT_MS,
        onLost: () => void restarts++,
        onMessage(message, { send }) {
          const told = message as FromWorker;
          if (told.type === 'listening') listening.resolve();
          else if (told.type === 'take') {
            const verdict = limiters.get(told.name)?.consume(told.client, performance.now());
            send({ type: 'verdict', id: told.id, verdict } as ToWorker);
          } else {
            metrics.add(told.counts);
            one.health = told.health;
            for (const [chainId, denied, unread] of told.denied) {
              for (const question of denied) denials.add(chainId, question);
              for (const question of unread) denials.add(chainId, question, 'unread');
            }
          }
        },
      });
      const failed = () => new UsageError('A worker could not start: what it said stands above.');
      void child.firstEnd.then(() => listening.reject(failed()));
      const one: Worker = { child, listening: listening.promise, health: null };
      return one;
    };
    const workers = Array.from({ length: count }, (_, position) => startWorker(position + 1));
    started.push(() => Promise.all(workers.map(({ child }) => child.stop())));
    await Promise.all(workers.map(({ listening }) => listening));

    const following = follows && config.chains.size > 0 ? startFollowerProcess(log, denials.take, environment) : null;
    if (following !== null) started.push(following.stop);
    const followerStatus = following?.followerStatus ?? (() => []);
    const timer = setInterval(() => {
      const chains = followerStatus();
      for (const { child } of workers) child.send({ type: 'followerStatus', chains } satisfies ToWorker);
    }, TELL_MS);
    started.push(() => clearInterval(timer));
    const told = startMetrics({
      ...config,
      store,
      chainIds: new Set(NETWORKS.keys()),
      ...createFreshness(config),
      metrics,
      onError,
      view: () => ({
        followers: followerStatus(),
        health: worstOf(workers.flatMap(({ health }) => health ?? [])),
        workers: { alive: workers.filter(({ child }) => child.isAlive).length, restarts },
      }),
    });
    started.push(told.stop);
    const url = serverUrl({ hostname: config.host, port });
    log('info', 'listening', { url, metrics: told.url, workers: count });
    await waitForStopSignal(log);
  } finally {
    // All at once: none of them takes a request while others end.
    await Promise.all(started.map((stop) => stop()));
    await store?.close();
  }
  log('info', 'stopped');
}

/** What is true of all of them. */
function worstOf(healths: readonly Health[]): Health {
  const all = (name: keyof Health) => {
    const known = healths.map((health) => health[name]).filter((one) => one !== null);
    return known.length === 0 ? null : known.every(Boolean);
  };
  return { limiterShared: all('limiterShared'), replicaFresh: all('replicaFresh') };
}

/** The workers share their port with each other and with nobody else: another service on it is found here. */
function portOf({ host, port }: Config): number {
  const probe = Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() });
  const found = Number(new URL(serverUrl(probe)).port);
  void probe.stop(true);
  return found;
}
