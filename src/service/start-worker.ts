// Starts one worker process for the group and handles its messages.

import type { DeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import type { Limit, Limiter } from '../http/limits/limiter.ts';
import type { PoolStatus } from '../store/engine.ts';
import { startChild } from './child.ts';
import type { Environment } from './config.ts';
import type { LimitName } from './limits.ts';
import type { Log } from './log.ts';
import type { Health, Metrics, ProcessMetrics } from './metrics.ts';
import { readProcessStats } from './process-stats.ts';
import { UsageError } from './usage-error.ts';
import { type FromWorker, REPORT_MS, type ToWorker } from './worker-messages.ts';

export interface WorkerOptions {
  readonly number: number;
  readonly environment: Environment;
  readonly follows: boolean;
  /** How long it may drain. */
  readonly drainMs: number;
  readonly log: Log;
  /** The limiters that the parent holds for all workers. */
  readonly limiterOf: (name: LimitName, limit: Limit) => Limiter;
  readonly metrics: Metrics;
  readonly denied: DeniedSample;
  readonly onExit: () => void;
}

export interface Worker {
  /** Rejects if the process exits before it listens. */
  readonly listening: Promise<void>;
  readonly isAlive: boolean;
  /** From the last report; null before the first. */
  readonly health: Health | null;
  metrics(): ProcessMetrics;
  sendStatus(chains: readonly FollowerStatus[]): void;
  stop(): Promise<void>;
}

/** A frozen worker still gets its share of the connections, so it must be found soon. */
const UNRESPONSIVE_MS = 8 * REPORT_MS;
/** For everything that a worker does after its requests have drained. */
const CLOSE_MS = 5000;

export function startWorker(options: WorkerOptions): Worker {
  const { number, environment, follows, drainMs, log, limiterOf, metrics, denied, onExit } = options;
  const listening = Promise.withResolvers<void>();
  let health: Health | null = null;
  let pool: PoolStatus | null = null;
  let streams = 0;
  const child = startChild({
    name: `worker ${number}`,
    args: ['worker', '--number', String(number), ...(follows ? ['--follows'] : [])],
    environment,
    log,
    unresponsiveMs: UNRESPONSIVE_MS,
    stopTimeoutMs: drainMs + CLOSE_MS,
    onExit,
    onMessage(received, { send }) {
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
    get isAlive() {
      return child.isAlive;
    },
    get health() {
      return health;
    },
    metrics: () => ({
      name: `worker-${number}`,
      stats: child.pid === null ? null : readProcessStats(child.pid),
      pool: child.pid === null ? null : pool,
      streams: child.pid === null ? 0 : streams,
    }),
    sendStatus: (chains) => child.send({ type: 'follower-status', chains } satisfies ToWorker),
    stop: child.stop,
  };
}
