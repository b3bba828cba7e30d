// Creates the rate limiters of an API process: backed by Redis, by the worker group, or by this process alone.

import { createLimiter, type Limit, type Limiter } from '../http/limiter.ts';
import { createRedisWindows } from '../http/redis-windows.ts';
import { createSharedLimiter, type SharedWindow } from '../http/shared-limiter.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface Limits {
  readonly anonymous: Limiter | null;
  readonly pages: Limiter;
  readonly lookups: Limiter;
  /** Whether Redis holds the limits now; null without REDIS_URL. */
  isShared(): boolean | null;
  close(): void;
}

/** The windows that the parent holds for all workers of its group. */
export type GroupWindows = (name: LimitName) => SharedWindow;

export const LIMIT_NAMES = ['anonymous', 'pages', 'lookups'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Far above what a person who reads pages needs. */
const PAGES: Limit = { most: 300, seconds: 10 };
/** For expensive requests: sign-ins and lookups of unknown keys. */
const LOOKUPS: Limit = { most: 40, seconds: 10 };

/** Null if the limit is switched off. */
export const limitOf = (name: LimitName, { anonymousLimit }: Pick<Config, 'anonymousLimit'>): Limit | null =>
  ({ anonymous: anonymousLimit, pages: PAGES, lookups: LOOKUPS })[name];

type LimitConfig = Pick<Config, 'anonymousLimit' | 'redisUrl' | 'redisFallback'>;

/** Counts in Redis if configured. Without it, or while it is unreachable, the group counts; without a group, this process. */
export function createLimits(config: LimitConfig, log: Log, metrics: Metrics, group: GroupWindows | null): Limits {
  const redis =
    config.redisUrl === null
      ? null
      : createRedisWindows(config.redisUrl, (isConnected, error) => {
          if (isConnected) log('info', 'redis reconnected');
          else log('warn', 'redis unreachable', { fallback: config.redisFallback, error: String(error) });
        });
  const onFallback = metrics.countLimiterFallback;
  const create = (name: LimitName, limit: Limit): Limiter => {
    const own = createLimiter(limit);
    const windows = redis === null ? [] : [redis.windowOf(name, limit)];
    if (redis !== null && config.redisFallback === 'off')
      return createSharedLimiter({ limit, windows, fallback: null, onFallback });
    if (group !== null) windows.push(group(name));
    return windows.length === 0 ? own : createSharedLimiter({ limit, windows, fallback: own, onFallback });
  };
  return {
    anonymous: config.anonymousLimit && create('anonymous', config.anonymousLimit),
    pages: create('pages', PAGES),
    lookups: create('lookups', LOOKUPS),
    isShared: () => redis?.isConnected ?? null,
    close: () => redis?.close(),
  };
}
