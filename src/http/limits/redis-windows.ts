// Sliding windows in Redis or Valkey: exact, atomic, one round trip per request.

import { RedisClient } from 'bun';
import { withTimeout } from '../../store/with-timeout.ts';
import { widerPrefix } from './client-address.ts';
import { type Limit, MAX_PER_PREFIX, type SharedWindow } from './limiter.ts';

/** A request does not wait longer for Redis. */
const TIMEOUT_MS = 500;
const PING_MS = 5000;

/**
 * KEYS[1]: the client's window, a list of the times of its accepted requests, oldest first, in microseconds of Redis' clock.
 * KEYS[2] and KEYS[3], for a /64 only: the /64s of its /48 that have a window, by the time of their newest request, and the window that
 * the other /64s share. A window that starts later begins with the shared requests.
 * ARGV: the maximum number of requests, the window in microseconds, the maximum number of windows of a /48, and the cost.
 * Returns: accepted (0 or 1), remaining requests, microseconds until that number grows, or until a refused cost fits.
 * If the clock was set back, the newest stored time is used instead, but not if it is ahead by more than a window.
 */
const SCRIPT = `
local most, span, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local window, expires = KEYS[1], math.ceil(span / 1000)
if KEYS[2] and redis.call('EXISTS', window) == 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - span))
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
    window = KEYS[3]
  else
    for _, time in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do redis.call('RPUSH', window, time) end
    redis.call('PEXPIRE', window, expires)
  end
end
local newest = tonumber(redis.call('LINDEX', window, -1) or now)
if newest - now > span then redis.call('DEL', window) elseif newest > now then now = newest end
local oldest = tonumber(redis.call('LINDEX', window, 0) or now)
while now - oldest >= span do
  redis.call('LPOP', window)
  oldest = tonumber(redis.call('LINDEX', window, 0) or now)
end
local count = redis.call('LLEN', window)
if count + cost > most then
  local leaves = tonumber(redis.call('LINDEX', window, count + cost - most - 1) or now)
  return {0, math.max(0, most - count), leaves + span - now}
end
local time = string.format('%.0f', now)
for _ = 1, cost do redis.call('RPUSH', window, time) end
redis.call('PEXPIRE', window, expires)
if KEYS[2] and window == KEYS[1] then
  redis.call('ZADD', KEYS[2], time, KEYS[1])
  redis.call('PEXPIRE', KEYS[2], expires)
end
return {1, most - count - cost, oldest + span - now}`;
const DIGEST = new Bun.CryptoHasher('sha1').update(SCRIPT).digest('hex');

/** `onChange` is called when Redis becomes unreachable, and when it is reachable again. */
export function createRedisWindows(
  url: string,
  onChange: (isConnected: boolean, error?: unknown) => void,
  timeoutMs = TIMEOUT_MS,
) {
  let client: RedisClient | null = null;
  let isConnected = true;

  const setConnected = (connected: boolean, error?: unknown) => {
    if (connected !== isConnected) onChange(connected, error);
    isConnected = connected;
  };
  /** A client that failed is closed and replaced, so that a broken connection is never reused. */
  async function send(command: string, args: string[]): Promise<unknown> {
    client ??= new RedisClient(url, { autoReconnect: false, connectionTimeout: timeoutMs });
    const used = client;
    try {
      return await withTimeout(timeoutMs, used.send(command, args));
    } catch (error) {
      if (String(error).includes('NOSCRIPT')) throw error;
      used.close();
      if (client === used) client = null;
      throw error;
    }
  }
  /** Retries once on a new connection: the server may have closed an idle one, which shows only on use. */
  async function sendWithRetry(command: string, args: string[]): Promise<unknown> {
    const wasOpen = client !== null;
    try {
      return await send(command, args);
    } catch (error) {
      if (wasOpen && (error as { code?: string }).code === 'ERR_REDIS_CONNECTION_CLOSED') return send(command, args);
      throw error;
    }
  }
  async function evaluate(args: string[]): Promise<unknown> {
    try {
      return await sendWithRetry('EVALSHA', [DIGEST, ...args]);
    } catch (error) {
      // Redis was restarted and has not cached the script.
      if (!String(error).includes('NOSCRIPT')) throw error;
      return sendWithRetry('EVAL', [SCRIPT, ...args]);
    }
  }
  async function track<T>(work: Promise<T>): Promise<T> {
    try {
      const reply = await work;
      setConnected(true);
      return reply;
    } catch (error) {
      setConnected(false, error);
      throw error;
    }
  }
  // Keeps the connection state current without requests.
  const ping = () => void track(sendWithRetry('PING', [])).catch(() => {});
  const timer = setInterval(ping, PING_MS);
  ping();

  return {
    /** The windows of one limit, by client. */
    windowOf(name: string, { most, seconds }: Limit): SharedWindow {
      const [count, span] = [String(most), String(seconds * 1e6)];
      return async (clientId, cost) => {
        const keys = [`delegations:${name}:${clientId}`];
        const prefix = widerPrefix(clientId);
        if (prefix !== null) keys.push(`delegations:${name}:${prefix}:clients`, `delegations:${name}:${prefix}`);
        const limits = [count, span, String(MAX_PER_PREFIX), String(cost)];
        const reply = await track(evaluate([String(keys.length), ...keys, ...limits]));
        const [accepted, remaining, wait] = reply as [number, number, number];
        if (![accepted, remaining, wait].every(Number.isFinite)) throw new Error('Unexpected reply from Redis.');
        return { accepted: accepted === 1, remaining, seconds: wait / 1e6 };
      };
    },
    /** Whether the last command succeeded. */
    get isConnected(): boolean {
      return isConnected;
    },
    close(): void {
      clearInterval(timer);
      client?.close();
    },
  };
}
