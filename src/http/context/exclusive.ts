// Who alone acts for wallets, as of a block: by the timestamp of that block, or a problem where the index does not know enough of it.

import { Fault } from '../../api/params.ts';
import { badRequest, Problem } from '../../api/problems.ts';
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
import type { Counterpart, CounterpartQuery, DetailedDelegation, Store } from '../../store/store.ts';
import { findWalletDispute, type PinnedBlock } from './as-of.ts';
import type { Call } from './service.ts';

/** What is asked about each owner. */
export interface ExclusiveQuestion {
  readonly chainId: number;
  readonly id: RightsId;
  /** Null for the whole wallet. */
  readonly token: ExclusiveToken | null;
  /** The requested `timestamp`. */
  readonly timestamp: number | undefined;
}

type Pinned = Pick<PinnedBlock, 'at' | 'chain'>;

/** The delegation that decides for each owner; null if the owner acts for itself. */
export async function resolveExclusive(
  { service, caller }: Pick<Call, 'service' | 'caller'>,
  { chainId, id, token, timestamp }: ExclusiveQuestion,
  { at, chain }: Pinned,
  owners: readonly Address[],
): Promise<readonly (DetailedDelegation | null)[]> {
  for (const from of owners) {
    const disputed = findWalletDispute(chain, { from });
    if (disputed !== null) throw disputed;
  }
  service.longLists.requirePaid(caller());
  const classes = exclusiveClasses(id, token);
  const found = await service.store.exclusiveGrants({ chainId, at, owners, classes });
  service.longLists.charge(caller(), found.read);
  const latest = Math.max(found.latest, (await laterTime(service.store, chainId, timestamp, at.block)) ?? 0);
  return found.grants.map((grants) => {
    const deciding = decidingGrant(grants, classes, found.earliest);
    // Grants only stop counting as time goes by: one that still counts at the end of the range decided at every time in it.
    if (deciding !== null && !countsAt(deciding, latest)) throw timeNotKept(chainId, at.block);
    return deciding;
  });
}

/** The requested time, if the block of it may be a later one than the kept one that was found for it; otherwise null. */
export async function laterTime(
  store: Pick<Store, 'blockAt'>,
  chainId: number,
  timestamp: number | undefined,
  block: number,
) {
  if (timestamp === undefined) return null;
  const { number, next } = await store.blockAt(chainId, timestamp);
  return number === block && next === number + 1 ? null : timestamp;
}

export const timeNotKept = (chainId: number, block: number) =>
  new Problem(
    'block-not-kept',
    `The index of chain ${chainId} has no timestamp of the requested block, and a delegation expires close to it. Use block=latest or block=finalized.`,
    { fields: { chainId, block } },
  );

/** The first second at which one of these answers can be another without a log; null if there is none. */
export function nextChangeOf(deciding: readonly (DetailedDelegation | null)[]): number | null {
  const changes = deciding.map((one) => one && changesAt(expiryIn(one))).filter((at) => at !== null);
  return changes.length === 0 ? null : Math.min(...changes);
}

/** A page of the wallets that a wallet alone acts for. It is one itself if it has delegated to itself, or, `withItself`, to nobody. */
export async function exclusiveVaults(
  call: Pick<Call, 'service' | 'caller'>,
  asked: ExclusiveQuestion & Omit<CounterpartQuery, 'target' | 'at'> & { readonly withItself?: boolean },
  pinned: Pinned,
) {
  const { chainId, wallet, limit, after, withItself = false } = asked;
  const classes = exclusiveClasses(asked.id, asked.token);
  const query = { chainId, wallet, classes, at: pinned.at, limit, ...(after && { after }) };
  const found = await call.service.store.exclusiveOwners(query);
  const owners = withItself ? [wallet, ...found.filter((owner) => owner !== wallet)] : found;
  const deciding = await resolveExclusive(call, asked, pinned, owners);
  return {
    counterparts: owners.flatMap((owner, at): Counterpart[] => {
      const one = deciding[at] ?? null;
      if (one === null) return withItself && owner === wallet ? [{ wallet, granting: [] }] : [];
      return one.to === wallet ? [{ wallet: owner, granting: [one] }] : [];
    }),
    next: found.length < limit ? null : (found.at(-1) ?? null),
    /** A vault can come to the wallet when what goes before its delegation expires. */
    nextChange: nextChangeOf(deciding),
  };
}

/** Of `rights`, which is read in more forms than one of its uses takes. */
export function requireForm<T>(value: T | Fault): T {
  if (value instanceof Fault) throw badRequest([{ parameter: 'rights', detail: value.detail }]);
  return value;
}
