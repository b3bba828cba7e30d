// Follows one chain. A tick reads from one provider, compares with the others, and ends in one correct commit or in none.

import type { Question } from '../../registry/check.ts';
import { StoreError } from '../../store/errors.ts';
import type { ChainState, Imported } from '../../store/store.ts';
import { createDisputes } from '../audit/disputes.ts';
import type { WalletList } from '../audit/registry-answers.ts';
import { fetchHeader } from '../compare/agreed-block.ts';
import { type Comparison, compareBlocks } from '../compare/compare-blocks.ts';
import { type ContextOptions, createContext } from '../compare/context.ts';
import { createRevocations } from '../revocations/revocations.ts';
import { Inconsistent, isProviderFault, Syncing } from '../rpc/errors.ts';
import type { ProviderPool, Providers, TickProviders } from '../rpc/provider-pool.ts';
import { createBackfill } from './backfill.ts';
import { createCommit } from './commit.ts';
import { createFinalityViolation } from './finality-violation.ts';
import { findFirstBlock } from './first-block.ts';
import { createHeadCheck } from './head-check.ts';
import type { HistorySource } from './history-source.ts';
import { createLagMeter } from './lag-meter.ts';
import { createLive, type Evidence, LIVE_BLOCKS } from './live.ts';
import { createProver } from './prove-stored.ts';
import { createWindow } from './window.ts';

export interface FollowerOptions
  extends Pick<ContextOptions, 'network' | 'store' | 'now'>,
    Partial<Pick<ContextOptions, 'ticks' | 'finality' | 'onEvent'>> {
  readonly providers: ProviderPool;
  /** The operator's first block. Otherwise the network's, or the block at which the registry was deployed. */
  readonly firstBlock?: number;
  /** An archive service that old history may be read from. */
  readonly history?: HistorySource;
}

export type Follower = ReturnType<typeof createFollower>;

