// The nodes of one chain, the healthiest first. A name stands for each of them: their URLs are secrets.

import { Inconsistent, Lagging, Untrusted } from './errors.ts';
import { createNode, type Node } from './node.ts';
import { createRpc, type Redact, RPC_DEFAULTS, RpcError, type RpcOptions, redactor } from './rpc.ts';

export interface Provider {
  /** What logs and metrics call it. */
  readonly name: string;
  readonly node: Node;
  /** 0 is healthy; each failure adds, each success takes away. */
  readonly penalty: number;
  /** Milliseconds before which it is left alone, by the clock of `pick`. */
  readonly restsUntil: number;
  /** What is wrong with it, in our own words; null while it is well. */
  readonly ailment: string | null;
}

export interface Providers {
  readonly all: readonly Provider[];
  /** The healthiest one whose chain id is right; throws where there is none for now. */
  pick(nowMs: number): Promise<Provider>;
  /** Those besides one that are known to be of this chain. One that does not answer is left alone from then on. */
  others(provider: Provider, nowMs: number): Node[];
  succeeded(provider: Provider): void;
  /** What went wrong while it was asked: it is left alone for a while, longer each time and longer for a lie. */
  failed(provider: Provider, error: unknown, nowMs: number): void;
  /** A text of a node's without anything that its URL is made of. */
  readonly redact: Redact;
}

/** The last node of a chain must not be left alone for long: without it there is no news at all. */
const LONGEST_REST_MS = 15_000;
const FIRST_REST_MS = 250;
const LIE = 4;
/** What serves another chain is asked so seldom whether it still does. */
const ANOTHER_CHAIN_MS = 600_000;

type Mutable = { -readonly [Key in keyof Provider]: Provider[Key] } & {
  of: 'unknown' | 'this chain';
  checking: boolean;
};

export function createProviders(
  chainId: number,
  urls: readonly string[],
  options: Partial<RpcOptions> = {},
  random: () => number = Math.random,
): Providers {
  const all = urls.map(
    (url, position): Mutable => ({
      name: `${chainId}/${position + 1}`,
      node: createNode(createRpc(url, { ...RPC_DEFAULTS, ...options })),
      penalty: 0,
      restsUntil: 0,
      ailment: null,
      of: 'unknown',
      checking: false,
    }),
  );

  function failed(provider: Provider, error: unknown, nowMs: number): void {
    const one = provider as Mutable;
    one.ailment = ailmentOf(error);
    // Behind the others, or in the middle of a reorg, is no fault: they are asked first, and it is not left alone.
    if (error instanceof Lagging || error instanceof Inconsistent) {
      one.penalty = Math.max(1, one.penalty);
      return;
    }
    one.penalty = Math.min(16, one.penalty + (error instanceof Untrusted ? LIE : 1));
    const rest = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(one.penalty, 10));
    one.restsUntil = nowMs + rest * (0.5 + random() / 2);
  }

  async function check(one: Mutable, nowMs: number): Promise<boolean> {
    one.checking = true;
    try {
      const found = await one.node.chainId();
      one.of = found === chainId ? 'this chain' : 'unknown';
      if (found !== chainId) {
        one.ailment = `serves chain ${found}`;
        one.restsUntil = nowMs + ANOTHER_CHAIN_MS;
      }
    } catch (error) {
      failed(one, error, nowMs);
    } finally {
      one.checking = false;
    }
    return one.of === 'this chain';
  }

  /** The node of one that is asked besides: after its first silence it is not waited for again. */
  function watched(one: Mutable, nowMs: number): Node {
    const ask = async (call: () => Promise<unknown>) => {
      if (one.restsUntil > nowMs) throw new RpcError('unreachable', `${one.name} rests`);
      try {
        return await call();
      } catch (error) {
        if (error instanceof RpcError && error.fault === 'unreachable') failed(one, error, nowMs);
        throw error;
      }
    };
    type Method = (...args: unknown[]) => Promise<unknown>;
    const methods = Object.entries(one.node as unknown as Record<string, Method>);
    return Object.fromEntries(
      methods.map(([name, method]) => [name, (...args: unknown[]) => ask(() => method(...args))]),
    ) as unknown as Node;
  }

  return {
    all,
    async pick(nowMs) {
      const rested = all.filter((one) => one.restsUntil <= nowMs);
      rested.sort((a, b) => a.penalty - b.penalty);
      for (const one of rested) {
        if (one.of === 'this chain' || (await check(one, nowMs))) {
          // The others are needed now and then: whose they are is found out meanwhile.
          for (const other of rested) if (other.of === 'unknown' && !other.checking) void check(other, nowMs);
          return one;
        }
      }
      const why = all.map(({ name, ailment }) => `${name} ${ailment ?? 'rests'}`).join(', ');
      throw new RpcError('unreachable', `No node of chain ${chainId} can be asked now: ${why}`);
    },
    others: (provider, nowMs) =>
      all
        .filter((one) => one !== provider && one.of === 'this chain' && one.restsUntil <= nowMs)
        .map((one) => watched(one, nowMs)),
    succeeded(provider) {
      const one = provider as Mutable;
      one.penalty = Math.max(0, one.penalty - 1);
      one.ailment = null;
    },
    failed,
    redact: redactor(urls),
  };
}

const AILMENTS = {
  unreachable: 'does not answer',
  refused: 'refuses',
  malformed: 'answers what makes no sense',
} as const;

function ailmentOf(error: unknown): string {
  if (error instanceof RpcError) return AILMENTS[error.fault];
  if (error instanceof Lagging) return 'is behind';
  if (error instanceof Untrusted) return 'lacks what it should have';
  return error instanceof Inconsistent ? 'is changing' : 'sends what makes no sense';
}
