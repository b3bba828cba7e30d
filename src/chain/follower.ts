// Follows one chain: each tick keeps to one provider, and ends in a commit that is right or in none.

import type { Address } from '../registry/delegation.ts';
import type { Finality, Network } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { Subject } from '../store/halt.ts';
import type { ChainState, Store } from '../store/store.ts';
import { createBackfill } from './backfill.ts';
import { createCommit } from './commit.ts';
import { type Comparison, compareBlocks } from './compare-blocks.ts';
import { allProviders, createContext, type FollowerEvent, type TickProviders } from './context.ts';
import { Inconsistent, isProviderFault, Lagging, WrongChain } from './errors.ts';
import { createFinalityViolation } from './finality-violation.ts';
import { findFirstBlock, storeFirstBlock } from './first-block.ts';
import { createLive, LIVE_BLOCKS } from './live.ts';
import type { Header } from './node.ts';
import type { ProviderPool } from './provider-pool.ts';
import { type AnswersAudit, createRegistryMismatch } from './registry-mismatch.ts';
import { createRevocations } from './revocations.ts';
import { RpcError } from './rpc.ts';
import { verifyWindow } from './verify-window.ts';

export interface FollowerOptions {
  readonly network: Network;
  readonly store: Store;
  readonly providers: ProviderPool;
  /** Milliseconds. */
  readonly now: () => number;
  readonly finality?: Finality;
  /** Where to begin when the network does not say. */
  readonly firstBlock?: number;
  readonly onEvent?: (event: FollowerEvent) => void;
}

export interface Follower {
  /** One step. Throws where it could not be made; nothing is half done then. `more`: there is work at once. */
  tick(): Promise<{ readonly more: boolean }>;
  /** Compares final blocks with all providers and puts the index right; null where none of the range is final. */
  audit(from: number, to: number): Promise<Comparison | null>;
  /** Asks the registry itself, at the newest final block; null where there is none. Wrong answers halt the chain. */
  auditAnswers(subjects: readonly Subject[]): Promise<AnswersAudit | null>;
  /** Somebody was refused an answer about a pair, for a revocation that is not settled. */
  prioritize(vault: Address, delegate: Address): void;
  /** How many blocks one call for logs asks for now. */
  readonly rangeSize: number;
  readonly state: ChainState | null;
  /** How many logs it has written. */
  readonly logs: number;
}

