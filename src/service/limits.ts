// Creates the rate limiters of an API process: backed by Redis, by the worker group, or by this process alone.

import {
  createLimiter,
  createSharedLimiter,
  type Limit,
  type Limiter,
  parseLimit,
  type SharedWindow,
} from '../http/limits/limiter.ts';
import { createRedisWindows } from '../http/limits/redis-windows.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** The windows that the parent holds for all workers of its group. */
export type GroupWindows = (name: LimitName, limit: Limit) => SharedWindow;

export type LimitName = 'anonymous' | 'pages' | 'lookups' | 'registrations' | 'key';

/** Far above what a person who reads pages needs. */
const PAGES: Limit = { most: 300, seconds: 10 };
/** For expensive requests: sign-ins and lookups of unknown keys. */
const LOOKUPS: Limit = { most: 40, seconds: 10 };
/** New webhooks from one address, whatever the wallet: twice what a wallet can have. */
const REGISTRATIONS: Limit = { most: 20, seconds: 3600 };

type LimitConfig = Pick<Config, 'anonymousLimit' | 'keyLimit' | 'redisUrl'>;

/** Counts in Redis if configured. Without it, or while it is unreachable, the group counts; without a group, this process. */
export function createLimits(config: LimitConfig, log: Log, metrics: Metrics, group: GroupWindows | null) {
  const redis =
    config.redisUrl === null
      ? null
      : createRedisWindows(config.redisUrl, (isConnected, error) => {
          if (isConnected) log('info', 'redis reconnected');
          else log('warn', 'redis unreachable', { error: String(error) });
        });
  const onFallback = () => metrics.count('delegations_limiter_fallback_total');
  const create = (name: LimitName, limit: Limit): Limiter => {
    const own = createLimiter(limit);
    const windows = redis === null ? [] : [redis.windowOf(name, limit)];
    if (group !== null) windows.push(group(name, limit));
    return windows.length === 0 ? own : createSharedLimiter(own, windows, onFallback);
  };
  const defaultOfKeys = config.keyLimit && create('key', config.keyLimit);
  /** By the text of the limit. Only operators set limits on keys, so they are few. */
  const ofKeys = new Map<string, Limiter | null>([['off', null]]);
  const createOfKeys = (rateLimit: string) => {
    const limit = parseLimit(rateLimit);
    // An unreadable limit, from a newer version perhaps, must not lift the default.
    return limit === null ? defaultOfKeys : create('key', limit);
  };
  return {
    /** The limiter of a key with this `rateLimit`; null if it has no limit. */
    limiterOfKey: (rateLimit: string | null): Limiter | null =>
      rateLimit === null ? defaultOfKeys : ofKeys.getOrInsertComputed(rateLimit, createOfKeys),
    anonymous: config.anonymousLimit && create('anonymous', config.anonymousLimit),
    pages: create('pages', PAGES),
    lookups: create('lookups', LOOKUPS),
    registrations: create('registrations', REGISTRATIONS),
    /** Whether Redis holds the limits now; null without REDIS_URL. */
    isShared: (): boolean | null => redis?.isConnected ?? null,
    close: () => redis?.close(),
  };
}
