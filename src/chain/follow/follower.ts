// Follows one chain. A tick reads from one provider, compares with the others, and ends in one correct commit or in none.

import type { Question } from '../../registry/check.ts';
import type { Address, Bytes32 } from '../../registry/delegation.ts';
import type { Finality, Network } from '../../registry/network.ts';
import { StoreError } from '../../store/errors.ts';
import type { ChainState, Store } from '../../store/store.ts';
import { auditRange } from '../audit/audit-range.ts';
import type { WalletList } from '../audit/audit-subjects.ts';
import { type AnswersAudit, createDisputes } from '../audit/disputes.ts';
import type { Comparison } from '../compare/compare-blocks.ts';
import { allProviders, createContext, type FollowerEvent, type TickProviders } from '../compare/context.ts';
import { createRevocations } from '../revocations/revocations.ts';
import { Inconsistent, isProviderFault, Syncing, WrongChain } from '../rpc/errors.ts';
import type { Header } from '../rpc/node.ts';
import type { ProviderPool } from '../rpc/provider-pool.ts';
import { RpcError } from '../rpc/rpc.ts';
import { createBackfill } from './backfill.ts';
import { claimChain } from './claim-chain.ts';
import { type Ancestor, createCommit } from './commit.ts';
import { createFinalityViolation } from './finality-violation.ts';
import { findAncestor } from './find-ancestor.ts';
import { createHeadCheck } from './head-check.ts';
import { createLagMeter } from './lag-meter.ts';
import { createLive, type Evidence, LIVE_BLOCKS } from './live.ts';
import { proveStored } from './prove-stored.ts';
import { createVerifiedCheck } from './verified-check.ts';
import { createWindow } from './window.ts';

export interface FollowerOptions {
  readonly network: Network;
  readonly store: Store;
  readonly providers: ProviderPool;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds that no correction of the clock changes. */
  readonly ticks?: () => number;
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
  /** Compares our answers with the registry's at the verified block. Null if there is none. Wallets that differ are refused. */
  auditAnswers(questions: readonly Question[], lists?: readonly WalletList[]): Promise<AnswersAudit | null>;
  /** Proves some finalized blocks with logs, newest first. True if there are more. */
  prove(): Promise<boolean>;
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
  /** New blocks since the start, by how their logs are known. */
  readonly evidence: Readonly<Record<Evidence, number>>;
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
    providerCount: pool.all.length,
    now,
    ticks: options.ticks ?? (() => performance.now()),
    onEvent(event) {
      if (event.type === 'repaired') revocations.wake();
      if (event.type === 'reorg') pool.replaced(event.to, now());
      onEvent(event);
    },
    blame(provider, error) {
      if (!isProviderFault(error)) return;
      blamed.add(provider.name);
      pool.failed(provider, error, now());
    },
    isBlamed: ({ name }) => blamed.has(name),
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
  const disputes = createDisputes(context, revocations);
  const headCheck = createHeadCheck(context);
  const evidence: Record<Evidence, number> = { bloom: 0, receipts: 0, compared: 0 };
  const live = createLive(context, commit, (by) => {
    evidence[by]++;
  });
  const backfill = createBackfill(context, commit, proveNew);
  const window = createWindow(context, revocations);
  const lagMeter = createLagMeter();

  /** One tick. True if there is more to do without a pause. */
  async function tick(providers: TickProviders): Promise<boolean> {
    const began = now();
    const tip = await fetchTip(providers);
    context.proof.requireHeaders([tip]);
    if (context.state === null) await claimChain(context, providers, options.firstBlock);
    // Nothing is committed to a halted chain, so only a reload shows that an operator or another process has resumed it.
    else if (context.state.halt !== null) await context.refresh();
    const { state } = context;
    if (state === null) return false;
    await context.proof.learn(allProviders(providers), tip, state.provable ?? false);
    context.proof.requireHeaders([tip]);
    if (state.provable !== context.proof.isProven) await context.report({ provable: context.proof.isProven });
    if (state.halt !== null && state.halt.code !== 'registry-mismatch') return resume(providers, state);

    if (state.head === null && tip.number < state.firstBlock) throw new Syncing(tip.number, state.firstBlock);
    await verifiedCheck.run(providers, state, tip);
    await headCheck.run(providers, tip, state);
    const ancestor = await findAncestor(context, violation, providers, state, tip);
    if (ancestor === null) return false;
    if (tip.number - ancestor.number > LIVE_BLOCKS) {
      await backfill.readAhead(providers, tip, ancestor);
      return true;
    }
    if (await proveNew(providers, ancestor)) return true;
    await live.advance(providers, tip, ancestor);
    await context.report({ confirmedAt: Math.floor(now() / 1000), tip: tip.number });
    await pool.clearStragglers(providers.others, tip, began);
    await revocations.settle(providers);
    await window.verify(providers, tip);
    return disputes.isOpen() ? disputes.recheck(providers) : false;
  }

  /** Proves stored blocks above the verified one, before newer blocks make the head fresh. True if there may be more. */
  async function proveNew(providers: TickProviders, { number: to, hash }: Ancestor): Promise<boolean> {
    if (!context.proof.isProven || context.state === null || hash === null) return false;
    const from = (context.state.verified ?? context.state.firstBlock - 1) + 1;
    const range = { from, to: newLeft?.hash === hash ? newLeft.to : to };
    const { left, failure } = await proveStored(context, providers, range, { number: to, hash }, false);
    if (failure !== undefined) throw failure;
    newLeft = left === null ? null : { hash, to: left };
    if (left === null && context.state.proving) await context.report({ proving: false });
    return left !== null;
  }
  /** What is left to prove below a head. */
  let newLeft: { readonly hash: Bytes32; readonly to: number } | null = null;

  /** The next finalized block to prove, from the newest down. Null: start again. */
  let provenDownTo: number | null = null;

  async function prove(providers: TickProviders): Promise<boolean> {
    const anchor = await context.verifiedBlock();
    if (!context.proof.isProven || context.state === null || anchor === undefined) return false;
    const range = { from: context.state.firstBlock, to: provenDownTo ?? anchor.number };
    const { left, failure } = await proveStored(context, providers, range, anchor, true);
    // Blocks that no provider can prove now are tried again in the next round.
    provenDownTo = left;
    if (failure !== undefined) throw failure;
    return left !== null;
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
    auditAnswers: async (questions, lists = []) =>
      context.state === null || context.state.halt !== null
        ? null
        : withProvider((providers) => disputes.compare(providers, questions, lists)),
    prove: async () => withProvider(prove),
    prioritize: revocations.prioritize,
    get isBusy() {
      const head = context.state?.head?.number ?? 0;
      return pool.all.length === 1 && latest !== null && latest - head > LIVE_BLOCKS;
    },
    get rangeSize() {
      return Math.min(
        ...pool.all.flatMap(({ scanner, history }) => [scanner.rangeSize(), history.scanner.rangeSize()]),
      );
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
    evidence,
  };
}
