// Measures the lag of a chain by two clocks: the wall clock against the chain's timestamps, and a monotonic clock since this
// process last saw the chain move, as the wall clock may be set wrong. The larger lag counts.

import { ageOf, newestTime } from '../../chain/follow/lag-meter.ts';
import type { ChainState, Imported } from '../../store/store.ts';

/** The largest lag in seconds at which a chain is answered. */
export type MaxLag = (chainId: number) => number;

export type Sightings = ReturnType<typeof createSightings>;

/** Remembers when this process saw each chain move. `monotonic` is in seconds. */
export function createSightings(monotonic: () => number = () => performance.now() / 1000) {
  const seen = new Map<number, { readonly time: number; readonly at: number; readonly hasMoved: boolean }>();
  return {
    /** Seconds since the chain was first seen with this newest time. */
    since(chainId: number, time: number): number {
      const at = monotonic();
      const last = seen.get(chainId);
      if (last?.time === time) return at - last.at;
      seen.set(chainId, { time, at, hasMoved: last !== undefined });
      return 0;
    },
    /** It was seen with two newest times. */
    hasMoved: (chainId: number): boolean => seen.get(chainId)?.hasMoved ?? false,
  };
}

/** The lag in seconds. Each call also records a sighting of the chain. */
export const lagOf = (state: ChainState, now: number, { sightings }: { readonly sightings: Sightings }): number =>
  Math.max(ageOf(state, now), Math.floor(sightings.since(state.chainId, newestTime(state))));

/**
 * Nodes reject blocks more than about 15 s ahead of their own clocks, and NTP keeps a clock right to well below a second.
 * If a block is more than a minute ahead, the shortest max lag, our own clock is wrong.
 */
const MAX_AHEAD_SECONDS = 60;

/** How many seconds our clock is behind the chain; 0 if it is not. A sandbox makes up its timestamps. */
export function clockBehind(state: ChainState, now: number, { sandbox }: { readonly sandbox?: boolean }): number {
  const ahead = sandbox ? 0 : Math.floor(newestTime(state) - now);
  return ahead > MAX_AHEAD_SECONDS ? ahead : 0;
}

/**
 * How old new blocks of a chain are when they come; 0 if they are new enough. The follower is at the chain's head, so that either our
 * clock is ahead, or all providers are behind.
 */
export function clockAhead(
  state: ChainState,
  now: number,
  { sightings, maxLag }: { readonly sightings: Sightings; readonly maxLag: MaxLag },
): number {
  const { chainId, head, tip } = state;
  const limit = maxLag(chainId);
  const since = sightings.since(chainId, newestTime(state));
  const isMoving = sightings.hasMoved(chainId) && since < limit && head !== null && head.number === tip;
  const age = Math.floor(ageOf(state, now) - since);
  return isMoving && age > limit ? age : 0;
}

/** Whether nothing is answered because all of an import is to be confirmed first. */
export const awaitsConfirmation = (
  { imported }: ChainState,
  { trustsImports }: { readonly trustsImports?: boolean },
): boolean => imported !== null && trustsImports === false;

/** How much of an import was compared with the chain's providers. Wallets whose lists are still to be counted are the last part. */
export function confirmedShare({ firstBlock }: ChainState, { to, comparedFrom, isCounted }: Imported): number {
  const share = (to - comparedFrom + 1) / Math.max(1, to - firstBlock + 1);
  return isCounted ? share : Math.min(share, 0.99);
}
