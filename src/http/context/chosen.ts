// The one wallet that acts for each of many owners, as of a block, or a problem where that is not certain.

import { chunksOf } from '../../chain/rpc/rpc.ts';
import { type Chosen, type ChosenFor, chosenClasses, chosenDelegate, targetOf } from '../../registry/chosen.ts';
import type { Address } from '../../registry/delegation.ts';
import { countsAt } from '../../registry/exclusive.ts';
import { hasUnnamedRevocations } from '../../registry/versions.ts';
import { unsettledRevocation } from '../../store/errors.ts';
import type { DetailedDelegation, Store } from '../../store/store.ts';
import { findWalletDispute, type PinnedBlock, timeNotKept } from './as-of.ts';
import { type OnChain, onFirstChain } from './delegation-chains.ts';
import { laterTime } from './exclusive.ts';

/** The block that a chain is asked as of. */
export interface ChosenAt extends PinnedBlock {
  /** The time of the block, if the index does not keep it. */
  readonly time?: number | undefined;
}

export type ChosenGrant = OnChain<Chosen<DetailedDelegation>>;

/** How many owners are asked about together. */
const OWNERS_AT_ONCE = 1000;

/** Who is chosen by each owner, on the first chain on which it has chosen anything; null for itself. `onRead` is told how many grants were read. */
export const chooseDelegates = (
  store: Pick<Store, 'ownerGrants' | 'blockAt'>,
  of: ChosenFor,
  chains: readonly ChosenAt[],
  all: readonly Address[],
  onRead: (grants: number) => void = () => {},
): Promise<readonly (ChosenGrant | null)[]> =>
  onFirstChain(chains, all, async (pinned: ChosenAt, owners) => {
    const { chainId, at, chain, time } = pinned;
    const found: (Chosen<DetailedDelegation> | null)[] = [];
    const later = await laterTime(store, pinned);
    for (const some of chunksOf(owners, OWNERS_AT_ONCE)) {
      const grants = await store.ownerGrants({
        ...{ chainId, at, owners: some, time },
        ...{ classes: chosenClasses(of), target: targetOf(of) },
      });
      onRead(grants.read);
      const latest = Math.max(grants.latest, later ?? 0);
      for (const [position, owner] of some.entries()) {
        const disputed = findWalletDispute(chain, { from: owner });
        if (disputed !== null) throw disputed;
        const own = { exclusive: grants.exclusive[position] ?? [], passing: grants.passing[position] ?? [] };
        const chosen = chosenDelegate(own, of, grants.earliest);
        // Grants only stop counting as time goes by: one that counts at both ends of the range decided at every time in it.
        if (chosen?.reason === 'exclusive' && !countsAt(chosen.grant, latest)) throw timeNotKept(pinned);
        // What a revocation may have ended matters only where nothing goes before it.
        const isCertain = chosen !== null && !hasUnnamedRevocations(chosen.grant.version);
        if (!isCertain && grants.unsettled.has(owner)) throw unsettledRevocation(owner);
        found.push(chosen);
      }
    }
    return found;
  });
