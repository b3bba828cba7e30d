// Logs that this machine's clock and a chain disagree, at most once an hour per chain.

import type { Log } from './log.ts';

const REPEAT_MS = 3_600_000;

/** Seconds behind the chain, and ahead of it; 0 if the clock can be right. */
export function createClockLog(
  log: Log,
  ticks = () => performance.now(),
): (chainId: number, behind: number, ahead: number) => void {
  const loggedAt = new Map<number, number>();
  return (chainId, behind, ahead) => {
    const now = ticks();
    if (behind + ahead === 0 || now - (loggedAt.get(chainId) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    loggedAt.set(chainId, now);
    if (behind > 0)
      log('error', 'clock behind the chain', { chainId, seconds: behind, help: 'check NTP on this machine' });
    else
      log('error', 'clock ahead of the chain', {
        chainId,
        seconds: ahead,
        help: 'check NTP on this machine; if its clock is right, all providers of the chain are behind',
      });
  };
}
