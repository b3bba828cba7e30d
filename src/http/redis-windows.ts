// The windows of all clients in Redis or Valkey: exact, atomic, and one round trip for each request.

import { RedisClient } from 'bun';
import { withTimeout } from '../store/with-timeout.ts';
import type { Limit } from './limiter.ts';
import type { SharedWindow } from './shared-limiter.ts';

export interface RedisWindows {
  /** The windows of one limit. */
  windowOf(name: string, limit: Limit): SharedWindow;
  /** Whether it answered when it was last asked. */
  readonly isConnected: boolean;
  close(): void;
}

/** Whoever is not answered by then is not kept waiting. */
const DEADLINE_MS = 500;
const PING_MS = 5000;

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
export function createRedisWindows(url: string, onTurn: (isConnected: boolean, error?: unknown) => void): RedisWindows {
  let client: RedisClient | null = null;
  let isConnected = true;

  const turn = (there: boolean, error?: unknown) => {
    if (there !== isConnected) onTurn(there, error);
    isConnected = there;
  };
  /** One that failed is not used again: whatever is wrong with its connection ends with it. */
  async function send(command: string, args: string[]): Promise<unknown> {
    client ??= new RedisClient(url, { autoReconnect: false, connectionTimeout: DEADLINE_MS });
    const used = client;
    try {
      return await withTimeout(DEADLINE_MS, used.send(command, args));
    } catch (error) {
      if (String(error).includes('NOSCRIPT')) throw error;
      used.close();
      if (client === used) client = null;
      throw error;
    }
  }
  /** A server may have closed a connection that was quiet for long, which shows only now. */
  async function sendAgain(command: string, args: string[]): Promise<unknown> {
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
      return await sendAgain('EVALSHA', [DIGEST, ...args]);
    } catch (error) {
      // It was started anew, and does not know the script yet.
      if (!String(error).includes('NOSCRIPT')) throw error;
      return sendAgain('EVAL', [SCRIPT, ...args]);
    }
  }
  async function told<T>(work: Promise<T>): Promise<T> {
    try {
      const given = await work;
      turn(true);
      return given;
    } catch (error) {
      turn(false, error);
      throw error;
    }
  }
  // Whether it is there is known also while nobody asks.
  const ping = () => void told(sendAgain('PING', [])).catch(() => {});
  const timer = setInterval(ping, PING_MS);
  ping();

  return {
    windowOf(name, { most, seconds }) {
      const [count, span] = [String(most), String(seconds * 1e6)];
      return async (who) => {
        const reply = await told(evaluate(['1', `delegations:${name}:${who}`, count, span]));
        const [accepted, remaining, wait] = reply as [number, number, number];
        if (![accepted, remaining, wait].every(Number.isFinite)) throw new Error('Redis gave no result.');
        return { accepted: accepted === 1, remaining, seconds: wait / 1e6 };
      };
    },
    get isConnected() {
      return isConnected;
    },
    close() {
      clearInterval(timer);
      client?.close();
    },
  };
}
