// How old what is indexed may be, by two clocks. The wall clock is compared with the chain's own times; it may be set wrong,
// so a monotonic one also counts from when this process last saw the chain move. The older of the two ages counts.

import { NETWORKS } from '../registry/network.ts';
import type { ChainState } from '../store/store.ts';
import type { Service } from './reply.ts';

/** How old the newest block may be, in seconds. */
export type MaxLag = (chainId: number) => number;

/** When the chain was last known to be where we are, in unix seconds: by its blocks, or by a node's word where those are rare. */
function newestTime({ head, confirmedAt, chainId }: ChainState): number {
  const onDemand = NETWORKS.get(chainId)?.onDemand ?? false;
  return Math.max(head?.timestamp ?? 0, onDemand ? (confirmedAt ?? 0) : 0);
}

/** Seconds since then, by the wall clock. */
export const ageOf = (state: ChainState, now: number): number => Math.max(0, Math.floor(now - newestTime(state)));

/** Remembers when this process saw each chain move. */
export interface Sightings {
  /** Seconds since the chain was first seen with this newest time. */
  since(chainId: number, time: number): number;
}

/** `monotonic`: seconds of a clock that nobody sets. */
export function createSightings(monotonic: () => number = () => performance.now() / 1000): Sightings {
  const seen = new Map<number, { readonly time: number; readonly at: number }>();
  return {
    since(chainId, time) {
      const at = monotonic();
      const last = seen.get(chainId);
      if (last?.time === time) return at - last.at;
      seen.set(chainId, { time, at });
      return 0;
    },
  };
}

/** The age that counts. Every call is a look at the chain as well. */
export const lagOf = (state: ChainState, now: number, { sightings }: Pick<Service, 'sightings'>): number =>
  Math.max(ageOf(state, now), Math.floor(sightings.since(state.chainId, newestTime(state))));

/**
 * Nodes refuse blocks that are more than some 15 s ahead of their own clocks, and a clock that NTP keeps is right to well
 * below a second. Beyond a minute, which is the shortest limit of age, our own clock is wrong.
 */
const MOST_AHEAD_SECONDS = 60;

/** By how many seconds our clock is behind the chain; 0 where it is not. A sandbox makes up its times. */
export function clockBehind(state: ChainState, now: number, { sandbox }: Pick<Service, 'sandbox'>): number {
  const ahead = sandbox ? 0 : Math.floor(newestTime(state) - now);
  return ahead > MOST_AHEAD_SECONDS ? ahead : 0;
}
