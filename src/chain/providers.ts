// The nodes of one chain, the healthiest first. A name stands for each of them: their URLs are secrets.

import { createNode, type Node } from './node.ts';
import { createRpc, RPC_DEFAULTS, RpcError, type RpcOptions } from './rpc.ts';

export interface Provider {
  /** What logs and metrics call it. */
  readonly name: string;
  readonly node: Node;
  /** 0 is healthy; each failure adds, each success takes away. */
  readonly penalty: number;
  /** Milliseconds before which it is left alone, by the clock of `pick`. */
  readonly restsUntil: number;
  /** Why it failed the last time. */
  readonly trouble: string | null;
}

export interface Providers {
  readonly all: readonly Provider[];
  /** The healthiest one whose chain id is right; throws where there is none for now. */
  pick(nowMs: number): Promise<Provider>;
  succeeded(provider: Provider): void;
  /** Left alone for a while: longer each time, and longer for a lie, whose `weight` is more than 1. */
  failed(provider: Provider, error: unknown, nowMs: number, weight?: number): void;
  /** Behind the others, which is no fault: they are asked first, and it is not left alone. */
  lagged(provider: Provider, error: unknown): void;
}

/** The last node of a chain must not be left alone for long: without it there is no news at all. */
const LONGEST_REST_MS = 15_000;
const FIRST_REST_MS = 250;

type Mutable = { -readonly [Key in keyof Provider]: Provider[Key] } & { checked: boolean; wrongChain: boolean };

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
      trouble: null,
      checked: false,
      wrongChain: false,
    }),
  );

  function failed(provider: Provider, error: unknown, nowMs: number, weight = 1): void {
    const one = provider as Mutable;
    one.penalty = Math.min(16, one.penalty + weight);
    one.trouble = error instanceof Error ? error.message : String(error);
    const rest = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.min(one.penalty, 10));
    one.restsUntil = nowMs + rest * (0.5 + random() / 2);
  }

  return {
    all,
    async pick(nowMs) {
      const rested = all.filter((one) => !one.wrongChain && one.restsUntil <= nowMs);
      for (const one of rested.sort((a, b) => a.penalty - b.penalty)) {
        if (one.checked) return one;
        try {
          const found = await one.node.chainId();
          one.checked = true;
          if (found === chainId) return one;
          one.wrongChain = true;
          one.trouble = `serves chain ${found}, not ${chainId}`;
        } catch (error) {
          failed(one, error, nowMs);
        }
      }
      const why = all.map(({ name, trouble }) => `${name}: ${trouble ?? 'rests'}`).join('; ');
      throw new RpcError('unreachable', `No provider of chain ${chainId} can be asked now (${why})`);
    },
    succeeded(provider) {
      const one = provider as Mutable;
      one.penalty = Math.max(0, one.penalty - 1);
      one.trouble = null;
    },
    failed,
    lagged(provider, error) {
      const one = provider as Mutable;
      one.penalty = Math.max(1, one.penalty);
      one.trouble = (error as Error).message;
    },
  };
}
