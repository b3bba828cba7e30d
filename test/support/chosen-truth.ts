// Which one wallet votes or claims for an owner, by the rule as it is written: over the whole lists of the owner. It shares no code
// with src/, so that a bug in one shows as a difference.

import type { Delegation } from '../../src/registry/delegation.ts';
import { walkedGrant } from './exclusive-truth.ts';

export interface AskedChosen {
  readonly contract: string;
  /** 32 bytes. */
  readonly rights: string;
  /** The timestamp of the block. */
  readonly now: number;
}

const NONE = `0x${'0'.repeat(64)}`;

/** `lists` is what the owner has granted in v1 and in v2, in the order of the list of each. Null if the owner acts for itself. */
export function chosenGrant<D extends Delegation>(
  lists: Readonly<Record<1 | 2, readonly D[]>>,
  { contract, rights, now }: AskedChosen,
): D | null {
  const alone = walkedGrant(lists[2], { id: rights.slice(0, 50), token: null, now });
  if (alone !== null) return alone;
  const passes = (grant: D) =>
    (grant.kind === 'ALL' || (grant.kind === 'CONTRACT' && grant.contract === contract)) &&
    (grant.version === 1 || grant.rights === NONE || grant.rights === rights);
  for (const version of [2, 1] as const) {
    const passing = lists[version].filter(passes);
    if (passing.length > 0) return passing[passing.length - 1] as D;
  }
  return null;
}
