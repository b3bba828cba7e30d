// What the registry's state at one block shows about v1 revocations that do not name the delegate, for one pair of wallets. Pure.

import type { LogPosition } from '../../store/store.ts';

/** A delegation of the pair that the logs leave open, and whether the registry has it. */
export interface KeyState {
  /** The newest log that granted it. */
  readonly granted: LogPosition;
  readonly isHeld: boolean;
}

/** One revocation, for this pair. */
export interface Finding {
  readonly at: LogPosition;
  /** It ended everything between the two wallets that was granted before it. */
  readonly hasEnded: boolean;
  /** From the end of this block on. Between the revocation and this block it is unknown what held. */
  readonly knownFrom: number;
}

export const isBefore = (a: LogPosition, b: LogPosition): boolean =>
  a.block < b.block || (a.block === b.block && a.logIndex < b.logIndex);

/**
 * `revocations`: those of the wallet up to the block of the state, in order. `keys`: at least one for each two revocations between
 * which something was granted, and one from before the first, if the logs leave one open. `grants`: all grants since the first. `isRevoked`:
 * one of them is known to have ended the pair, by what the registry counts. Null if the state contradicts the logs.
 *
 * A revocation ends all delegations of one pair at once. So it did not end the pair if the registry has a delegation that was
 * granted before it, and not again since. A delegation that the registry lacks ended at one of the others.
 */
export function deduce(
  revocations: readonly LogPosition[],
  keys: readonly KeyState[],
  readAt: number,
  { isRevoked = false, grants = [] }: { readonly isRevoked?: boolean; readonly grants?: readonly LogPosition[] } = {},
): readonly Finding[] | null {
  const isPossible = (at: LogPosition) => !keys.some(({ isHeld, granted }) => isHeld && isBefore(granted, at));
  const last = revocations.findLast(isPossible);
  const missing = keys.filter(({ isHeld }) => !isHeld);
  if (isRevoked && last === undefined) return null;
  if (missing.some(({ granted }) => last === undefined || !isBefore(granted, last))) return null;
  // What was granted between two that are possible outlived the last one if only the first ended the pair. If it was granted again later,
  // or ended by name, no state shows it.
  const possible = revocations.filter(isPossible);
  const gapOf = (at: LogPosition) => possible.findLastIndex((one) => isBefore(one, at));
  const isShown = (at: LogPosition) => missing.some(({ granted }) => gapOf(granted) === gapOf(at));
  const isHidden = grants.some((at) => gapOf(at) >= 0 && gapOf(at) < possible.length - 1 && !isShown(at));
  const knownFrom = isHidden ? readAt : (last?.block ?? readAt);
  return revocations.map((at): Finding => {
    if (!isPossible(at)) return { at, hasEnded: false, knownFrom: at.block };
    // Earlier ones may have ended the pair too. What was granted after them and held until the last one shows only there.
    if (missing.length > 0 || isRevoked) return { at, hasEnded: at === last, knownFrom };
    // Everything was granted again after it, or ended by name: the state does not show what held before.
    return { at, hasEnded: false, knownFrom: readAt };
  });
}
