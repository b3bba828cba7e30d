// One chain as it is being followed: what the parts of a follower share.

import type { Network } from '../registry/network.ts';
import type { Batch, BlockRef, ChainState, Store } from '../store/store.ts';
import type { Scanner } from './scan.ts';

export type FollowerEvent =
  | { readonly type: 'reorg'; readonly from: number; readonly to: number }
  | { readonly type: 'missed'; readonly block: number; readonly logs: number }
  | { readonly type: 'differs'; readonly block: number; readonly what: readonly string[] }
  | { readonly type: 'shut'; readonly reason: string }
  | { readonly type: 'opened' }
  | { readonly type: 'unread'; readonly vaults: number };

export interface FollowedOptions {
  readonly network: Network;
  readonly store: Store;
  readonly scanner: Scanner;
  /** Milliseconds. */
  readonly now: () => number;
  readonly onEvent: (event: FollowerEvent) => void;
}

export interface Followed extends FollowedOptions {
  /** As of our last commit; null before the first tick. */
  state: ChainState | null;
  /** False only where surely no wallet has a revocation that was never read. */
  mayHaveUnread: boolean;
  /** When the blocks that are not final were last read again. */
  windowReadAt: number;
  /** The newest block that is verified to be final, where its hash is kept. */
  finalBlock(): Promise<BlockRef | undefined>;
  /** Commits, and sees to what the commit found out. */
  apply(batch: Batch): Promise<void>;
  /** The chain answers no more, for this reason, until it is null. */
  shut(reason: string | null): Promise<void>;
}

export function createFollowed(options: FollowedOptions): Followed {
  const { network, store, onEvent } = options;
  const chain: Followed = {
    ...options,
    state: null,
    mayHaveUnread: true,
    windowReadAt: Number.NEGATIVE_INFINITY,
    async finalBlock() {
      const verified = chain.state?.verified;
      return verified == null ? undefined : (await store.blocks(network.chainId, { from: verified, to: verified }))[0];
    },
    async apply(batch) {
      const { lacking, surplus, state } = await store.apply(batch);
      chain.state = state;
      if (lacking.length + surplus.length === 0) return;
      // A log was missed: it may still be in the window.
      chain.windowReadAt = Number.NEGATIVE_INFINITY;
      chain.mayHaveUnread = true;
      const vaults = new Set([...lacking, ...surplus].map(({ from }) => `v1 state of ${from}`));
      onEvent({ type: 'differs', block: batch.head.number, what: [...vaults] });
    },
    async shut(reason) {
      if (chain.state === null) return;
      chain.state = await store.report(network.chainId, chain.state.epoch, { shut: reason });
      onEvent(reason === null ? { type: 'opened' } : { type: 'shut', reason });
    },
  };
  return chain;
}
