// How old the newest indexed block of a chain is, and the highest of its lags in each ten minutes, for the status of the last day.

import { NETWORKS } from '../../registry/network.ts';
import { LAG_STEP_SECONDS, type LagSample } from '../../store/lag.ts';
import type { ChainState } from '../../store/store.ts';

/** When the head was last known to be the newest, in Unix seconds: by its timestamp, or on chains that make blocks on demand by a provider's confirmation. */
export function newestTime({ head, confirmedAt, chainId }: ChainState): number {
  const onDemand = NETWORKS.get(chainId)?.onDemand ?? false;
  return Math.max(head?.timestamp ?? 0, onDemand ? (confirmedAt ?? 0) : 0);
}

/** Seconds since then, by the wall clock. */
export const ageOf = (state: ChainState, now: number): number => Math.max(0, Math.floor(now - newestTime(state)));

/** Measures, and returns the sample of the ten minutes before if they have just ended. `now` is in Unix seconds. */
export function createLagMeter(): (state: ChainState, now: number) => LagSample | null {
  let current: LagSample | null = null;
  return (state, now) => {
    // A chain without a block has no lag.
    if (state.head === null) return null;
    const at = Math.floor(now / LAG_STEP_SECONDS) * LAG_STEP_SECONDS;
    const seconds = ageOf(state, now);
    if (current !== null && current.at === at) {
      current = { ...current, seconds: Math.max(current.seconds, seconds) };
      return null;
    }
    const ended = current;
    current = { chainId: state.chainId, at, seconds };
    return ended;
  };
}
