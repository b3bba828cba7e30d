// Settles v1 revocations that do not name the delegate, within a budget per tick, those that callers asked about first. Nothing else
// in the follower waits for a settlement.

import type { Address } from '../../registry/delegation.ts';
import type { LogPosition, Revocation } from '../../store/store.ts';
import type { FollowerContext, TickProviders } from '../context.ts';
import type { BlockId } from '../node.ts';
import { vaultVersionSlot } from '../prove/v1-storage.ts';
import { settleNamed } from './named-by-input.ts';
import { createRevocationQueue } from './queue.ts';
import { createRound, type Round } from './round.ts';
import { CONTRADICTION, type Group, positionsOf, settlePairs } from './settle-pairs.ts';
import { readWords } from './words.ts';

/** The budget of one tick: pairs, wallets, and revocations per wallet that are read at their own blocks. */
export const MAX_PAIRS = 200;
const MAX_VAULTS = 20;
const MAX_REVOCATIONS = 20;
/** A later state shows something only about all revocations up to it. A wallet with more waits for the state of its blocks. */
const MAX_OPEN = 1000;

export interface Revocations {
  /** Settles some revocations, within the budget of a tick. */
  settle(providers: TickProviders): Promise<void>;
  /** Settles this pair first: a caller was refused an answer about it. */
  prioritize(vault: Address, delegate: Address): void;
  /** Settles those of a range again that only a later state has settled, if a provider now has the state of their own block. */
  verify(providers: TickProviders, from: number, to: number): Promise<void>;
  /** New revocations may have been stored. */
  wake(): void;
}

export function createRevocations(context: FollowerContext): Revocations {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const queue = createRevocationQueue(context);
  /** How far the delegates of a wallet were read, by its newest revocation. */
  const positions = new Map<string, number>();

  async function settle(providers: TickProviders): Promise<void> {
    if (network.registries[1] === undefined || queue.isEmpty() || context.state?.head == null) return;
    const vaults = (await queue.due()).slice(0, MAX_VAULTS);
    const round = createRound(context, providers, vaults.length);
    const limit = Math.floor(MAX_PAIRS / Math.max(1, vaults.length));
    const settled = await Promise.allSettled(
      vaults.map(async (vault) => {
        try {
          const reason = await settleVault(providers, round, { vault, requested: queue.takeRequested(vault), limit });
          if (reason === null) queue.clearBackoff(vault);
          else if (queue.postpone(vault) === 0) onEvent({ type: 'unread', vault, ...reason });
        } finally {
          round.leave();
        }
      }),
    );
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
  }

  /** Null, or why the wallet's revocations are not settled. */
  async function settleVault(
    providers: TickProviders,
    round: Round,
    wallet: { readonly vault: Address; readonly requested: readonly Address[]; readonly limit: number },
  ): Promise<{ readonly block: number; readonly reason: string } | null> {
    let pending: Revocation[] = [];
    const budget = { pairs: wallet.limit };
    const tryAt = async (block: BlockId) => {
      const group = await nextGroup(wallet, pending, block, budget);
      const { value, reason } = await settlePairs(context, providers, round, group, block);
      if (value !== undefined) await round.write(value);
      return { isSettled: value !== undefined, isComplete: value?.every(({ complete }) => complete) ?? false, reason };
    };
    const all = await store.openRevocations(chainId, wallet.vault, MAX_OPEN + 1);
    for (const revocation of all.slice(0, MAX_REVOCATIONS)) {
      if (budget.pairs <= 0) return null;
      pending.push(revocation);
      const { isSettled, isComplete } = await tryAt(revocation.block);
      if (isSettled && !isComplete) return null;
      if (isSettled) pending = [];
    }
    // No provider has the state of those blocks: their transactions may name the delegates.
    const left: Revocation[] = [];
    for (const revocation of pending) {
      const settlement = left.length > 0 ? null : settleNamed(revocation, await round.named(revocation.block));
      if (settlement === null) left.push(revocation);
      else await round.write([settlement]);
    }
    const [first] = left;
    const head = context.state?.head;
    if (first === undefined || head == null) return null;
    if (all.length > MAX_OPEN) return { block: first.block.number, reason: 'the wallet revoked too often' };
    pending = [...left, ...all.slice(MAX_REVOCATIONS)];
    const { isSettled, reason } = await tryAt(head);
    // What was found about earlier revocations may be wrong, where it could not be proven.
    if (reason === CONTRADICTION)
      await context.commit(({ epoch, firstBlock }) => store.unsettle(chainId, epoch, wallet.vault, firstBlock));
    return isSettled ? null : { block: first.block.number, reason };
  }

  /** The requested delegates, then the next ones that held something from before the newest revocation at a block. */
  async function nextGroup(
    { vault, requested }: { readonly vault: Address; readonly requested: readonly Address[] },
    revocations: readonly Revocation[],
    { number: at }: BlockId,
    budget: { pairs: number },
  ): Promise<Group> {
    const newest = revocations.at(-1) as Revocation;
    const name = `${vault} ${newest.block.hash} ${at}`;
    const before = positionsOf(newest).at(-1) as LogPosition;
    const limit = Math.max(1, budget.pairs);
    const found = await store.v1Delegates({ chainId, vault, before, at, after: positions.get(name) ?? -1, limit });
    const delegates = [...new Set([...requested, ...found.map(({ delegate }) => delegate)])];
    const isLast = found.length < limit;
    budget.pairs -= delegates.length;
    if (isLast) positions.delete(name);
    else positions.set(name, found.at(-1)?.place ?? -1);
    return { vault, revocations, delegates, isLast };
  }

  async function verify(providers: TickProviders, from: number, to: number): Promise<void> {
    const registry = network.registries[1];
    if (registry === undefined) return;
    for (const { vault, block, readAt } of await store.revocations(chainId, { from, to })) {
      if (readAt === null || readAt === block.number) continue;
      const { value } = await readWords(context, providers, registry, [vaultVersionSlot(vault)], block);
      if (value === undefined) continue;
      await context.commit(({ epoch }) => store.unsettle(chainId, epoch, vault, block.number));
      queue.clearBackoff(vault);
      queue.wake();
    }
    await settle(providers);
  }

  return { settle, verify, prioritize: queue.prioritize, wake: queue.wake };
}
