// Logs what goes on for long, and not too often: failures of an outage, a provider that becomes unhealthy and recovers, and a clock that
// disagrees with a chain.

import type { PooledProvider, ProviderFailure } from '../chain/rpc/provider-pool.ts';
import type { Log } from './log.ts';

/** An outage is logged at least this often, however rare its failures have become. */
const REPEAT_MS = 5 * 60_000;
/** A provider that keeps failing and recovering is logged at most this often. */
const MIN_INTERVAL_MS = 60_000;

/** Of failures in a row, the 1st, 2nd, 4th, 8th, … are logged, and the first one after five minutes without a line. */
export function createFailureFilter(now: () => number): (times: number) => boolean {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (times) => {
    const isLogged = (times & (times - 1)) === 0 || now() - loggedAt >= REPEAT_MS;
    if (isLogged) loggedAt = now();
    return isLogged;
  };
}

export function createProviderLog(chainId: number, log: Log, now: () => number) {
  /** The last line about each provider. `isOpen`: it has not recovered since. */
  const lines = new Map<string, { readonly at: number; readonly cause: string; isOpen: boolean }>();
  /** Logs a failure if it is new, has another cause, or was last logged five minutes ago. */
  const failed = (provider: string, { cause, message, httpStatus, rpcCode, since }: ProviderFailure): void => {
    const last = lines.get(provider);
    const waitMs = last?.isOpen && last.cause === cause ? REPEAT_MS : MIN_INTERVAL_MS;
    if (last !== undefined && now() - last.at < waitMs) return;
    lines.set(provider, { at: now(), cause, isOpen: true });
    log('warn', 'provider unhealthy', {
      chainId,
      provider,
      cause,
      ...(httpStatus === null ? {} : { httpStatus }),
      ...(rpcCode === null ? {} : { rpcCode }),
      error: message,
      unhealthySeconds: Math.round((now() - since) / 1000),
    });
  };
  return {
    failed,
    recovered(provider: string, unhealthyMs: number): void {
      const last = lines.get(provider);
      if (last?.isOpen !== true) return;
      last.isOpen = false;
      log('info', 'provider recovered', { chainId, provider, unhealthySeconds: Math.round(unhealthyMs / 1000) });
    },
    /** Called after each tick: an unhealthy provider may not have been used since its last failure. */
    remind(providers: readonly PooledProvider[]): void {
      for (const { name, failure } of providers) if (failure !== null) failed(name, failure);
    },
  };
}

const CLOCK_REPEAT_MS = 3_600_000;

/** Logs at most once an hour per chain. `behind` and `ahead` of it are seconds; 0 if the clock can be right. */
export function createClockLog(log: Log, ticks = () => performance.now()) {
  const loggedAt = new Map<number, number>();
  return (chainId: number, behind: number, ahead: number): void => {
    const now = ticks();
    if (behind + ahead === 0 || now - (loggedAt.get(chainId) ?? Number.NEGATIVE_INFINITY) < CLOCK_REPEAT_MS) return;
    loggedAt.set(chainId, now);
    const help = 'check NTP on this machine';
    const orAll = `${help}; if its clock is right, all providers of the chain are behind`;
    if (behind > 0) log('error', 'clock behind the chain', { chainId, seconds: behind, help });
    else log('error', 'clock ahead of the chain', { chainId, seconds: ahead, help: orAll });
  };
}
