// Logs that this machine's clock is behind a chain, at most once an hour per chain.

import type { Log } from './log.ts';

const REPEAT_MS = 3_600_000;

export function createClockLog(log: Log): (chainId: number, seconds: number) => void {
  const loggedAt = new Map<number, number>();
  return (chainId, seconds) => {
    const now = performance.now();
    if (seconds === 0 || now - (loggedAt.get(chainId) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    loggedAt.set(chainId, now);
    log('error', 'clock behind the chain', { chainId, seconds, help: 'check NTP on this machine' });
  };
}
