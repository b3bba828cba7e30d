// Chooses the delegations of a pair whose state shows which of some revocations ended it.

import type { Address } from '../../registry/delegation.ts';
import { type DelegationKey, delegationId } from '../../registry/delegation.ts';
import type { LogPosition } from '../../store/store.ts';
import type { FollowerContext } from '../compare/context.ts';
import { isBefore } from './deduce.ts';

export interface PairKey {
  readonly key: DelegationKey;
  readonly granted: LogPosition;
}

/** What a wallet granted after the first of some revocations. */
export interface Regrants {
  readonly all: readonly PairKey[];
  /** The newest grant of each delegation. */
  readonly newest: ReadonlyMap<string, PairKey>;
}

export async function readRegrants(
  { network, store }: FollowerContext,
  vault: Address,
  after: LogPosition,
  to: number,
): Promise<Regrants> {
  const all = await store.regrants(network.chainId, vault, after, to);
  return { all, newest: new Map(all.map((one) => [delegationId(one.key), one])) };
}

/** One delegation from before the first revocation, and one from between each two, that the logs leave open at a block. */
export async function choosePairKeys(
  { network, store }: FollowerContext,
  { vault, delegate }: { readonly vault: Address; readonly delegate: Address },
  revocations: readonly LogPosition[],
  { newest }: Regrants,
  at: number,
): Promise<readonly PairKey[]> {
  const { chainId } = network;
  const [first] = revocations as [LogPosition];
  const again = [...newest.values()].filter(({ key }) => key.to === delegate);
  // Each of these was granted again or is older than the first revocation, so one more than the former has one of the latter.
  const held = await store.held(chainId, { from: vault, to: delegate }, at, again.length + 1);
  const isOld = (key: DelegationKey, since: LogPosition) => isBefore(since, first) && !newest.has(delegationId(key));
  const chosen: PairKey[] = held
    .filter(({ since, ...key }) => isOld(key, since))
    .slice(0, 1)
    .map(({ since, ...key }) => ({ key, granted: since }));
  for (const [position, start] of revocations.entries()) {
    const end = revocations[position + 1];
    const between = again.filter(
      ({ granted }) => isBefore(start, granted) && end !== undefined && isBefore(granted, end),
    );
    for (const one of between) {
      if (!(await store.isOpen(chainId, one.key, at))) continue;
      chosen.push(one);
      break;
    }
  }
  return chosen;
}
