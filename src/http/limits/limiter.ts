// Exact sliding-window rate limiters, per client: with windows in this process, or held elsewhere.

import type { Awaitable } from '../../store/engine.ts';
import { widerPrefix } from './client-address.ts';

/** At most `most` requests in any window of `seconds`. */
export interface Limit {
  readonly most: number;
  readonly seconds: number;
}

export interface LimitResult {
  readonly accepted: boolean;
  /** Requests left in the window. */
  readonly remaining: number;
  /** Seconds until `remaining` grows; if the request was refused, until it fits. */
  readonly seconds: number;
}

export interface Limiter {
  readonly limit: Limit;
  /**
   * Counts a request as `cost` requests, at most the limit, if all of them fit; otherwise as none. `now` is in milliseconds of a
   * monotonic clock.
   */
  consume(client: string, now: number, cost?: number): Awaitable<LimitResult>;
  /** Number of clients that are tracked. */
  readonly clients: number;
}

const MOST_REQUESTS = 10_000;
const LONGEST_SECONDS = 3600;
export const LIMIT_RULE = `<requests>/<seconds>s, with 1 to ${MOST_REQUESTS} requests and 1 to ${LONGEST_SECONDS} seconds`;

/** Parses `25/10s`; null if it is not a valid limit. */
export function parseLimit(text: string): Limit | null {
  const [, most, seconds] = /^(\d{1,6})\/(\d{1,5})s$/.exec(text) ?? [];
  const limit = { most: Number(most), seconds: Number(seconds) };
  const isValid =
    limit.most >= 1 && limit.most <= MOST_REQUESTS && limit.seconds >= 1 && limit.seconds <= LONGEST_SECONDS;
  return isValid ? limit : null;
}

/** Bounds the memory. A window is dropped once it is empty. */
const MAX_CLIENTS = 100_000;
/** Windows of one /48: nobody can fill the table with the /64s of a few prefixes. */
export const MAX_PER_PREFIX = 256;

function add(times: number[], now: number, cost: number): void {
  for (let left = cost; left > 0; left--) times.push(now);
}

export function createLimiter(limit: Limit, capacity = MAX_CLIENTS, perPrefix = MAX_PER_PREFIX): Limiter {
  const { most } = limit;
  const span = limit.seconds * 1000;
  /**
   * Times of accepted requests, oldest first. Clients are ordered by their newest request. A /48 has a window too, once it has as
   * many /64s as it may: its other /64s share that window.
   */
  const windows = new Map<string, number[]>();
  /** Number of windows by /48. */
  const perPrefixCount = new Map<string, number>();
  /** New clients share this window while all others are in use. */
  const shared: number[] = [];

  const isExpired = (time: number | undefined, now: number) => time === undefined || now - time >= span;

  function current(times: number[], now: number): number[] {
    let expired = 0;
    while (expired < times.length && isExpired(times[expired], now)) expired++;
    if (expired > 0) times.splice(0, expired);
    return times;
  }

  function countWindow(client: string, change: 1 | -1): void {
    const prefix = widerPrefix(client);
    if (prefix === null) return;
    const count = (perPrefixCount.get(prefix) ?? 0) + change;
    if (count === 0) perPrefixCount.delete(prefix);
    else perPrefixCount.set(prefix, count);
  }

  function dropExpired(now: number): void {
    for (const [client, times] of windows) {
      if (!isExpired(times.at(-1), now)) return;
      windows.delete(client);
      countWindow(client, -1);
    }
  }

  /** Also moves the client to the end, as the one with the newest request. */
  function setWindow(client: string, times: number[]): void {
    if (!windows.delete(client)) countWindow(client, 1);
    windows.set(client, times);
  }

  /** Counts an accepted request of a client that has no window. */
  function addNewcomer(client: string, before: readonly number[], now: number, cost: number): void {
    const prefix = widerPrefix(client);
    const isFull = prefix !== null && (perPrefixCount.get(prefix) ?? 0) >= perPrefix;
    const name = isFull ? prefix : client;
    const times = windows.get(name) ?? (isFull ? [] : [...before]);
    const hasRoom = windows.has(name) || windows.size < capacity;
    add(hasRoom ? times : shared, now, cost);
    if (hasRoom) setWindow(name, times);
  }

  /** The requests that a client without a window may have made: those in the windows that it could share. */
  function sharedTimes(client: string, now: number): readonly number[] {
    const ofPrefix = windows.get(widerPrefix(client) ?? '');
    if (ofPrefix === undefined) return current(shared, now);
    return [...current(shared, now), ...current(ofPrefix, now)].sort((a, b) => a - b);
  }

  return {
    limit,
    consume(client, now, cost = 1) {
      const own = windows.get(client);
      if (own === undefined) dropExpired(now);
      const times = own === undefined ? sharedTimes(client, now) : current(own, now);
      const oldest = times[0] ?? now;
      const count = times.length;
      const accepted = count + cost <= most;
      // So many must leave the window before the cost fits.
      const leaves = accepted ? oldest : (times[count + cost - most - 1] ?? now);
      if (accepted && own === undefined) addNewcomer(client, times, now, cost);
      else if (accepted && own !== undefined) {
        add(own, now, cost);
        setWindow(client, own);
      }
      const remaining = Math.max(0, most - count - (accepted ? cost : 0));
      return { accepted, remaining, seconds: (leaves + span - now) / 1000 };
    },
    get clients() {
      return windows.size;
    },
  };
}

/** Consumes a cost from a window that several processes share, in Redis or the parent process. Rejects if it is unreachable. */
export type SharedWindow = (client: string, cost: number) => Promise<LimitResult>;

/** Bounds the memory of the local cache. */
const MAX_REFUSED = 10_000;
/** A window is not tried again for this long after a failure. */
const RETRY_MS = 1000;

/**
 * `windows` are in order of preference: the next one, and finally the fallback, is used while those before it are unreachable.
 * `onFallback` is called for every request that is limited without the first window.
 */
export function createSharedLimiter(
  fallback: Limiter,
  windows: readonly SharedWindow[],
  onFallback: () => void,
): Limiter {
  /** When each refused client may try again. Only time frees a window, so no round trip is needed before. */
  const refused = new Map<string, number>();
  const retryAt = windows.map(() => 0);

  return {
    limit: fallback.limit,
    async consume(client, now, cost = 1) {
      const until = refused.get(client);
      if (until !== undefined && now < until) return { accepted: false, remaining: 0, seconds: (until - now) / 1000 };
      refused.delete(client);
      for (const [position, consume] of windows.entries()) {
        if (now >= (retryAt[position] ?? 0)) {
          try {
            const result = await consume(client, cost);
            // A smaller cost may fit.
            if (!result.accepted && cost === 1) {
              if (refused.size >= MAX_REFUSED) refused.clear();
              refused.set(client, now + 1000 * result.seconds);
            }
            return result;
          } catch {
            retryAt[position] = now + RETRY_MS;
          }
        }
        if (position === 0) onFallback();
      }
      return fallback.consume(client, now, cost);
    },
    get clients() {
      return refused.size;
    },
  };
}
