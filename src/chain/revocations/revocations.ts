// Settles v1 revocations that do not name the delegate, within a budget per tick, those that callers asked about first. Nothing else
// in the follower waits for a settlement.

import type { Address } from '../../registry/delegation.ts';
import { vaultVersionSlot } from '../../registry/storage.ts';
import { StoreError } from '../../store/errors.ts';
import type { LogPosition, Revocation } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import type { BlockId } from '../rpc/node.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import { createRound, type Round } from './round.ts';
import { CONTRADICTION, type Group, positionsOf, settlePairs } from './settle-pairs.ts';
import { ifKnown, readWords, settleNamed, Unknown } from './words.ts';

/** The budget of one tick: no wallet begins after so many pairs. */
const MAX_PAIRS = 200;
const MAX_VAULTS = 20;
/** Of one wallet, so many are read at their own blocks. */
const MAX_REVOCATIONS = 20;
/** A later state shows something only about all revocations up to it. A wallet with more waits for the state of its blocks. */
const MAX_UNSETTLED = 1000;
/**
 * All delegates of a wallet are read in one tick: what the first ticks of several have found may be discarded before the last one. Of a
 * wallet with more, only those are read that callers ask about.
 */
export const MAX_DELEGATES = 1000;

export type Revocations = ReturnType<typeof createRevocations>;

/** What was read may have changed: the next tick reads it again. */
const isRewritten = (error: unknown) => error instanceof StoreError && error.code === 'rewritten';

const TOO_MANY = 'the wallet has too many delegates';

/** A wallet whose revocations are settled now. */
interface Wallet {
  readonly vault: Address;
  /** Delegates that callers asked about. */
  readonly requested: readonly Address[];
  /** Its oldest unsettled revocations. */
  readonly unsettled: readonly Revocation[];
  /** What the oldest one may have ended. */
  readonly first: Group;
}

