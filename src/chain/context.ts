// One chain as it is being followed: what the parts of a follower share. The chain's state changes here alone.

import type { Finality, Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import { type Halt, type HaltCode, haltTexts } from '../store/halt.ts';
import type { BlockRef, ChainState, CommitResult, Store } from '../store/store.ts';
import type { Provider } from './provider-pool.ts';

export type FollowerEvent =
  | { readonly type: 'reorg'; readonly from: number; readonly to: number }
  | {
      readonly type: 'repaired';
      readonly block: number;
      readonly blocks: number;
      readonly providers: readonly string[];
    }
  | { readonly type: 'retimed'; readonly block: number; readonly blocks: number }
  | { readonly type: 'differs'; readonly block: number; readonly what: readonly string[] }
  | {
      readonly type: 'halted';
      readonly code: HaltCode;
      /** Unix seconds. */
      readonly since: number;
      readonly cause: string;
      readonly help: string;
    }
  | { readonly type: 'resumed' }
  | { readonly type: 'unread'; readonly vault: string; readonly block: number; readonly reason: string };

/** Whom to ask. */
export interface TickProviders {
  /** The provider that this tick keeps to. */
  readonly first: Provider;
  /** The others that can be asked now. */
  readonly others: readonly Provider[];
}

export const allProviders = ({ first, others }: TickProviders): readonly Provider[] => [first, ...others];

export interface ContextOptions {
  readonly network: Network;
  readonly store: Store;
  readonly finality: Finality;
  /** Milliseconds. */
  readonly now: () => number;
  readonly onEvent: (event: FollowerEvent) => void;
  /** A provider that was asked besides failed, or was found wrong. */
  readonly blame: (source: Provider, error: unknown) => void;
}

export interface FollowerContext extends ContextOptions {
  /** As of our newest commit; null before the first tick. */
  readonly state: ChainState | null;
  /** When the blocks that are not final were last read again. */
  windowVerifiedAt: number;
  /** The newest block that is verified to be final, where its hash is kept. */
  finalBlock(): Promise<BlockRef | undefined>;
  /** Takes over what a commit left, unless a later one was seen already. */
  adopt(state: ChainState): ChainState;
  /** Makes a change of the store with the epoch of ours. */
  commit(change: (state: ChainState) => Promise<CommitResult>): Promise<ChainState>;
  /** The chain answers no more, for this reason, until it is null. */
  halt(halt: Halt | null): Promise<void>;
  /** To whoever reads the log. */
  reportHalt(halt: Halt): void;
  /** What the store says now: somebody else may have changed it. */
  refresh(): Promise<ChainState | null>;
}

export function createContext(options: ContextOptions): FollowerContext {
  const { network, store, onEvent } = options;
  const { chainId } = network;
  let state: ChainState | null = null;

  const context: FollowerContext = {
    ...options,
    windowVerifiedAt: Number.NEGATIVE_INFINITY,
    get state() {
      return state;
    },
    async finalBlock() {
      const verified = state?.verified;
      return verified == null ? undefined : (await store.blocks(chainId, { from: verified, to: verified }))[0];
    },
    adopt(next) {
      if (state === null || next.epoch !== state.epoch || next.commits > state.commits) state = next;
      return state;
    },
    async commit(change) {
      if (state === null) throw new Error('Nothing can be written before the chain is claimed.');
      return context.adopt((await change(state)).state);
    },
    async halt(halt) {
      if (state === null) return;
      context.adopt(await store.report(chainId, state.epoch, { halt }));
      if (halt === null) onEvent({ type: 'resumed' });
      else context.reportHalt(halt);
    },
    reportHalt(halt) {
      onEvent({ type: 'halted', code: halt.code, since: halt.since, ...haltTexts(chainId, halt) });
    },
    async refresh() {
      const stands = await store.chain(chainId);
      if (state !== null && stands?.epoch !== state.epoch) {
        throw new StoreError('overtaken', `Chain ${chainId}: another writer has taken the chain.`);
      }
      if (stands !== null) state = stands;
      return state;
    },
  };
  return context;
}