export function createFollower(options: FollowerOptions): Follower {
  const { network, store, providers, now, onEvent = () => {} } = options;
  const { chainId } = network;
  /** ProviderPool that were found wrong in the work under way. */
  const blamed = new Set<string>();
  const context = createContext({
    network,
    store,
    finality: options.finality ?? network.finality,
    now,
    onEvent,
    blame: (source, error) => {
      if (!isProviderFault(error)) return;
      blamed.add(source.name);
      providers.failed(source, error, now());
    },
  });
  const revocations = createRevocations(context);
  const violation = createFinalityViolation(context);
  const mismatch = createRegistryMismatch(context, revocations);
  let logs = 0;
  const commit = createCommit(context, (count, mayHaveRevocations) => {
    logs += count;
    if (mayHaveRevocations) revocations.wake();
  });
  const live = createLive(context, commit, violation);
  const backfill = createBackfill(context, commit);
  let checkedFinal = false;

  /** Work that keeps to one provider, whose doing its outcome is. */
  async function withProvider<T>(work: (sources: TickProviders) => Promise<T>): Promise<T> {
    const provider = await providers.pick(now());
    blamed.delete(provider.name);
    try {
      const result = await work({ first: provider, others: await providers.others(provider, now()) });
      if (!blamed.has(provider.name)) providers.succeeded(provider);
      return result;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'overtaken') throw await overtaken(error);
      if (isProviderFault(error)) providers.failed(provider, error, now());
      throw error;
    }
  }

  /** By another writer, or by a commit of our own of which we never heard: then we go on from where the store stands. */
  async function overtaken(error: StoreError): Promise<Error> {
    const epoch = context.state?.epoch;
    const stands = await store.chain(chainId);
    if (stands === null || stands.epoch !== epoch) return error;
    await context.refresh();
    return new Inconsistent('the store had moved on');
  }

  async function step(sources: TickProviders): Promise<boolean> {
    const tip = await tipOf(sources);
    if (context.state === null) await start(sources);
    // A halted chain is not written to, so that only this shows what an operator or another process has done about it.
    else if (context.state.halt !== null) await context.refresh();
    const { state } = context;
    if (state === null) return false;
    if (state.halt !== null && !mismatch.isActive()) return reopen(sources, state);
    await checkFinal(sources, state, tip);
    await live.checkHead(sources, tip, state);
    const base = await live.findAncestor(sources, state, tip);
    if (base === null) return false;
    if (tip.number - base.number > LIVE_BLOCKS) {
      await backfill.readAhead(sources, tip, base);
      return true;
    }
    if (base.hash !== tip.hash) await live.advance(sources, tip, base);
    // The chain is shorter by what we have above its head.
    else if (state.head !== null && state.head.number > tip.number) await commit({ end: tip, blocks: [] }, base);
    const confirmedAt = Math.floor(now() / 1000);
    await context.commit(async ({ epoch }) => ({
      state: await store.report(chainId, epoch, { confirmedAt, tip: tip.number }),
    }));
    await revocations.settle(sources);
    await verifyWindow(context, revocations, sources, tip);
    return mismatch.isActive() ? mismatch.recheck(sources) : false;
  }

  /** The newest block of the provider, and that it is this chain's. */
  async function tipOf({ first }: TickProviders): Promise<Header> {
    const { chainId: found, header } = await first.node.headerAndChainId('latest');
    if (found !== chainId) throw new WrongChain(found);
    if (header === null) throw new RpcError('malformed', 'no latest block');
    return header;
  }

  async function start(sources: TickProviders): Promise<void> {
    const known = await store.chain(chainId);
    // The import that is under way, or that an operator will start again, writes this chain: a claim would end it.
    if (known?.halt?.code === 'import-unfinished') return;
    const { first, partial } = known
      ? { first: known.firstBlock, partial: known.partial }
      : await findFirstBlock(network, allProviders(sources), options.firstBlock);
    const { halt } = context.adopt(await store.claim(chainId, first, partial));
    // Nobody reads a log from its beginning: a restart says it again.
    if (halt !== null) context.reportHalt(halt);
  }

  /** A chain that halted for a final block that changed resumes when that is over. */
  async function reopen(sources: TickProviders, state: ChainState): Promise<boolean> {
    if (state.halt?.code !== 'finality-violation' || !(await violation.isResolved(sources, state))) return false;
    checkedFinal = false;
    await context.halt(null);
    return true;
  }

  /** Once in a life: what we hold to be final must still be the chain's, and the first block must be kept. */
  async function checkFinal(sources: TickProviders, { verified, head }: ChainState, tip: Header): Promise<void> {
    if (checkedFinal || verified === null || head === null) return;
    // Behind us, or a chain that became shorter: that is judged by the head.
    if (tip.number < verified) return;
    const kept = await context.finalBlock();
    const header = await sources.first.node.header(verified);
    if (header === null) throw new Lagging(`the provider does not know block ${verified}`);
    const isOurs = kept === undefined || header.hash === kept.hash;
    if (!isOurs) await violation.report(sources, kept, header);
    checkedFinal = true;
    if (isOurs) await storeFirstBlock(context, sources);
  }

  /** Compares final blocks with all providers; those above what is verified are the window's. */
  async function audit(from: number, to: number): Promise<Comparison | null> {
    const anchor = await context.finalBlock();
    if (context.state === null || context.state.halt !== null || anchor === undefined) return null;
    const [low, high] = [Math.max(from, context.state.firstBlock), Math.min(to, anchor.number)];
    if (low > high) return null;
    const sources = await providers.others(null, now());
    const result = await compareBlocks(context, sources, anchor, low, high);
    if (result.repaired > 0) revocations.wake();
    const [first, ...others] = sources;
    if (first !== undefined) await revocations.verify({ first, others }, low, high);
    const confirmed = context.state.confirmed ?? context.state.firstBlock - 1;
    if (result.sources > 1 && result.isWhole && low <= confirmed + 1 && high > confirmed) {
      await context.commit(async ({ epoch }) => ({ state: await store.report(chainId, epoch, { confirmed: high }) }));
    }
    return result;
  }

  return {
    tick: async () => ({ more: await withProvider(step) }),
    audit,
    auditAnswers: async (subjects) =>
      context.state === null || context.state.halt !== null
        ? null
        : withProvider((sources) => mismatch.compare(sources, subjects)),
    prioritize: revocations.prioritize,
    get rangeSize() {
      return Math.min(...providers.all.map(({ scanner }) => scanner.rangeSize));
    },
    get state() {
      return context.state;
    },
    get logs() {
      return logs;
    },
  };
}
