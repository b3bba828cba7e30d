// The providers of one chain, the healthiest first. A name stands for each of them: their URLs are secrets.

import type { Network } from '../registry/network.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { Inconsistent, Lagging, Untrusted, WrongChain } from './errors.ts';
import { createNode, type Node } from './node.ts';
import { registryFilter } from './registry-filter.ts';
import { createRedactor, createRpc, type Redact, RPC_DEFAULTS, RpcError, type RpcOptions } from './rpc.ts';
import { createScanner, type Scanner } from './scanner.ts';

/** Where something can be asked. */
export interface Provider {
  /** What logs and metrics call it. */
  readonly name: string;
  readonly node: Node;
  readonly scanner: Scanner;
}

export interface PooledProvider extends Provider {
  /** 0 is healthy; each failure adds, each success takes away. */
  readonly penalty: number;
  /** Milliseconds before which it is left alone, by the clock of `pick`. */
  readonly retryAt: number;
  /** What is wrong with it, in our own words; null while it is well. */
  readonly failure: string | null;
}

export interface ProviderPool {
  readonly all: readonly PooledProvider[];
  /** The healthiest one; throws where there is none for now. */
  pick(nowMs: number): Promise<PooledProvider>;
  /** Those besides one that are known to be of this chain. One that does not answer is left alone from then on. */
  others(provider: PooledProvider | null, nowMs: number): Promise<Provider[]>;
  succeeded(provider: PooledProvider): void;
  /** What went wrong while it was asked: it is left alone for a while, longer each time and longer for a lie. */
  failed(source: Pick<Provider, 'name'>, error: unknown, nowMs: number): void;
  /** A text of a node's without anything that its URL is made of. */
  readonly redact: Redact;
}

/** The last provider of a chain must not be left alone for long: without it there is no news at all. */
const LONGEST_REST_MS = 15_000;
const FIRST_REST_MS = 250;
const LIE = 4;
/** Those that were never heard of are waited for so long: what one provider says is compared with what they say. */
const FIRST_WORD_MS = 1000;

type Mutable = { -readonly [Key in keyof PooledProvider]: PooledProvider[Key] } & {
  of: 'unknown' | 'this chain';
  /** Under way: whose chain it serves. */
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
  const all = urls.map((url, position): Mutable => {
    const node = createNode(createRpc(url, { ...RPC_DEFAULTS, ...options }));
    return {
      name: `${chainId}/${position + 1}`,
      node,
      scanner: createScanner(node, filter),
      penalty: 0,
      retryAt: 0,
      failure: null,
      of: 'unknown',
      checking: null,
    };
  });

  function failed({ name }: Pick<Provider, 'name'>, error: unknown, nowMs: number): void {
    const one = all.find((provider) => provider.name === name);
    if (one === undefined) return;
    one.failure = failureOf(error);
    // Behind the others, or in the middle of a reorg, is no fault: they are asked first, and it is not left alone.
    if (error instanceof Lagging || error instanceof Inconsistent) {
      one.penalty = Math.max(1, one.penalty);
      return;
    }
    if (error instanceof WrongChain) one.of = 'unknown';
    one.penalty = Math.min(16, one.penalty + (error instanceof Untrusted ? LIE : 1));
    const rest = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(one.penalty, 10));
    one.retryAt = nowMs + rest * (0.5 + random() / 2);
  }

  function check(one: Mutable, nowMs: number): Promise<boolean> {
    one.checking ??= askChainId(one, nowMs);
    return one.checking;
  }

  async function askChainId(one: Mutable, nowMs: number): Promise<boolean> {
    try {
      const found = await one.node.chainId();
      if (found !== chainId) throw new WrongChain(found);
      one.of = 'this chain';
    } catch (error) {
      failed(one, error, nowMs);
    } finally {
      one.checking = null;
    }
    return one.of === 'this chain';
  }

  /** One that is asked besides: after its first silence it is not waited for again. */
  function watched({ name, node, scanner }: Mutable, nowMs: number): Provider {
    const ask = async (call: () => Promise<unknown>) => {
      if ((all.find((one) => one.name === name)?.retryAt ?? 0) > nowMs)
        throw new RpcError('unreachable', `${name} rests`);
      try {
        return await call();
      } catch (error) {
        if (error instanceof RpcError && error.fault === 'unreachable') failed({ name }, error, nowMs);
        throw error;
      }
    };
    type Method = (...args: unknown[]) => Promise<unknown>;
    const watch = <T extends object>(of: T): T =>
      new Proxy(of, {
        get(target, key) {
          const member = target[key as keyof T];
          return typeof member === 'function'
            ? (...args: unknown[]) => ask(() => (member as unknown as Method)(...args))
            : member;
        },
      });
    return { name, node: watch(node), scanner: watch(scanner) };
  }

  return {
    all,
    async pick(nowMs) {
      const rested = all.filter((one) => one.retryAt <= nowMs);
      rested.sort((a, b) => a.penalty - b.penalty);
      for (const one of rested) {
        if (one.of === 'this chain' || (await check(one, nowMs))) {
          // Whose the others are is found out meanwhile.
          for (const other of rested) if (other.of === 'unknown') void check(other, nowMs);
          return one;
        }
      }
      const why = all.map(({ name, failure }) => `${name} ${failure ?? 'rests'}`).join(', ');
      throw new RpcError('unreachable', `No node of chain ${chainId} can be asked now: ${why}`);
    },
    async others(provider, nowMs) {
      const checks = all.flatMap(({ checking }) => checking ?? []);
      if (checks.length > 0) await withTimeout(FIRST_WORD_MS, Promise.all(checks)).catch(() => {});
      return all
        .filter((one) => one !== provider && one.of === 'this chain' && one.retryAt <= nowMs)
        .map((one) => watched(one, nowMs));
    },
    succeeded(provider) {
      const one = provider as Mutable;
      one.penalty = Math.max(0, one.penalty - 1);
      one.failure = null;
    },
    failed,
    redact: createRedactor(urls),
  };
}

const AILMENTS = {
  unreachable: 'does not answer',
  refused: 'refuses',
  malformed: 'answers what makes no sense',
} as const;

function failureOf(error: unknown): string {
  if (error instanceof RpcError) return AILMENTS[error.fault];
  if (error instanceof Lagging) return 'is behind';
  if (error instanceof Untrusted) return 'lacks what it should have';
  if (error instanceof WrongChain) return `serves chain ${error.chainId}`;
  return error instanceof Inconsistent ? 'is changing' : 'sends what makes no sense';
}
