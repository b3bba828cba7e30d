// Verifies a settled v1 revocation against the state of its own block.

import type { Address } from '../registry/delegation.ts';
import type { Revocation } from '../store/store.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import type { DelegateCursor } from './delegate-cursor.ts';
import { namedDelegates, readBlockLogs } from './settle-round.ts';
import { fetchRevokedPairs, fetchVaultState } from './v1-evidence.ts';

/** False if the state contradicts the settlement, or allows a more exact one. */
export async function isSettlementRight(
  context: FollowerContext,
  providers: TickProviders,
  cursor: DelegateCursor,
  revocation: Revocation,
  limit: number,
): Promise<boolean> {
  const { vault, block, readAt, ended } = revocation;
  // A single provider would only repeat what it said about that block.
  if (readAt === null || (readAt === block.number && providers.others.length === 0)) return true;
  const endedDelegates = ended.map(({ delegate }) => delegate);
  const { delegates } = await cursor.next(revocation, block.number, endedDelegates, limit);
  // For delegates that another log of the block names, the slot proves nothing.
  const named = namedDelegates(vault, await readBlockLogs(context, block.number));
  const provable = delegates.filter((delegate) => !named.has(delegate));
  const values = await fetchRevokedPairs(
    context,
    providers,
    block,
    provable.map((delegate) => ({ vault, delegate })),
  );
  if (values === undefined) return true;
  if (readAt > block.number) {
    // Settled at a later head: settle again if a provider now has all the state of the block.
    const needsState = provable.length < delegates.length;
    return needsState && (await fetchVaultState(context, providers, vault, block)).value === undefined;
  }
  return values.every((isRevoked, position) => isRevoked === endedDelegates.includes(provable[position] as Address));
}
