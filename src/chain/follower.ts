// Follows one chain. A tick reads from one provider, compares with the others, and ends in one correct commit or in none.

import type { Address } from '../registry/delegation.ts';
import type { Finality, Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { Subject } from '../store/halt.ts';
import type { ChainState, Store } from '../store/store.ts';
import { auditRange } from './audit-range.ts';
import { createBackfill } from './backfill.ts';
import { claimChain } from './claim-chain.ts';
import { createCommit } from './commit.ts';
import type { Comparison } from './compare-blocks.ts';
import { createContext, type FollowerEvent, type TickProviders } from './context.ts';
import { Inconsistent, isProviderFault, Syncing, WrongChain } from './errors.ts';
import { createFinalityViolation } from './finality-violation.ts';
import { findAncestor } from './find-ancestor.ts';
import { createHeadCheck } from './head-check.ts';
import { createLagMeter } from './lag-meter.ts';
import { createLive, LIVE_BLOCKS } from './live.ts';
import type { Header } from './node.ts';
import type { ProviderPool } from './provider-pool.ts';
import { type AnswersAudit, createRegistryMismatch } from './registry-mismatch.ts';
import { createRevocations } from './revocations.ts';
import { RpcError } from './rpc.ts';
import { createVerifiedCheck } from './verified-check.ts';
import { createWindow } from './window.ts';

export interface FollowerOptions {
  readonly network: Network;
  readonly store: Store;
  readonly providers: ProviderPool;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly finality?: Finality;
  /** The operator's first block. Otherwise the network's, or the block at which the registry was deployed. */
  readonly firstBlock?: number;
  readonly onEvent?: (event: FollowerEvent) => void;
}

export interface Follower {
  /** Makes one step, or throws and changes nothing. `more`: call again without a pause. */
  tick(): Promise<{ readonly more: boolean }>;
  /** Compares finalized blocks with all providers and repairs the index. Null if no block of the range is verified. */
  audit(from: number, to: number): Promise<Comparison | null>;
  /** Compares our answers with the registry's at the verified block. Null if there is none. A mismatch halts the chain. */
  auditAnswers(subjects: readonly Subject[]): Promise<AnswersAudit | null>;
  /** Settles this pair first: a caller was refused an answer because a revocation is not settled. */
  prioritize(vault: Address, delegate: Address): void;
  /** True while a backfill reads from the chain's only provider: other reads would slow it down, and have nothing to compare with. */
  readonly isBusy: boolean;
  /** Blocks per `eth_getLogs` call, at present. */
  readonly rangeSize: number;
  readonly state: ChainState | null;
  /** The chain's newest block, from a provider. Null before the first tick: the stored one can be old. */
  readonly tip: number | null;
  /** Logs written since the start. */
  readonly logs: number;
}

export function createFollower(options: FollowerOptions): Follower {
  const { network, store, providers: pool, now, onEvent = () => {} } = options;
  const { chainId } = network;
  /** Names of providers that were wrong during the current tick. */
  const blamed = new Set<string>();
  const context = createContext({
    network,
    store,
    finality: options.finality ?? network.finality,
    now,
    onEvent,
    blame(provider, error) {
      if (!isProviderFault(error)) return;
      blamed.add(provider.name);
      pool.failed(provider, error, now());
    },
  });
  let logs = 0;
  let latest: number | null = null;
  const revocations = createRevocations(context);
  const commit = createCommit(context, (count, mayHaveRevocations) => {
    logs += count;
    if (mayHaveRevocations) revocations.wake();
  });
  const violation = createFinalityViolation(context);
  const verifiedCheck = createVerifiedCheck(context, violation);
  const mismatch = createRegistryMismatch(context, revocations);
  const headCheck = createHeadCheck(context);
  const live = createLive(context, commit);
  const backfill = createBackfill(context, commit);
  const window = createWindow(context, revocations);
  const lagMeter = createLagMeter();

  /** One tick. True if there is more to do without a pause. */
  async function tick(providers: TickProviders): Promise<boolean> {
    const tip = await fetchTip(providers);
    if (context.state === null) await claimChain(context, providers, options.firstBlock);
    // Nothing is committed to a halted chain, so only a reload shows that an operator or another process has resumed it.
    else if (context.state.halt !== null) await context.refresh();
    const { state } = context;
    if (state === null) return false;
    if (state.halt !== null && !mismatch.isActive()) return resume(providers, state);

    if (state.head === null && tip.number < state.firstBlock) throw new Syncing(tip.number, state.firstBlock);
    await verifiedCheck.run(providers, state, tip);
    await headCheck.run(providers, tip, state);
    const ancestor = await findAncestor(context, violation, providers, state, tip);
    if (ancestor === null) return false;
    if (tip.number - ancestor.number > LIVE_BLOCKS) {
      await backfill.readAhead(providers, tip, ancestor);
      return true;
    }
    await live.advance(providers, tip, ancestor);
    await context.report({ confirmedAt: Math.floor(now() / 1000), tip: tip.number });
    await revocations.settle(providers);
    await window.verify(providers, tip);
    return mismatch.isActive() ? mismatch.recheck(providers) : false;
  }

  /** Before the tick, so that failing providers do not hide the lag that they cause. */
  async function recordLag(): Promise<void> {
    const { state } = context;
    const sample = state === null ? null : lagMeter.measure(state, now() / 1000);
    if (state !== null && sample !== null) await store.recordLag(state.epoch, sample);
  }

  /** The provider's latest block. Throws if the provider serves another chain. */
  async function fetchTip({ first }: TickProviders): Promise<Header> {
    const { chainId: found, header } = await first.node.headerAndChainId('latest');
    if (found !== chainId) throw new WrongChain(found);
    if (header === null) throw new RpcError('malformed', 'no latest block');
    latest = header.number;
    return header;
  }

  /** Resumes a chain that halted for a finality violation, once that is resolved. */
  async function resume(providers: TickProviders, state: ChainState): Promise<boolean> {
    if (state.halt?.code !== 'finality-violation' || !(await violation.isResolved(providers, state))) return false;
    verifiedCheck.reset();
    await context.halt(null);
    return true;
  }

  /** Runs work with the best provider, and records whether that provider failed. */
  async function withProvider<T>(work: (providers: TickProviders) => Promise<T>): Promise<T> {
    const provider = await pool.pick(now());
    blamed.delete(provider.name);
    try {
      const result = await work({ first: provider, others: await pool.others(provider, now()) });
      if (!blamed.has(provider.name)) pool.succeeded(provider, now());
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'overtaken') throw await recoverState(error);
      if (isProviderFault(error)) pool.failed(provider, error, now());
      throw error;
    }
  }

  /** The store may have made a commit of ours whose result we never received. Then we continue from the stored state. */
  async function recoverState(error: StoreError): Promise<Error> {
    const stored = await store.chain(chainId);
    if (stored === null || stored.epoch !== context.state?.epoch) return error;
    await context.refresh();
    return new Inconsistent('the store is ahead of the follower: state reloaded');
  }

  return {
    async tick() {
      await recordLag();
      return { more: await withProvider(tick) };
    },
    audit: (from, to) => auditRange(context, revocations, () => pool.others(null, now()), from, to),
    auditAnswers: async (subjects) =>
      context.state === null || context.state.halt !== null
        ? null
        : withProvider((providers) => mismatch.compare(providers, subjects)),
    prioritize: revocations.prioritize,
    get isBusy() {
      const head = context.state?.head?.number ?? 0;
      return pool.all.length === 1 && latest !== null && latest - head > LIVE_BLOCKS;
    },
    get rangeSize() {
      return Math.min(...pool.all.flatMap(({ scanner, history }) => [scanner.rangeSize, history.scanner.rangeSize]));
    },
    get state() {
      return context.state;
    },
    get tip() {
      return latest;
    },
    get logs() {
      return logs;
    },
  };
}
