// What grants delegations: the fewest transactions of their owner that grant exactly these.

import type { Delegation } from './delegation.ts';
import { encodeCalls, grantCall, type RegistryCall, type RegistryTransaction } from './registry-call.ts';
import { MOST_IN_MULTICALL } from './revocation.ts';
import { NEWEST_FIRST, type Version } from './versions.ts';

/** One transaction to a registry. */
export interface Granting extends RegistryTransaction {
  /** Every delegation that it grants. */
  readonly grants: readonly Delegation[];
}

/** The first registry has no multicall. */
const MOST_AT_ONCE: { readonly [V in Version]: number } = { 1: 1, 2: MOST_IN_MULTICALL };

export const planGrants = (chosen: readonly Delegation[]): Granting[] =>
  NEWEST_FIRST.flatMap((version) => {
    const ofVersion = chosen.filter((one) => one.version === version);
    const most = MOST_AT_ONCE[version];
    return Array.from({ length: Math.ceil(ofVersion.length / most) }, (_, part) => {
      const grants = ofVersion.slice(part * most, (part + 1) * most);
      return { version, grants, ...encodeCalls(grants.map(grantCall) as [RegistryCall, ...RegistryCall[]]) };
    });
  });
