// Who votes or claims with what an owner has: exactly one wallet, so that nothing counts twice and nothing is lost.

import type { AnyTarget } from './check.ts';
import type { Address, Bytes32, Delegation } from './delegation.ts';
import { decidingGrant, exclusiveClasses } from './exclusive.ts';
import { rightsIdOf } from './rights.ts';
import { NEWEST_FIRST } from './versions.ts';

/** What an owner's delegate is chosen for: everything that it has of a contract. */
export interface ChosenFor {
  readonly contract: Address;
  /** All zero: without a right. */
  readonly rights: Bytes32;
}

/** The check that a grant must pass. */
export const targetOf = ({ contract, rights }: ChosenFor): AnyTarget => ({
  version: 'any',
  scope: 'contract',
  contract,
  rights,
});

/** The grants with an expiry that come first: of the whole wallet, for the right or for every right. */
export const chosenClasses = ({ rights }: Pick<ChosenFor, 'rights'>) => exclusiveClasses(rightsIdOf(rights), null);

/** The grants of one owner, in the order of its list of each registry. Those that cannot decide may be left out. */
export interface OwnGrants<D> {
  /** With an expiry, of v2. */
  readonly exclusive: readonly D[];
  /** That pass the check, of both registries. */
  readonly passing: readonly D[];
}

export interface Chosen<D> {
  readonly delegate: Address;
  readonly grant: D;
  /** `exclusive`: by exclusive resolution. `last`: the last in its list. */
  readonly reason: 'exclusive' | 'last';
}

/** The one wallet that an owner has chosen at a time; null if it acts for itself. */
export function chosenDelegate<D extends Delegation>(
  { exclusive, passing }: OwnGrants<D>,
  { rights }: Pick<ChosenFor, 'rights'>,
  time: number,
): Chosen<D> | null {
  const deciding = decidingGrant(exclusive, chosenClasses({ rights }), time);
  if (deciding !== null) return { delegate: deciding.to, grant: deciding, reason: 'exclusive' };
  for (const newest of NEWEST_FIRST) {
    const last = passing.findLast(({ version }) => version === newest);
    if (last !== undefined) return { delegate: last.to, grant: last, reason: 'last' };
  }
  return null;
}
