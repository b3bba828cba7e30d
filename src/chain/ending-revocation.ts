// Finds which of a wallet's revocations ended its delegations to a delegate, by what the registry still has.

import { type DelegationKey, delegationId } from '../registry/delegation.ts';
import type { HeldDelegation, LogPosition } from '../store/store.ts';

/** Tells whether the registry has a delegation. */
export interface HeldOracle {
  /** Null if unknown. */
  isHeld(key: DelegationKey): Promise<boolean | null>;
  /** False if a wider delegation gives the same answer. */
  readonly isExact: boolean;
}

/** A delegation of the pair that held by the logs, with the newest log that granted it. */
export type PairKey = HeldDelegation & { readonly granted: LogPosition };

const isBefore = (a: LogPosition, b: LogPosition): boolean =>
  a.block < b.block || (a.block === b.block && a.logIndex < b.logIndex);

/**
 * The newest revocation that ended everything between two wallets. Null if none did, undefined if unknown. A delegation that
 * was granted again after a revocation holds either way, so only those granted before it are evidence.
 */
export async function findEndingRevocation(
  keys: readonly PairKey[],
  revocations: readonly LogPosition[],
  { isHeld, isExact }: HeldOracle,
): Promise<LogPosition | null | undefined> {
  let fallback: LogPosition | null = null;
  for (const revocation of revocations.toReversed()) {
    const older = keys.filter(({ since }) => isBefore(since, revocation));
    const evidence = older.filter(({ granted }) => isBefore(granted, revocation));
    const [widest] = evidence;
    if (older.length === 0) continue;
    if (widest === undefined) {
      // All of it was granted again, so it holds. Only the start is unknown: it surely holds from the new grant on.
      fallback ??= revocation;
      continue;
    }
    const held = await isHeld(widest);
    if (held === false) return revocation;
    // A wider delegation that was granted later gives the same answer.
    const isHidden = !isExact && keys.some((key) => !evidence.includes(key) && covers(key, widest));
    if (held === null || isHidden) return undefined;
  }
  return fallback;
}

const covers = (wide: DelegationKey, narrow: DelegationKey): boolean =>
  wide.kind === 'ALL' || (wide.kind === 'CONTRACT' && narrow.kind === 'TOKEN' && wide.contract === narrow.contract);

/** Answers from the registry's list of a wallet's delegations. */
export function listOracle(state: readonly DelegationKey[]): HeldOracle {
  const ids = new Set(state.map(delegationId));
  return { isHeld: async (key) => ids.has(delegationId(key)), isExact: true };
}
