// The providers of one chain, ordered by health. Each has a name, because its URL is a secret.

import type { Network } from '../registry/network.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { Inconsistent, Lagging, Untrusted, WrongChain } from './errors.ts';
import { createNode, type Node } from './node.ts';
import { createRedactor, type Redact } from './redact.ts';
import { registryFilter } from './registry-filter.ts';
import { createRpc, RPC_DEFAULTS, RpcError, type RpcOptions } from './rpc.ts';
import { createScanner, type Scanner } from './scanner.ts';

export interface Provider {
  /** For logs and metrics: chain id and position in the configuration, as in `1/2`. */
  readonly name: string;
  readonly node: Node;
  readonly scanner: Scanner;
}

export interface PooledProvider extends Provider {
  /** 0 is healthy. A failure raises it, a success lowers it. */
  readonly penalty: number;
  /** Not used before this time. Milliseconds, by the clock of `pick`. */
  readonly retryAt: number;
  /** The last failure, in words that are safe to publish. Null while healthy. */
  readonly failure: string | null;
}

export interface ProviderPool {
  readonly all: readonly PooledProvider[];
  /** The healthiest provider. Throws if none is available. */
  pick(nowMs: number): Promise<PooledProvider>;
  /** All other available providers that serve this chain. A provider that times out backs off. */
  others(provider: PooledProvider | null, nowMs: number): Promise<Provider[]>;
  succeeded(provider: PooledProvider): void;
  /** Backs off: longer with each failure, and longest for wrong data. */
  failed(provider: Pick<Provider, 'name'>, error: unknown, nowMs: number): void;
  /** Removes the parts of the providers' URLs from a text. */
  readonly redact: Redact;
}

/** Short, because a chain's only provider must be tried again soon. */
const MAX_BACKOFF_MS = 15_000;
const FIRST_BACKOFF_MS = 250;
const MAX_PENALTY = 16;
const WRONG_DATA_PENALTY = 4;
/** How long to wait for the first chain-id check of the other providers. */
const CHAIN_ID_TIMEOUT_MS = 1000;

type Entry = { -readonly [Key in keyof PooledProvider]: PooledProvider[Key] } & {
  /** Whether the provider's chain id was checked, and is right. */
  isChecked: boolean;
  /** The chain-id check in progress. */
  checking: Promise<boolean> | null;
};

export function createProviderPool(
  network: Network,
  urls: readonly string[],
  options: Partial<RpcOptions> = {},
  random: () => number = Math.random,
): ProviderPool {
  const { chainId } = network;
  const filter = registryFilter(network);
  const all = urls.map((url, position): Entry => {
    const node = createNode(createRpc(url, { ...RPC_DEFAULTS, ...options }));
    return {
      name: `${chainId}/${position + 1}`,
      node,
      scanner: createScanner(node, filter),
      penalty: 0,
      retryAt: 0,
      failure: null,
      isChecked: false,
      checking: null,
    };
  });

  function failed({ name }: Pick<Provider, 'name'>, error: unknown, nowMs: number): void {
    const entry = all.find((provider) => provider.name === name);
    if (entry === undefined) return;
    entry.failure = describeFailure(error);
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
      entry.isChecked = true;
    } catch (error) {
      failed(entry, error, nowMs);
    } finally {
      entry.checking = null;
    }
    return entry.isChecked;
  }

  /** A view of a provider that fails at once after its first timeout, so that a tick waits for it only once. */
  function failFast({ name, node, scanner }: Entry, nowMs: number): Provider {
    const run = async (call: () => Promise<unknown>) => {
      if ((all.find((entry) => entry.name === name)?.retryAt ?? 0) > nowMs)
        throw new RpcError('unreachable', `${name} is backing off`);
      try {
        return await call();
      } catch (error) {
        if (error instanceof RpcError && error.fault === 'unreachable') failed({ name }, error, nowMs);
        throw error;
      }
    };
    type Method = (...args: unknown[]) => Promise<unknown>;
    const wrap = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(of, key) {
          const member = of[key as keyof T];
          return typeof member === 'function'
            ? (...args: unknown[]) => run(() => (member as unknown as Method)(...args))
            : member;
        },
      });
    return { name, node: wrap(node), scanner: wrap(scanner) };
  }

  return {
    all,
    async pick(nowMs) {
      const available = all.filter((entry) => entry.retryAt <= nowMs);
      available.sort((a, b) => a.penalty - b.penalty);
      for (const entry of available) {
        if (entry.isChecked || (await check(entry, nowMs))) {
          // The others are checked in the background.
          for (const other of available) if (!other.isChecked) void check(other, nowMs);
          return entry;
        }
      }
      const failures = all.map(({ name, failure }) => `${name} ${failure ?? 'is backing off'}`).join(', ');
      throw new RpcError('unreachable', `No provider of chain ${chainId} is available: ${failures}`);
    },
    async others(provider, nowMs) {
      const checks = all.flatMap(({ checking }) => checking ?? []);
      if (checks.length > 0) await withTimeout(CHAIN_ID_TIMEOUT_MS, Promise.all(checks)).catch(() => {});
      return all
        .filter((entry) => entry !== provider && entry.isChecked && entry.retryAt <= nowMs)
        .map((entry) => failFast(entry, nowMs));
    },
    succeeded(provider) {
      const entry = provider as Entry;
      entry.penalty = Math.max(0, entry.penalty - 1);
      entry.failure = null;
    },
    failed,
    redact: createRedactor(urls),
  };
}

const RPC_FAILURES = {
  unreachable: 'is unreachable',
  refused: 'returned an error',
  malformed: 'returned an invalid response',
} as const;

function describeFailure(error: unknown): string {
  if (error instanceof RpcError) return RPC_FAILURES[error.fault];
  if (error instanceof Lagging) return 'is behind';
  if (error instanceof Untrusted) return 'returned wrong data';
  if (error instanceof WrongChain) return `serves chain ${error.chainId}`;
  return error instanceof Inconsistent ? 'returned inconsistent data' : 'returned an invalid response';
}
