// The windows of all clients in Redis or Valkey: exact, atomic, and one round trip for each request.

import { RedisClient } from 'bun';
import type { Limit } from './limiter.ts';
import type { Ask } from './shared-limiter.ts';

export interface RedisWindows {
  /** The windows of one limit. */
  windowOf(name: string, limit: Limit): Ask;
  /** Whether it answered when it was last asked. */
  readonly isThere: boolean;
  close(): void;
}

/** Whoever is not answered by then is not kept waiting. */
const DEADLINE_MS = 500;
/** So long it is left alone after a failure. */
const REST_MS = 1000;

/**
 * KEYS[1] the client's window: the times of its accepted requests, oldest first, in microseconds of Redis' own clock.
 * ARGV: how many, in how many microseconds. Gives whether it is accepted, how many more would be, and when one more fits.
 * A clock that was set back stands still until it has come as far again, but not for longer than the window.
 */
const SCRIPT = `
local most, span = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local newest = tonumber(redis.call('LINDEX', KEYS[1], -1) or now)
if newest - now > span then redis.call('DEL', KEYS[1]) elseif newest > now then now = newest end
local oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or now)
while now - oldest >= span do
  redis.call('LPOP', KEYS[1])
  oldest = tonumber(redis.call('LINDEX', KEYS[1], 0) or now)
end
local count = redis.call('LLEN', KEYS[1])
if count >= most then return {0, 0, oldest + span - now} end
redis.call('RPUSH', KEYS[1], string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(span / 1000))
return {1, most - count - 1, oldest + span - now}`;
const DIGEST = new Bun.CryptoHasher('sha1').update(SCRIPT).digest('hex');

/** `onTurn` is told when it goes away, and when it is there again. */
export function createRedisWindows(url: string, onTurn: (isThere: boolean, error?: unknown) => void): RedisWindows {
  let client: RedisClient | null = null;
  let isThere = true;
  let restUntil = 0;

  const turn = (there: boolean, error?: unknown) => {
    if (there !== isThere) onTurn(there, error);
    isThere = there;
  };
  // One that failed is not used again: whatever is wrong with its connection ends with it.
  const fail = (failed: RedisClient, error: unknown) => {
    failed.close();
    if (client !== failed) return;
    client = null;
    restUntil = performance.now() + REST_MS;
    turn(false, error);
  };
  const connected = () => {
    client ??= new RedisClient(url, { autoReconnect: false, connectionTimeout: DEADLINE_MS });
    return client;
  };

  return {
    windowOf(name, { most, seconds }) {
      const [count, span] = [String(most), String(seconds * 1e6)];
      return async (who) => {
        if (performance.now() < restUntil) throw new Error('Redis is away.');
        const used = connected();
        try {
          const args = ['1', `delegations:${name}:${who}`, count, span];
          const reply = await within(DEADLINE_MS, async () => {
            try {
              return await used.send('EVALSHA', [DIGEST, ...args]);
            } catch (error) {
              // It was started anew, and does not know the script yet.
              if (!String(error).includes('NOSCRIPT')) throw error;
              return used.send('EVAL', [SCRIPT, ...args]);
            }
          });
          const [accepted, remaining, wait] = reply as [number, number, number];
          if (![accepted, remaining, wait].every(Number.isFinite)) throw new Error('Redis gave no verdict.');
          turn(true);
          return { accepted: accepted === 1, remaining, seconds: wait / 1e6 };
        } catch (error) {
          fail(used, error);
          throw error;
        }
      };
    },
    get isThere() {
      return isThere;
    },
    close: () => client?.close(),
  };
}

async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms.`)), ms);
  try {
    return await Promise.race([work(), promise]);
  } finally {
    clearTimeout(timer);
  }
}
