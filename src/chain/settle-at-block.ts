// Settles a v1 revocation by the registry's state at its own block. This is exact.

import type { Address, DelegationKey } from '../registry/delegation.ts';
import type { LogRecord, Revocation, Settlement } from '../store/store.ts';
import type { Consensus } from './consensus.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import type { DelegateCursor, RevocationTask } from './delegate-cursor.ts';
import { namedDelegates, type SettleRound } from './settle-round.ts';
import { fetchEndingRevocation, fetchVaultState } from './v1-evidence.ts';

/** False if no provider has the state. `isFirst`: all earlier revocations of the wallet are settled. */
export async function settleAtBlock(
  context: FollowerContext,
  providers: TickProviders,
  cursor: DelegateCursor,
  round: SettleRound,
  task: RevocationTask,
  isFirst: boolean,
): Promise<boolean> {
  const { revocation, delegates, isLast, position } = task;
  const { vault, block } = revocation;
  const pairs = delegates.length === 0 ? [] : await findEnded(context, providers, round, task, isFirst);
  if (pairs === null) return false;
  const known = new Set([...revocation.ended, ...pairs].flatMap(({ endedBy }) => endedBy ?? []));
  // Each log revoked one delegate: once all are found, the others were not revoked.
  const complete = isLast || known.size === revocation.logIndexes.length;
  round.add({ vault, block, readAt: block.number, pairs, complete });
  if (complete) cursor.reset(revocation);
  else cursor.advance(revocation, position);
  return true;
}

/** For each delegate, the log that revoked it, or null. Null for all if one of them is unknown. */
async function findEnded(
  context: FollowerContext,
  providers: TickProviders,
  round: SettleRound,
  { revocation, delegates }: RevocationTask,
  isFirst: boolean,
): Promise<Settlement['pairs'] | null> {
  const { vault, block, logIndexes } = revocation;
  const slots = delegates.map((delegate) => round.isRevoked(block, { vault, delegate }));
  // Without the slots only the remaining delegations are evidence, and an earlier revocation may have ended those.
  if (slots.includes(undefined) && !isFirst) return null;
  const logs = await round.logsOf(block.number);
  const named = namedDelegates(vault, logs);
  const last = logIndexes.at(-1) ?? 0;
  let state: Consensus<DelegationKey[]> | undefined;
  const pairs: { delegate: Address; endedBy: number | null }[] = [];
  for (const [position, delegate] of delegates.entries()) {
    const isClear = !named.has(delegate) && !isGrantedBetween(revocation, delegate, logs);
    if (slots[position] && isClear) pairs.push({ delegate, endedBy: last });
    else if (slots[position] === false) pairs.push({ delegate, endedBy: null });
    else {
      // Another log of the block may have changed the slot, or it is open which of several did.
      await round.flush();
      const positions = logIndexes.map((logIndex) => ({ block: block.number, logIndex }));
      state ??= await fetchVaultState(context, providers, vault, block);
      const at = await fetchEndingRevocation(context, providers, { vault, delegate }, positions, block, state.value);
      if (at === undefined) return null;
      pairs.push({ delegate, endedBy: at?.logIndex ?? null });
    }
  }
  return pairs;
}

/** Whether the delegate was granted something between the block's first and last revocation. */
function isGrantedBetween({ vault, logIndexes }: Revocation, delegate: Address, logs: readonly LogRecord[]): boolean {
  const [first = 0] = logIndexes;
  const last = logIndexes.at(-1) ?? first;
  return logs.some(
    ({ event, logIndex }) =>
      event.type === 'granted' &&
      event.delegation.version === 1 &&
      event.delegation.from === vault &&
      event.delegation.to === delegate &&
      logIndex > first &&
      logIndex < last,
  );
}
