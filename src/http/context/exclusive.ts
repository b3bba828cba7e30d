// Who alone acts for wallets, as of a block: by the timestamp of that block, or a problem where the index does not know enough of it.

import { Problem } from '../../api/problems.ts';
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
import { historyChanged } from '../../store/errors.ts';
import type { DetailedDelegation, Store } from '../../store/store.ts';
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
  if (number !== block) throw historyChanged(chainId, block);
  return next === number + 1 ? null : timestamp;
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
