// Who alone acts for wallets, as of a block: by the timestamp of that block, or a problem where the index does not know enough of it.

import { Fault } from '../../api/params.ts';
import { badRequest } from '../../api/problems.ts';
import type { Address } from '../../registry/delegation.ts';
import {
  changesAt,
  countsAt,
  decidingGrant,
  type ExclusiveToken,
  exclusiveClasses,
  expiryIn,
} from '../../registry/exclusive.ts';
import type { RightsId } from '../../registry/rights.ts';
import type { CounterpartQuery, DetailedDelegation, Store } from '../../store/store.ts';
import { findWalletDispute, type PinnedBlock, timeNotKept } from './as-of.ts';
import { type CounterpartOnChains, mergedPage, type OnChain, onFirstChain } from './delegation-chains.ts';
import type { Call } from './service.ts';

/** What is asked about each owner. */
export interface ExclusiveQuestion {
  readonly id: RightsId;
  /** Null for the whole wallet. */
  readonly token: ExclusiveToken | null;
}

/** The delegation that decides for each owner, on the first chain that has one; null if the owner acts for itself. */
export const resolveExclusive = (
  { service, caller }: Pick<Call, 'service' | 'caller'>,
  { id, token }: ExclusiveQuestion,
  chains: readonly PinnedBlock[],
  all: readonly Address[],
): Promise<readonly (OnChain<DetailedDelegation> | null)[]> =>
  onFirstChain(chains, all, async (pinned, owners) => {
    const { chainId, at, chain } = pinned;
    for (const from of owners) {
      const disputed = findWalletDispute(chain, { from });
      if (disputed !== null) throw disputed;
    }
    service.longLists.requirePaid(caller());
    const classes = exclusiveClasses(id, token);
    const found = await service.store.ownerGrants({ chainId, at, owners, classes });
    service.longLists.charge(caller(), found.read);
    const latest = Math.max(found.latest, (await laterTime(service.store, pinned)) ?? 0);
    return found.exclusive.map((grants) => {
      const deciding = decidingGrant(grants, classes, found.earliest);
      // Grants only stop counting as time goes by: one that still counts at the end of the range decided at every time in it.
      if (deciding !== null && !countsAt(deciding, latest)) throw timeNotKept(pinned);
      return deciding;
    });
  });

/** The requested time, if the block of it may be a later one than the kept one that was found for it; otherwise null. */
export async function laterTime(store: Pick<Store, 'blockAt'>, { chainId, timestamp, at }: PinnedBlock) {
  if (timestamp === undefined) return null;
  const { number, next } = await store.blockAt(chainId, timestamp);
  return number === at.block && next === number + 1 ? null : timestamp;
}

/** The first second at which one of these answers can be another without a log; null if there is none. */
export function nextChangeOf(deciding: readonly (DetailedDelegation | null)[]): number | null {
  const changes = deciding.map((one) => one && changesAt(expiryIn(one))).filter((at) => at !== null);
  return changes.length === 0 ? null : Math.min(...changes);
}

/** A page of the wallets that a wallet alone acts for. It is one itself if it has delegated to itself, or, `withItself`, to nobody. */
export async function exclusiveVaults(
  call: Pick<Call, 'service' | 'caller'>,
  asked: ExclusiveQuestion & Pick<CounterpartQuery, 'wallet' | 'limit' | 'after'> & { readonly withItself?: boolean },
  chains: readonly PinnedBlock[],
) {
  const { wallet, limit, after, withItself = false } = asked;
  const classes = exclusiveClasses(asked.id, asked.token);
  const { counterparts: found, next } = await mergedPage(chains, limit, async ({ chainId, at }) => {
    const owners = await call.service.store.exclusiveOwners({
      ...{ chainId, wallet, classes, at, limit },
      ...(after && { after }),
    });
    const counterparts = owners.map((owner) => ({ wallet: owner, granting: [] }));
    return { counterparts, next: owners.length < limit ? null : (owners.at(-1) ?? null) };
  });
  const others = found.map((one) => one.wallet);
  const owners = withItself ? [wallet, ...others.filter((owner) => owner !== wallet)] : others;
  const deciding = await resolveExclusive(call, asked, chains, owners);
  return {
    counterparts: owners.flatMap((owner, at): CounterpartOnChains[] => {
      const one = deciding[at] ?? null;
      if (one === null) return withItself && owner === wallet ? [{ wallet, granting: [] }] : [];
      return one.to === wallet ? [{ wallet: owner, granting: [one] }] : [];
    }),
    next,
    /** A vault can come to the wallet when what goes before its delegation expires. */
    nextChange: nextChangeOf(deciding),
  };
}

/** Of `rights`, which is read in more forms than one of its uses takes. */
export function requireForm<T>(value: T | Fault): T {
  if (value instanceof Fault) throw badRequest([{ parameter: 'rights', detail: value.detail }]);
  return value;
}
