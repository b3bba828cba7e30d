// What the parts of a follower share. The chain's state changes only here.

import type { Finality, Network } from '../../registry/network.ts';
import { StoreError } from '../../store/errors.ts';
import { type Dispute, describeHalt, type Halt, MAX_DISPUTED, MAX_DISPUTES } from '../../store/halt.ts';
import type { BlockRef, ChainState, Report, Store } from '../../store/store.ts';
import { createProvability } from '../prove/provability.ts';
import type { Provider } from '../rpc/provider-pool.ts';
import { createLineage } from './lineage.ts';

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
  | ({ readonly type: 'halted' } & Pick<Halt, 'code' | 'since'> & ReturnType<typeof describeHalt>)
  | { readonly type: 'resumed' }
  | { readonly type: 'disputed'; readonly vaults: readonly string[] }
  | { readonly type: 'undisputed'; readonly left: number }
  | { readonly type: 'history-failed'; readonly reason: string }
  | { readonly type: 'import-confirmed'; readonly block: number }
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

export type Context = ReturnType<typeof createContext>;

const nameOf = ({ vault, delegate, statement }: Dispute) => `${vault} ${delegate} ${statement === null}`;

export function createContext(options: ContextOptions) {
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

  /** Writes to the store under our epoch. */
  async function commit(change: (state: ChainState) => Promise<ChainState>): Promise<ChainState> {
    if (state === null) throw new Error('The chain must be claimed before it is written to.');
    return adopt(await change(state));
  }

  /** Stores facts about the chain that are not blocks. */
  const report = (report: Report) => commit(({ epoch }) => store.report(chainId, epoch, report));

  /** Emits the `halted` event. */
  const reportHalt = (halt: Halt) =>
    onEvent({ type: 'halted', code: halt.code, since: halt.since, ...describeHalt(chainId, halt) });

  /** Halts the chain, or resumes it with null. */
  async function halt(halt: Halt | null): Promise<void> {
    if (state === null) return;
    await report({ halt });
    if (halt === null) onEvent({ type: 'resumed' });
    else reportHalt(halt);
  }

  return {
    ...options,
    lineage: createLineage(),
    proof: createProvability(network, options.providerCount, options.now, (isProven) =>
      onEvent({ type: 'proofs', mode: isProven ? 'proven' : 'compared' }),
    ),
    /** As of our latest commit. Null before the chain is claimed. */
    get state(): ChainState | null {
      return state;
    },
    /** The verified block. Undefined if there is none, or its hash is not stored. */
    async verifiedBlock(): Promise<BlockRef | undefined> {
      const verified = state?.verified;
      return verified == null ? undefined : (await store.blocks(chainId, { from: verified, to: verified }))[0];
    },
    /** Claims the chain for this follower. Earlier epochs can no longer write. */
    claim: async (firstBlock: number, partial: boolean) =>
      adopt(await store.claim(chainId, firstBlock, partial, network)),
    commit,
    report,
    reportHalt,
    halt,
    /** Refuses answers about some wallets. Halts the chain if there are too many. */
    dispute: (disputes: readonly Dispute[]) =>
      inTurn(async () => {
        const [first] = disputes;
        if (state === null || first === undefined) return;
        // One for each pair of wallets, the older one first.
        const known = new Set(state.disputes.map(nameOf));
        const added = new Map(disputes.map((one) => [nameOf(one), one]));
        const all = [...state.disputes, ...[...added.values()].filter((one) => !known.has(nameOf(one)))];
        if (all.length === state.disputes.length) return;
        await report({ disputes: all.slice(0, MAX_DISPUTES) });
        onEvent({ type: 'disputed', vaults: [...new Set(disputes.map(({ vault }) => vault))] });
        const vaults = new Set(all.map(({ vault }) => vault));
        const isTooMany = all.length > MAX_DISPUTES || vaults.size > MAX_DISPUTED;
        if (isTooMany) await halt({ code: 'registry-mismatch', since: first.since, block: first.block });
      }),
    /** Answers about these wallets are given again. */
    endDisputes: (disputes: readonly Dispute[]) =>
      inTurn(async () => {
        const ended = new Set(disputes.map(nameOf));
        const left = state?.disputes.filter((one) => !ended.has(nameOf(one))) ?? [];
        await report({ disputes: left });
        onEvent({ type: 'undisputed', left: left.length });
        if (left.length === 0 && state?.halt?.code === 'registry-mismatch') await halt(null);
      }),
    /** Reloads the state: an operator or another process may have changed it. */
    async refresh(): Promise<ChainState | null> {
      const stored = await store.chain(chainId);
      if (state !== null && stored?.epoch !== state.epoch) {
        throw new StoreError('overtaken', `Chain ${chainId}: another writer has claimed the chain.`);
      }
      if (stored !== null) state = stored;
      return state;
    },
  };
}
