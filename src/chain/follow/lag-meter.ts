// Measures the highest lag of a chain in each ten minutes, for the status of the last day.

import { LAG_STEP_SECONDS, type LagSample } from '../../store/lag.ts';
import type { ChainState } from '../../store/store.ts';
import { ageOf } from './head-age.ts';

export interface LagMeter {
  /** Measures, and returns the sample of the ten minutes before if they have just ended. `now` is in Unix seconds. */
  measure(state: ChainState, now: number): LagSample | null;
}

export function createLagMeter(): LagMeter {
  let current: LagSample | null = null;
  return {
    measure(state, now) {
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
    },
  };
}
