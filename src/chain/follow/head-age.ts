// How old the newest indexed block of a chain may be.

import { NETWORKS } from '../../registry/network.ts';
import type { ChainState } from '../../store/store.ts';

/** When the head was last known to be the newest, in Unix seconds: by its timestamp, or on chains that make blocks on demand by a provider's confirmation. */
export function newestTime({ head, confirmedAt, chainId }: ChainState): number {
  const onDemand = NETWORKS.get(chainId)?.onDemand ?? false;
  return Math.max(head?.timestamp ?? 0, onDemand ? (confirmedAt ?? 0) : 0);
}

/** Seconds since then, by the wall clock. */
export const ageOf = (state: ChainState, now: number): number => Math.max(0, Math.floor(now - newestTime(state)));
