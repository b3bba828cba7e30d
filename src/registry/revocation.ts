// What ends delegations: the fewest transactions of their owner that end exactly these.

import type { Address, Delegation } from './delegation.ts';
import { encodeCalls, type RegistryCall, type RegistryTransaction, revokeCall } from './registry-call.ts';
import { NEWEST_FIRST, type Version } from './versions.ts';

/** One transaction to a registry. */
export interface Revocation extends RegistryTransaction {
  /** Every delegation that it ends. */
  readonly ends: readonly Delegation[];
}

/** Which of the owner's v1 delegations are all to be ended: the contract ends these in one call. */
export interface WholeInV1 {
  /** All of the owner. */
  readonly vault: boolean;
  /** All to one of these wallets. */
  readonly delegates: ReadonlySet<Address>;
}

/** Takes about 2 million gas, which fits into a block of every network. */
export const MOST_IN_MULTICALL = 100;

export function planRevocations(owner: Address, chosen: readonly Delegation[], whole: WholeInV1): Revocation[] {
  const plans: { readonly [V in Version]: (ofVersion: readonly Delegation[]) => Revocation[] } = {
    1: (ofVersion) => inV1(owner, ofVersion, whole),
    2: (ofVersion) => byMulticall(2, ofVersion),
  };
  return NEWEST_FIRST.flatMap((version) => plans[version](chosen.filter((one) => one.version === version)));
}

function byMulticall(version: Version, chosen: readonly Delegation[]): Revocation[] {
  const parts: Revocation[] = [];
  for (let start = 0; start < chosen.length; start += MOST_IN_MULTICALL) {
    const ends = chosen.slice(start, start + MOST_IN_MULTICALL);
    parts.push({ version, ends, ...encodeCalls(ends.map(revokeCall) as [RegistryCall, ...RegistryCall[]]) });
  }
  return parts;
}

/** This registry has no multicall. A single delegation is ended by name: that ends nothing that is granted in the meantime. */
function inV1(owner: Address, chosen: readonly Delegation[], whole: WholeInV1): Revocation[] {
  const one = (call: RegistryCall, ends: readonly Delegation[]): Revocation => ({
    version: 1,
    ends,
    ...encodeCalls([call]),
  });
  if (whole.vault && chosen.length > 1) return [one(['v1', owner, 'revokeAllDelegates', []], chosen)];
  return [...Map.groupBy(chosen, ({ to }) => to)].flatMap(([to, ends]) =>
    whole.delegates.has(to) && ends.length > 1
      ? [one(['v1', owner, 'revokeDelegate', [to]], ends)]
      : ends.map((delegation) => one(revokeCall(delegation), [delegation])),
  );
}
