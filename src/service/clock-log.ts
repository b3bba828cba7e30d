// Tells when this machine's clock is behind a chain.

import type { Log } from './log.ts';

/** It is told of again after so long, and not with every look. */
const AGAIN_MS = 3_600_000;

export function createClockLog(log: Log): (chainId: number, seconds: number) => void {
  const told = new Map<number, number>();
  return (chainId, seconds) => {
    const now = performance.now();
    if (seconds === 0 || now - (told.get(chainId) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return;
    told.set(chainId, now);
    log('error', 'clock behind the chain', { chainId, seconds, fix: "check NTP: the machine's clock is slow" });
  };
}
