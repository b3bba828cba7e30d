// Settles v1 revocations by the registry's state at the head, if no provider has the state of their blocks. What held between
// a revocation and the head stays unknown.

import type { Address } from '../registry/delegation.ts';
import type { LogPosition, Revocation, Settlement } from '../store/store.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import type { DelegateCursor } from './delegate-cursor.ts';
import { writeSettlements } from './settle-round.ts';
import { fetchEndingRevocation, fetchVaultState } from './v1-evidence.ts';

/** `open`: the wallet's unsettled revocations, oldest first. `reason`: why it is not settled. */
export async function settleAtHead(
  context: FollowerContext,
  providers: TickProviders,
  cursor: DelegateCursor,
  {
    vault,
    open,
    requested,
  }: {
    readonly vault: Address;
    readonly open: readonly Revocation[];
    readonly requested: readonly Address[];
  },
  limit: number,
): Promise<{ readonly isSettled: boolean; readonly reason: string }> {
  const head = context.state?.head;
  const newest = open.at(-1);
  if (head == null || newest === undefined) return { isSettled: true, reason: '' };
  const { delegates, isLast, position } = await cursor.next(newest, head.number, requested, limit);
  const positions = open.flatMap(({ block, logIndexes }) =>
    logIndexes.map((logIndex): LogPosition => ({ block: block.number, logIndex })),
  );
  const { value: state, reason } =
    delegates.length === 0 ? { value: [], reason: '' } : await fetchVaultState(context, providers, vault, head);
  const ended = new Map<Address, LogPosition | null>();
  let isSettled = true;
  for (const delegate of delegates) {
    const at = await fetchEndingRevocation(context, providers, { vault, delegate }, positions, head, state);
    if (at === undefined) isSettled = false;
    else ended.set(delegate, at);
  }
  const complete = isSettled && isLast;
  const settlements = open.map(({ block }): Settlement => {
    const pairs = [...ended].map(([delegate, at]) => ({
      delegate,
      endedBy: at?.block === block.number ? at.logIndex : null,
    }));
    return { vault, block, readAt: head.number, pairs, complete };
  });
  await writeSettlements(context, settlements);
  if (isSettled && !isLast) cursor.advance(newest, position);
  else cursor.reset(newest);
  return { isSettled, reason };
}
