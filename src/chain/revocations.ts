// Settles v1 revocations that do not name the delegate: pair by pair, within a budget per tick, those that callers asked about
// first. Nothing else in the follower waits for a settlement.

import type { Address } from '../registry/delegation.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import { createDelegateCursor, type RevocationTask } from './delegate-cursor.ts';
import { createRevocationQueue } from './revocation-queue.ts';
import { settleAtBlock } from './settle-at-block.ts';
import { settleAtHead } from './settle-at-head.ts';
import { readRound, type SettleRound } from './settle-round.ts';
import { isSettlementRight } from './verify-settlement.ts';

/** The budget of one tick: pairs, wallets, and revocations per wallet. */
export const MAX_PAIRS = 200;
const MAX_VAULTS = 20;
const MAX_REVOCATIONS = 20;

export interface Revocations {
  /** Settles some revocations, within the budget of a tick. */
  settle(providers: TickProviders): Promise<void>;
  /** Settles this pair first: a caller was refused an answer about it. */
  prioritize(vault: Address, delegate: Address): void;
  /** Settles revocations of a range again if all providers together contradict the stored settlement, or know more. */
  verify(providers: TickProviders, from: number, to: number): Promise<void>;
  /** New revocations may have been stored. */
  wake(): void;
}

interface VaultTask {
  readonly vault: Address;
  readonly requested: readonly Address[];
  /** Oldest revocation first. */
  readonly tasks: readonly RevocationTask[];
}

const countPairs = (tasks: readonly RevocationTask[]) =>
  tasks.reduce((sum, { delegates }) => sum + delegates.length, 0);

export function createRevocations(context: FollowerContext): Revocations {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const queue = createRevocationQueue(context);
  const cursor = createDelegateCursor(context);

  async function settle(providers: TickProviders): Promise<void> {
    if (network.registries[1] === undefined || queue.isEmpty() || context.state?.head == null) return;
    const vaults: VaultTask[] = [];
    let budget = MAX_PAIRS;
    for (const vault of (await queue.due()).slice(0, MAX_VAULTS)) {
      if (budget <= 0) break;
      const task = await prepare(vault, budget);
      vaults.push(task);
      budget -= countPairs(task.tasks);
    }
    const round = await readRound(
      context,
      providers,
      vaults.flatMap(({ tasks }) => tasks),
    );
    for (const vault of vaults) await settleVault(providers, round, vault);
    await round.flush();
  }

  async function prepare(vault: Address, budget: number): Promise<VaultTask> {
    const requested = queue.takeRequested(vault);
    const tasks: RevocationTask[] = [];
    for (const revocation of await store.openRevocations(chainId, vault, MAX_REVOCATIONS)) {
      const left = budget - countPairs(tasks);
      if (left <= 0) break;
      tasks.push(await cursor.next(revocation, revocation.block.number, requested, left));
    }
    return { vault, requested, tasks };
  }

  async function settleVault(providers: TickProviders, round: SettleRound, { vault, requested, tasks }: VaultTask) {
    const left: RevocationTask[] = [];
    for (const task of tasks) {
      const isSettled = await settleAtBlock(context, providers, cursor, round, task, left.length === 0);
      if (!isSettled) left.push(task);
    }
    const [first] = left;
    if (first === undefined) return queue.clearBackoff(vault);
    // No provider has the state of those blocks: use the head's, which proves less.
    await round.flush();
    const open = left.map(({ revocation }) => revocation);
    // One more than before, so that the last page is recognized.
    const limit = countPairs(left) + 1;
    const { isSettled, reason } = await settleAtHead(context, providers, cursor, { vault, open, requested }, limit);
    if (isSettled) return;
    const earlierFailures = queue.postpone(vault);
    if (earlierFailures === 0) onEvent({ type: 'unread', vault, block: first.revocation.block.number, reason });
  }

  async function verify(providers: TickProviders, from: number, to: number): Promise<void> {
    if (network.registries[1] === undefined) return;
    for (const revocation of await store.revocations(chainId, { from, to })) {
      if (await isSettlementRight(context, providers, cursor, revocation, MAX_PAIRS)) continue;
      const { vault, block } = revocation;
      await context.commit(({ epoch }) => store.unsettle(chainId, epoch, vault, block.number));
      queue.clearBackoff(vault);
      queue.wake();
    }
    await settle(providers);
  }

  return { settle, verify, prioritize: queue.prioritize, wake: queue.wake };
}
