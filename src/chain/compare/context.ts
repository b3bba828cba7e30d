// What the parts of a follower share. The chain's state changes only here.

import type { Finality, Network } from '../../registry/network.ts';
import { StoreError } from '../../store/errors.ts';
import { type Dispute, describeHalt, type Halt, type HaltCode, MAX_DISPUTED, MAX_DISPUTES } from '../../store/halt.ts';
import type { BlockRef, ChainState, CommitResult, Report, Store } from '../../store/store.ts';
import { createProvability, type Provability } from '../prove/provability.ts';
import type { Provider } from '../rpc/provider-pool.ts';

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
  | { readonly type: 'disputed'; readonly vaults: readonly string[] }
  | { readonly type: 'undisputed'; readonly left: number }
  | { readonly type: 'proofs'; readonly mode: 'proven' | 'compared' }
  | { readonly type: 'unread'; readonly vault: string; readonly block: number; readonly reason: string };

export interface ContextOptions {
  readonly network: Network;
  readonly store: Store;
  readonly finality: Finality;
  /** Configured providers, available or not. */
  readonly providerCount: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds that no correction of the clock changes. */
  readonly ticks: () => number;
  readonly onEvent: (event: FollowerEvent) => void;
  /** Records that a provider failed, or that a proof shows its data to be wrong. */
  readonly blame: (provider: Provider, error: unknown) => void;
  /** It failed or was wrong lately, so that others are asked first. */
  readonly isBlamed: (provider: Provider) => boolean;
}

export interface FollowerContext extends ContextOptions {
  readonly proof: Provability;
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
  /** Refuses answers about some wallets. Halts the chain if there are too many. */
  dispute(disputes: readonly Dispute[]): Promise<void>;
  /** Answers about these wallets are given again. */
  endDisputes(disputes: readonly Dispute[]): Promise<void>;
  /** Emits the `halted` event. */
  reportHalt(halt: Halt): void;
  /** Reloads the state: an operator or another process may have changed it. */
  refresh(): Promise<ChainState | null>;
}

const nameOf = ({ vault, delegate, statement }: Dispute) => `${vault} ${delegate} ${statement === null}`;

/** One for each pair of wallets, the older one first. */
function addDisputes(before: readonly Dispute[], more: readonly Dispute[]): readonly Dispute[] {
  const known = new Set(before.map(nameOf));
  const added = new Map(more.map((one) => [nameOf(one), one]));
  return [...before, ...[...added.values()].filter((one) => !known.has(nameOf(one)))];
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

  /** Ticks and audits dispute concurrently, and what one adds another must not remove. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  }

  const context: FollowerContext = {
    ...options,
    proof: createProvability(network, options.providerCount, options.now, (isProven) =>
      onEvent({ type: 'proofs', mode: isProven ? 'proven' : 'compared' }),
    ),
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
    dispute: (disputes) =>
      inTurn(async () => {
        const [first] = disputes;
        if (state === null || first === undefined) return;
        const all = addDisputes(state.disputes, disputes);
        if (all.length === state.disputes.length) return;
        await context.report({ disputes: all.slice(0, MAX_DISPUTES) });
        onEvent({ type: 'disputed', vaults: [...new Set(disputes.map(({ vault }) => vault))] });
        const vaults = new Set(all.map(({ vault }) => vault));
        const isTooMany = all.length > MAX_DISPUTES || vaults.size > MAX_DISPUTED;
        if (isTooMany) await context.halt({ code: 'registry-mismatch', since: first.since, block: first.block });
      }),
    endDisputes: (disputes) =>
      inTurn(async () => {
        const ended = new Set(disputes.map(nameOf));
        const left = state?.disputes.filter((one) => !ended.has(nameOf(one))) ?? [];
        await context.report({ disputes: left });
        onEvent({ type: 'undisputed', left: left.length });
        if (left.length === 0 && state?.halt?.code === 'registry-mismatch') await context.halt(null);
      }),
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
