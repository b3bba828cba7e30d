// The providers of one chain, ordered by health. Each has a name, because its URL is a secret.

import type { ProviderCause } from '../../api/provider-causes.ts';
import type { Network } from '../../registry/network.ts';
import { ALL_VERSIONS } from '../../registry/versions.ts';
import { withTimeout } from '../../store/with-timeout.ts';
import { findCause, Inconsistent, isConnectionCause, Lagging, NoRegistry, Untrusted, WrongChain } from './errors.ts';
import { type BlockId, createNode, type Node } from './node.ts';
import { paceCalls } from './pace-calls.ts';
import { registryFilter } from './registry-logs.ts';
import { createRedactor, createRpc, RPC_DEFAULTS, RpcError, type RpcListener, type RpcOptions } from './rpc.ts';
import { createScanner, type Scanner } from './scanner.ts';

export interface Provider {
  /** For logs and metrics: chain id and position in the configuration, as in `1/2`. */
  readonly name: string;
  readonly node: Node;
  readonly scanner: Scanner;
  /** For the backfill: many calls at once, paced by what the provider allows. */
  readonly history: { readonly node: Node; readonly scanner: Scanner };
}

export type Providers = readonly Provider[];

/** The provider that a tick reads from, then the other available ones, for comparison. */
export type TickProviders = readonly [first: Provider, ...others: Provider[]];

export interface PooledProvider extends Provider {
  /** 0 is healthy. A failure raises it, a success lowers it. */
  readonly penalty: number;
  /** Not used before this time. Milliseconds, by the clock of `pick`. */
  readonly retryAt: number;
  /** The last failure. Null while healthy. */
  readonly failure: ProviderFailure | null;
}

export interface ProviderFailure {
  /** Safe to publish. */
  readonly cause: ProviderCause;
  /** For the log: can contain the node's own words, without the parts of its URL. */
  readonly message: string;
  readonly httpStatus: number | null;
  readonly rpcCode: number | null;
  /** Unhealthy since. Milliseconds, by the clock of `pick`. */
  readonly since: number;
  /** The last failure. The same clock. */
  readonly at: number;
}

export interface PoolOptions extends Partial<Omit<RpcOptions, 'listener'>> {
  /** The listener to the calls of a provider. */
  readonly listenerOf?: (provider: string) => RpcListener;
  /** Called for each failure of a provider. */
  readonly onFailure?: (provider: string, failure: ProviderFailure) => void;
  /** Called when a provider is healthy again. */
  readonly onRecovery?: (provider: string, unhealthyMs: number) => void;
  readonly random?: () => number;
}

/** Short, because a chain's only provider must be tried again soon. */
const MAX_BACKOFF_MS = 15_000;
const FIRST_BACKOFF_MS = 250;
const MAX_PENALTY = 16;
const WRONG_DATA_PENALTY = 4;
/** How long to wait for the first chain-id check of the other providers. */
const CHAIN_ID_TIMEOUT_MS = 1000;

type Entry = { -readonly [Key in keyof PooledProvider]: PooledProvider[Key] } & {
  /** Whether the provider's chain id and, of an operator's own network, the registries were checked, and are right. */
  isChecked: boolean;
  /** The chain-id check in progress. */
  checking: Promise<boolean> | null;
  /** The last error, so that one that is reported twice counts once. */
  error: unknown;
};

/** What a reorg or a delay explains. */
const PASSING_CAUSES: ReadonlySet<ProviderCause> = new Set(['behind', 'syncing', 'inconsistent']);

/** Found before a provider is used at all. */
const START_CAUSES: ReadonlySet<ProviderCause> = new Set(['wrong-chain', 'no-registry']);

/** Nobody but the operator says that they are there: an index of an empty address would answer no to everything. */
async function requireRegistries(network: Network, node: Node): Promise<void> {
  if (network.custom === undefined) return;
  for (const version of ALL_VERSIONS) {
    const address = network.registries[version];
    if (address !== undefined && !(await node.hasCode(address, 'latest')))
      throw new NoRegistry(network, version, address);
  }
}

