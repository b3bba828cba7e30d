// What all providers together say about v1 revocations at a block.

import { type Address, type DelegationKey, delegationId } from '../registry/delegation.ts';
import type { LogPosition } from '../store/store.ts';
import { type Consensus, findConsensus } from './consensus.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { findEndingRevocation, type HeldOracle, listOracle, type PairKey } from './ending-revocation.ts';
import type { BlockId } from './node.ts';
import { checkDelegation, type Pair, readRevokedPairs, readVaultState } from './v1-state.ts';

/** Delegations of one pair that are looked at, widest first. */
const MAX_KEYS = 100;

/** For each pair, whether it was revoked in the block, by the version slots. Undefined if no provider has them. */
export async function fetchRevokedPairs(
  context: FollowerContext,
  providers: TickProviders,
  block: BlockId,
  pairs: readonly Pair[],
): Promise<boolean[] | undefined> {
  if (pairs.length === 0) return [];
  const vaults = [...new Set(pairs.map(({ vault }) => vault))];
  const { value } = await findConsensus(context, allProviders(providers), { block, vaults }, ({ node }) =>
    readRevokedPairs(context.network, node, block, pairs),
  );
  return value;
}

/** All v1 delegations of a wallet at a block. No value if the list is too long for every provider. */
export const fetchVaultState = (
  context: FollowerContext,
  providers: TickProviders,
  vault: Address,
  block: BlockId,
): Promise<Consensus<DelegationKey[]>> =>
  findConsensus(context, allProviders(providers), { block, vaults: [vault] }, ({ node }) =>
    readVaultState(context.network, node, vault, block),
  );

/**
 * The newest of some revocations that ended a pair, by the registry's state at a block. Null if none did, undefined if
 * unknown. Without the wallet's list, the registry is asked for single delegations.
 */
export async function fetchEndingRevocation(
  context: FollowerContext,
  providers: TickProviders,
  { vault, delegate }: Pair,
  revocations: readonly LogPosition[],
  block: BlockId,
  list: readonly DelegationKey[] | undefined,
): Promise<LogPosition | null | undefined> {
  const { network, store } = context;
  const { chainId } = network;
  const held = await store.held(chainId, { from: vault, to: delegate }, block.number, MAX_KEYS);
  const regrants = await store.regrants(chainId, vault, revocations[0] as LogPosition, block.number);
  const keys = held.map((key): PairKey => ({ ...key, granted: regrants.get(delegationId(key)) ?? key.since }));
  if (list !== undefined) return findEndingRevocation(keys, revocations, listOracle(list));
  const isHeld: HeldOracle['isHeld'] = async (key) => {
    const { value } = await findConsensus(context, allProviders(providers), { block, vaults: [vault] }, ({ node }) =>
      checkDelegation(network, node, key, block),
    );
    return value ?? null;
  };
  return findEndingRevocation(keys, revocations, { isHeld, isExact: false });
}
