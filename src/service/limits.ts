// How much callers without a key may ask, and who keeps count.

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
  /** Whether all processes share them just now; null where they never do. */
  isShared(): boolean | null;
  close(): void;
}

/** The windows of the group of processes that this one belongs to. */
export type GroupWindows = (name: LimitName) => SharedWindow;

export const LIMIT_NAMES = ['anonymous', 'pages', 'lookups'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];

/** Nobody who looks at pages comes near this. */
const PAGES: Limit = { most: 300, seconds: 10 };
/** Of what costs more. A page of the explorer that keeps itself new takes three of them. */
const LOOKUPS: Limit = { most: 40, seconds: 10 };

/** Null where there is none. */
export const limitOf = (name: LimitName, { anonymousLimit }: Pick<Config, 'anonymousLimit'>): Limit | null =>
  ({ anonymous: anonymousLimit, pages: PAGES, lookups: LOOKUPS })[name];

type LimitConfig = Pick<Config, 'anonymousLimit' | 'redisUrl' | 'limitsWithoutRedis'>;

/** Counted in Redis where there is one; while it is away, or without it, by the group; without a group, by this process. */
export function createLimits(config: LimitConfig, log: Log, metrics: Metrics, group: GroupWindows | null): Limits {
  const redis =
    config.redisUrl === null
      ? null
      : createRedisWindows(config.redisUrl, (isConnected, error) => {
          if (isConnected) log('info', 'Redis is there again: the limit is shared');
          else log('warn', 'Redis is away', { limits: config.limitsWithoutRedis, error: String(error) });
        });
  const onFallback = metrics.countLimiterFallback;
  const make = (name: LimitName, limit: Limit): Limiter => {
    const own = createLimiter(limit);
    const windows = redis === null ? [] : [redis.windowOf(name, limit)];
    if (redis !== null && !config.limitsWithoutRedis)
      return createSharedLimiter({ limit, windows, fallback: null, onFallback });
    if (group !== null) windows.push(group(name));
    return windows.length === 0 ? own : createSharedLimiter({ limit, windows, fallback: own, onFallback });
  };
  return {
    anonymous: config.anonymousLimit && make('anonymous', config.anonymousLimit),
    pages: make('pages', PAGES),
    lookups: make('lookups', LOOKUPS),
    isShared: () => redis?.isConnected ?? null,
    close: () => redis?.close(),
  };
}