/** The provider failed earlier in this tick, and is not asked again. */
class BackingOff extends RpcError {}

const MAX_MESSAGE = 300;

export type ProviderPool = ReturnType<typeof createProviderPool>;

export function createProviderPool(network: Network, urls: readonly string[], options: PoolOptions = {}) {
  const { chainId } = network;
  const { onFailure = () => {}, onRecovery = () => {}, listenerOf, random = Math.random, ...rpcOptions } = options;
  const filter = registryFilter(network);
  const redact = createRedactor(urls);
  const all = urls.map((url, position): Entry => {
    const name = `${chainId}/${position + 1}`;
    const listener = listenerOf === undefined ? {} : { listener: listenerOf(name) };
    const rpc = createRpc(url, { ...RPC_DEFAULTS, ...rpcOptions, ...listener });
    const [node, paced] = [createNode(rpc), createNode(paceCalls(rpc))];
    return {
      name,
      node,
      scanner: createScanner(node, filter),
      history: { node: paced, scanner: createScanner(paced, filter) },
      penalty: 0,
      retryAt: 0,
      failure: null,
      isChecked: false,
      checking: null,
      error: null,
    };
  });

  const find = ({ name }: Pick<Provider, 'name'>) => all.find((entry) => entry.name === name);

  function recordFailure(entry: Entry, error: unknown, nowMs: number): void {
    if (error instanceof BackingOff || error === entry.error) return;
    const { httpStatus = null, rpcCode = null } = error instanceof RpcError ? error : {};
    const message = redact(error instanceof Error ? error.message : 'unknown error').slice(0, MAX_MESSAGE);
    const since = entry.failure?.since ?? nowMs;
    entry.error = error;
    entry.failure = { cause: findCause(error), message, httpStatus, rpcCode, since, at: nowMs };
    onFailure(entry.name, entry.failure);
  }

  function recordRecovery(entry: Entry, nowMs: number): void {
    if (entry.failure === null) return;
    const unhealthyMs = nowMs - entry.failure.since;
    [entry.failure, entry.error] = [null, null];
    onRecovery(entry.name, unhealthyMs);
  }

  /** Backs off: longer with each failure, and longest for wrong data. */
  function failed(provider: Pick<Provider, 'name'>, error: unknown, nowMs: number): void {
    const entry = find(provider);
    if (entry === undefined) return;
    recordFailure(entry, error, nowMs);
    // Lag and reorgs are normal: the others are preferred, but this provider stays available.
    if (error instanceof Lagging || error instanceof Inconsistent) {
      entry.penalty = Math.max(1, entry.penalty);
      return;
    }
    if (error instanceof WrongChain) entry.isChecked = false;
    entry.penalty = Math.min(MAX_PENALTY, entry.penalty + (error instanceof Untrusted ? WRONG_DATA_PENALTY : 1));
    const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(entry.penalty, 10));
    entry.retryAt = nowMs + backoff * (0.5 + random() / 2);
  }

  function check(entry: Entry, nowMs: number): Promise<boolean> {
    entry.checking ??= checkChainId(entry, nowMs);
    return entry.checking;
  }

  async function checkChainId(entry: Entry, nowMs: number): Promise<boolean> {
    try {
      const found = await entry.node.chainId();
      if (found !== chainId) throw new WrongChain(found);
      await requireRegistries(network, entry.node);
      entry.isChecked = true;
      const { cause } = entry.failure ?? {};
      if (cause !== undefined && (START_CAUSES.has(cause) || isConnectionCause(cause))) recordRecovery(entry, nowMs);
    } catch (error) {
      failed(entry, error, nowMs);
    } finally {
      entry.checking = null;
    }
    return entry.isChecked;
  }

  /**
   * A view of a provider that fails at once after its first timeout, so that a tick waits for it only once. It also records
   * whether the provider responds: one that is never picked would otherwise keep its last failure.
   */
  function failFast(entry: Entry, nowMs: number): Provider {
    const { name, scanner, history } = entry;
    const run = async <T>(call: () => Promise<T>): Promise<T> => {
      if (entry.retryAt > nowMs) throw new BackingOff('unreachable', `${name} is backing off`);
      try {
        const result = await call();
        const { failure } = entry;
        // Not in the tick of the failure: a provider that rejects every other call has not recovered.
        if (failure !== null && failure.at < nowMs && isConnectionCause(failure.cause)) recordRecovery(entry, nowMs);
        return result;
      } catch (error) {
        if (error instanceof RpcError && error.fault === 'unreachable') failed(entry, error, nowMs);
        else if (error instanceof RpcError && isConnectionCause(findCause(error))) recordFailure(entry, error, nowMs);
        throw error;
      }
    };
    type Method = (...args: unknown[]) => Promise<unknown>;
    const methods = Object.entries(entry.node as unknown as Record<string, Method>);
    const node = Object.fromEntries(
      methods.map(([method, call]) => [method, (...args: unknown[]) => run(() => call(...args))]),
    ) as unknown as Node;
    // A scan as a whole: it learns sizes from what the provider rejects, and backing off is no rejection.
    const guarded: Scanner = {
      ...scanner,
      fetchBlockLogs: (hash) => run(() => scanner.fetchBlockLogs(hash)),
      fetchUnchecked: (from, to) => run(() => scanner.fetchUnchecked(from, to)),
      fetchLogs: (from, to) => run(() => scanner.fetchLogs(from, to)),
    };
    return { name, node, scanner: guarded, history };
  }

  return {
    all: all as readonly PooledProvider[],
    /** The healthiest provider. Throws if none is available. */
    async pick(nowMs: number): Promise<PooledProvider> {
      const available = all.filter((entry) => entry.retryAt <= nowMs);
      available.sort((a, b) => a.penalty - b.penalty);
      for (const entry of available) {
        if (entry.isChecked || (await check(entry, nowMs))) {
          // The others are checked in the background.
          for (const other of available) if (!other.isChecked) void check(other, nowMs);
          return entry;
        }
      }
      const failures = all.map(({ name, failure }) =>
        failure === null ? `${name} is backing off` : `${name} ${failure.cause} (${failure.message})`,
      );
      throw new RpcError('unreachable', `No provider of chain ${chainId} is available: ${failures.join('; ')}`);
    },
    /** All other available providers that serve this chain. A provider that times out backs off. */
    async others(provider: PooledProvider | null, nowMs: number): Promise<Provider[]> {
      const checks = all.flatMap(({ checking }) => checking ?? []);
      if (checks.length > 0) await withTimeout(CHAIN_ID_TIMEOUT_MS, Promise.all(checks)).catch(() => {});
      return all
        .filter((entry) => entry !== provider && entry.isChecked && entry.retryAt <= nowMs)
        .map((entry) => failFast(entry, nowMs));
    },
    succeeded(provider: PooledProvider, nowMs: number): void {
      const entry = provider as Entry;
      entry.penalty = Math.max(0, entry.penalty - 1);
      recordRecovery(entry, nowMs);
    },
    failed,
    /** Those that lagged or were on another branch before `nowMs` need not be picked to be healthy again: they must have the block. */
    async clearStragglers(providers: Providers, { number, hash }: BlockId, nowMs: number): Promise<void> {
      for (const provider of providers) {
        const entry = find(provider);
        const isStraggler = (failure: ProviderFailure) => failure.at < nowMs && PASSING_CAUSES.has(failure.cause);
        if (entry?.failure == null || !isStraggler(entry.failure)) continue;
        const header = await provider.node.header(number).catch(() => null);
        if (header?.hash === hash) recordRecovery(entry, nowMs);
      }
    },
    /** The blocks above were replaced, and with them what providers have said of them. */
    replaced(above: number, nowMs: number): void {
      for (const entry of all) {
        const { failure, error } = entry;
        const isReplaced = error instanceof Untrusted && error.block !== null && error.block > above;
        // The penalty stays: a node that invents blocks causes reorgs, and must not be preferred for it.
        if (failure !== null && (isReplaced || PASSING_CAUSES.has(failure.cause))) recordRecovery(entry, nowMs);
      }
    },
    /** Removes the parts of the providers' URLs from a text. */
    redact,
  };
}