export function createRevocations(context: Context) {
  const { network, store, onEvent } = context;
  const { chainId } = network;
  const queue = createRevocationQueue(context);

  /** Settles some revocations, within the budget of a tick. */
  async function settle(providers: TickProviders): Promise<void> {
    if (network.registries[1] === undefined || queue.isEmpty() || context.state?.head == null) return;
    const since = { commits: context.state.commits };
    const begun: Wallet[] = [];
    let pairs = 0;
    for (const vault of (await queue.due()).slice(0, MAX_VAULTS)) {
      if (pairs >= MAX_PAIRS) break;
      const wallet = await begin(vault);
      if (wallet === null) continue;
      begun.push(wallet);
      pairs += wallet.first.delegates.length;
    }
    const round = createRound(context, providers, begun.length, since);
    const settled = await Promise.allSettled(
      begun.map(async (wallet) => {
        const { vault } = wallet;
        try {
          const reason = await settleWallet(round, wallet);
          if (reason === null) queue.clearBackoff(vault);
          else if (queue.postpone(vault) === 0) onEvent({ type: 'unread', vault, ...reason });
        } finally {
          round.leave();
        }
      }),
    );
    for (const one of settled) if (one.status === 'rejected' && !isRewritten(one.reason)) throw one.reason;
  }

  /** Null if there is nothing to settle. */
  async function begin(vault: Address): Promise<Wallet | null> {
    const unsettled = await store.unsettledRevocations(chainId, vault, MAX_UNSETTLED + 1);
    const requested = queue.takeRequested(vault);
    const [oldest] = unsettled;
    if (oldest === undefined) return null;
    return { vault, requested, unsettled, first: await groupAt({ vault, requested }, [oldest], oldest.block) };
  }

  /** Null, or why the wallet's revocations are not settled. */
  async function settleWallet(round: Round, wallet: Wallet) {
    let pending: Revocation[] = [];
    let next: Group | null = wallet.first;
    const tryAt = async (block: BlockId) => {
      const group = next ?? (await groupAt(wallet, pending, block));
      next = null;
      try {
        const settlements = await settlePairs(round, group, block);
        await round.write(settlements);
        return { isSettled: true, reason: settlements.every(({ complete }) => complete) ? null : TOO_MANY };
      } catch (error) {
        if (error instanceof Unknown) return { isSettled: false, reason: error.message };
        throw error;
      }
    };
    const { unsettled } = wallet;
    for (const revocation of unsettled.slice(0, MAX_REVOCATIONS)) {
      pending.push(revocation);
      const { isSettled, reason } = await tryAt(revocation.block);
      if (isSettled && reason !== null) return { block: revocation.block.number, reason };
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
    if (unsettled.length > MAX_UNSETTLED) return { block: first.block.number, reason: 'the wallet revoked too often' };
    pending = [...left, ...unsettled.slice(MAX_REVOCATIONS)];
    const { reason } = await tryAt(head);
    // What was found about earlier revocations may be wrong, where it could not be proven.
    if (reason === CONTRADICTION)
      await context.commit(({ epoch, firstBlock }) => store.unsettle(chainId, epoch, wallet.vault, firstBlock));
    return reason === null ? null : { block: first.block.number, reason };
  }

  /** All delegates that held something from before the newest revocation at a block, and those that were requested. */
  async function groupAt(
    { vault, requested }: Pick<Wallet, 'vault' | 'requested'>,
    revocations: readonly Revocation[],
    { number: at }: BlockId,
  ): Promise<Group> {
    const before = positionsOf(revocations.at(-1) as Revocation).at(-1) as LogPosition;
    const found = await store.v1Delegates(chainId, vault, before, at, MAX_DELEGATES + 1);
    const isAll = found.length <= MAX_DELEGATES;
    const delegates = [...new Set([...requested, ...(isAll ? found : [])])];
    return { vault, revocations, delegates, isAll };
  }

  /**
   * Settles those of a range again that only a later state has settled, if a provider now has the state of their own block; or all of them,
   * if nobody knows who settled them.
   */
  async function verify(providers: TickProviders, from: number, to: number, isImported = false): Promise<void> {
    if (network.registries[1] === undefined) return;
    for (const { vault, block, readAt } of await store.revocations(chainId, { from, to })) {
      if (readAt === null) continue;
      if (!isImported && (readAt === block.number || !(await hasState(block, vault)))) continue;
      await context.commit(({ epoch }) => store.unsettle(chainId, epoch, vault, block.number));
      queue.clearBackoff(vault);
      queue.wake();
    }
    await settle(providers);

    async function hasState(block: BlockId, vault: Address): Promise<boolean> {
      return (await ifKnown(readWords(context, providers, [vaultVersionSlot(vault)], block))) !== undefined;
    }
  }

  return { settle, verify, prioritize: queue.prioritize, wake: queue.wake };
}

/** Wallets read from the store in one tick. The next tick reads the next page. */
const PAGE = 200;
/** Pause after the first failure. It doubles with each further one. */
const FIRST_PAUSE_MS = 5000;
const MAX_DOUBLINGS = 8;
const MAX_REQUESTED = 100;

export function createRevocationQueue({ network, store, now }: Context) {
  const retries = new Map<Address, { readonly failures: number; readonly notBefore: number }>();
  let requested: { readonly vault: Address; readonly delegate: Address }[] = [];
  let cursor: Address | null = null;
  let mayHaveWork = true;

  return {
    isEmpty: () => !mayHaveWork,
    /** New revocations may have been stored. */
    wake() {
      mayHaveWork = true;
    },
    /** This pair comes first: a caller was refused an answer about it. */
    prioritize(vault: Address, delegate: Address) {
      requested = [...requested, { vault, delegate }].slice(-MAX_REQUESTED);
      mayHaveWork = true;
    },
    /** The wallets of requested pairs, then a page of all others that are not backing off. */
    async due(): Promise<Address[]> {
      const page = await store.unsettledVaults(network.chainId, cursor, PAGE);
      if (page.length === 0 && cursor === null) mayHaveWork = false;
      cursor = page.length < PAGE ? null : (page.at(-1) ?? null);
      const ready = page.filter((vault) => (retries.get(vault)?.notBefore ?? 0) <= now());
      return [...new Set([...requested.map(({ vault }) => vault), ...ready])];
    },
    /** Removes and returns the requested delegates of a wallet. */
    takeRequested(vault: Address): Address[] {
      const delegates = requested.filter((pair) => pair.vault === vault).map(({ delegate }) => delegate);
      requested = requested.filter((pair) => pair.vault !== vault);
      return delegates;
    },
    /** Backs off. Returns the number of failures before this one. */
    postpone(vault: Address): number {
      const { failures } = retries.get(vault) ?? { failures: 0 };
      const pause = FIRST_PAUSE_MS * 2 ** Math.min(failures, MAX_DOUBLINGS);
      retries.set(vault, { failures: failures + 1, notBefore: now() + pause });
      return failures;
    },
    clearBackoff(vault: Address) {
      retries.delete(vault);
    },
  };
}