export function createFollower(options: FollowerOptions) {
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
  /** Null before the first tick: the stored one can be old. */
  let latest: number | null = null;
  const revocations = createRevocations(context);
  const commit = createCommit(context, (count, mayHaveRevocations) => {
    logs += count;
    if (mayHaveRevocations) revocations.wake();
  });
  const violation = createFinalityViolation(context);
  const disputes = createDisputes(context, revocations);
  const headCheck = createHeadCheck(context, violation);
  const evidence: Record<Evidence, number> = { bloom: 0, receipts: 0, compared: 0 };
  const live = createLive(context, commit, (by) => {
    evidence[by]++;
  });
  const prover = createProver(context);
  const backfill = createBackfill(context, commit, prover.proveNew, options.history ?? null);
  const window = createWindow(context, revocations);
  const measureLag = createLagMeter();

  /** One tick. True if there is more to do without a pause. */
  async function tick(providers: TickProviders): Promise<boolean> {
    const began = now();
    const tip = await fetchHeader(context, providers[0].node, 'latest');
    latest = tip.number;
    if (context.state === null) await claim(providers);
    // Nothing is committed to a halted chain, so only a reload shows that an operator or another process has resumed it.
    else if (context.state.halt !== null) await context.refresh();
    const { state } = context;
    if (state === null) return false;
    await context.proof.learn(providers, tip, state.provable ?? false);
    context.proof.requireHeaders([tip]);
    if (state.provable !== context.proof.isProven) await context.report({ provable: context.proof.isProven });
    if (state.halt?.code === 'finality-violation') return violation.resume(providers, state);
    if (state.halt !== null && state.halt.code !== 'registry-mismatch') return false;

    if (state.head === null && tip.number < state.firstBlock) throw new Syncing(tip.number, state.firstBlock);
    await violation.check(providers, state, tip);
    await headCheck.run(providers, tip, state);
    const ancestor = await headCheck.findAncestor(providers, state, tip);
    if (ancestor === null) return false;
    if (tip.number - ancestor.number > LIVE_BLOCKS) {
      await backfill.readAhead(providers, tip, ancestor);
      return true;
    }
    if (await prover.proveNew(providers, ancestor)) return true;
    await live.advance(providers, tip, ancestor);
    await context.report({ confirmedAt: Math.floor(now() / 1000), tip: tip.number });
    await pool.clearStragglers(providers.slice(1), tip, began);
    await revocations.settle(providers);
    await window.verify(providers, tip);
    return disputes.isOpen() ? disputes.recheck(providers) : false;
  }

  /** Claims the chain at the start, and finds its first block if the chain is new. */
  async function claim(providers: TickProviders): Promise<void> {
    const stored = await store.chain(chainId);
    // An unfinished import owns the chain: a claim would end it.
    if (stored?.halt?.code === 'import-unfinished') return;
    const { firstBlock, partial } = stored ?? (await findFirstBlock(network, providers, options.firstBlock));
    const { halt } = await context.claim(firstBlock, partial);
    // Repeated on every start, so that it is in the current log.
    if (halt !== null) context.reportHalt(halt);
  }

  /** Whether a backfill is under way. */
  const isBehind = () => latest !== null && latest - (context.state?.head?.number ?? 0) > LIVE_BLOCKS;
  /** Blocks per `eth_getLogs` call, at present. */
  const rangeSize = () =>
    Math.min(...pool.all.flatMap(({ scanner, history }) => [scanner.rangeSize(), history.scanner.rangeSize()]));

  /** Compares finalized blocks with all providers and repairs the index. Null if the chain is halted, or none is verified yet. */
  async function audit(from: number, to: number, isImported = false): Promise<Comparison | null> {
    const anchor = await context.verifiedBlock();
    const { state } = context;
    if (state === null || state.halt !== null || anchor === undefined) return null;
    const [low, high] = [Math.max(from, state.firstBlock), Math.min(to, anchor.number)];
    if (low > high) return null;
    const providers: Providers = await pool.others(null, now());
    const result = await compareBlocks(context, providers, anchor, low, high);
    await revocations.verify(providers as TickProviders, low, high, isImported);
    const confirmed = context.state?.agreedBlock ?? state.firstBlock - 1;
    const isConfirmed = result.providers > 1 && result.isComplete;
    if (isConfirmed && low <= confirmed + 1 && high > confirmed) await context.report({ agreedBlock: high });
    return result;
  }

  /**
   * Compares the newest blocks of an import that were not compared yet, and reads its v1 revocations there again: nobody knows who
   * settled them. Returns how many blocks; null if none can be compared now.
   */
  async function auditImported(): Promise<number | null> {
    const { imported = null, firstBlock = 0 } = context.state ?? {};
    // What a backfill still adds would be compared again.
    if (imported === null || isBehind() || imported.comparedFrom <= firstBlock) return null;
    const to = imported.comparedFrom - 1;
    const from = Math.max(firstBlock, imported.comparedFrom - rangeSize());
    const result = await audit(from, to, true);
    if (result === null || result.providers === 0) return null;
    if (!result.isComplete) return 0;
    await reportImported(imported.to, { comparedFrom: from });
    return to - from + 1;
  }

  /** Nothing is left of an import that is compared and counted: it is history like any other. Of a longer one, nothing is known yet. */
  async function reportImported(to: number, news: Partial<Imported>): Promise<void> {
    if (context.state?.imported?.to !== to) return;
    const imported = { ...context.state.imported, ...news };
    const isDone = imported.comparedFrom <= context.state.firstBlock && imported.isCounted;
    await context.report({ imported: isDone ? null : imported });
    if (isDone) onEvent({ type: 'import-confirmed', block: imported.to });
  }

  /** Before the tick, so that failing providers do not hide the lag that they cause. */
  async function recordLag(): Promise<void> {
    const { state } = context;
    const sample = state === null ? null : measureLag(state, now() / 1000);
    if (state !== null && sample !== null) await store.recordLag(state.epoch, sample);
  }

  /** Runs work with the best provider, and records whether that provider failed. */
  async function withProvider<T>(work: (providers: TickProviders) => Promise<T>): Promise<T> {
    const provider = await pool.pick(now());
    blamed.delete(provider.name);
    try {
      const result = await work([provider, ...(await pool.others(provider, now()))]);
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
    /** Makes one step, or throws and changes nothing. `more`: call again without a pause. */
    async tick() {
      await recordLag();
      return { more: await withProvider(tick) };
    },
    audit,
    auditImported,
    /** Compares our answers with the registry's. Null if there is no such block. Wallets that differ are refused. */
    auditAnswers: async (
      questions: readonly Question[],
      lists: readonly WalletList[] = [],
      at: 'verified' | 'head' = 'verified',
    ) =>
      context.state === null || context.state.halt !== null
        ? null
        : withProvider((providers) => disputes.compare(providers, questions, lists, at)),
    /** Compares the lengths of some lists with the registry's. Null if they are not known. With `begin`, a new round begins there. */
    auditLengths: async (begin?: number) =>
      context.state === null || context.state.halt !== null
        ? null
        : withProvider((providers) => disputes.compareLengths(providers, begin)),
    /** The lengths of all lists were compared since the blocks up to this one were imported. */
    importCounted: (to: number) => reportImported(to, { isCounted: true }),
    /** Proves some finalized blocks with logs, newest first. True if there are more. */
    prove: () => withProvider(prover.proveOld),
    prioritize: revocations.prioritize,
    /** True while a backfill reads from the chain's only provider: other reads would slow it down, and have nothing to compare with. */
    get isBusy(): boolean {
      return pool.all.length === 1 && isBehind();
    },
    get isBehind(): boolean {
      return isBehind();
    },
    rangeSize,
    get state(): ChainState | null {
      return context.state;
    },
    /** The chain's newest block, from a provider, and the logs written since the start. */
    progress: () => ({ tip: latest, logs }),
    /** New blocks since the start, by how their logs are known. */
    evidence: evidence as Readonly<typeof evidence>,
  };
}
