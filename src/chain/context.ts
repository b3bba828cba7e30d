// What the parts of a follower share. The chain's state changes only here.

import type { Finality, Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import { describeHalt, type Halt, type HaltCode } from '../store/halt.ts';
import type { BlockRef, ChainState, CommitResult, Report, Store } from '../store/store.ts';
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

export interface TickProviders {
  /** The provider that this tick reads from. */
  readonly first: Provider;
  /** The other available providers, used for comparison. */
  readonly others: readonly Provider[];
}

export const allProviders = ({ first, others }: TickProviders): readonly Provider[] => [first, ...others];

export interface ContextOptions {
  readonly network: Network;
  readonly store: Store;
  readonly finality: Finality;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly onEvent: (event: FollowerEvent) => void;
  /** Records that a provider failed or returned wrong data. */
  readonly blame: (provider: Provider, error: unknown) => void;
}

export interface FollowerContext extends ContextOptions {
  /** As of our latest commit. Null before the chain is claimed. */
  readonly state: ChainState | null;
  /** The verified block. Undefined if there is none, or its hash is not stored. */
  verifiedBlock(): Promise<BlockRef | undefined>;
  /** Claims the chain for this follower. Earlier epochs can no longer write. */
  claim(firstBlock: number, partial: boolean): Promise<ChainState>;
  /** Writes to the store under our epoch. */
  commit(change: (state: ChainState) => Promise<CommitResult>): Promise<ChainState>;
  /** Stores facts about the chain that are not blocks. */
  report(report: Report): Promise<ChainState>;
  /** Halts the chain, or resumes it with null. */
  halt(halt: Halt | null): Promise<void>;
  /** Emits the `halted` event. */
  reportHalt(halt: Halt): void;
  /** Reloads the state: an operator or another process may have changed it. */
  refresh(): Promise<ChainState | null>;
}

export function createContext(options: ContextOptions): FollowerContext {
  const { network, store, onEvent } = options;
  const { chainId } = network;
  let state: ChainState | null = null;

  /** Ticks and audits commit concurrently: an older result must not replace a newer one. */
  function adopt(next: ChainState): ChainState {
    if (state === null || next.epoch !== state.epoch || next.commits > state.commits) state = next;
    return state;
  }

  const context: FollowerContext = {
    ...options,
    get state() {
      return state;
    },
    async verifiedBlock() {
      const verified = state?.verified;
      return verified == null ? undefined : (await store.blocks(chainId, { from: verified, to: verified }))[0];
    },
    claim: async (firstBlock, partial) => adopt(await store.claim(chainId, firstBlock, partial)),
    async commit(change) {
      if (state === null) throw new Error('The chain must be claimed before it is written to.');
      return adopt((await change(state)).state);
    },
    report: (report) => context.commit(async ({ epoch }) => ({ state: await store.report(chainId, epoch, report) })),
    async halt(halt) {
      if (state === null) return;
      await context.report({ halt });
      if (halt === null) onEvent({ type: 'resumed' });
      else context.reportHalt(halt);
    },
    reportHalt(halt) {
      onEvent({ type: 'halted', code: halt.code, since: halt.since, ...describeHalt(chainId, halt) });
    },
    async refresh() {
      const stored = await store.chain(chainId);
      if (state !== null && stored?.epoch !== state.epoch) {
        throw new StoreError('overtaken', `Chain ${chainId}: another writer has claimed the chain.`);
      }
      if (stored !== null) state = stored;
      return state;
    },
  };
  return context;
}
