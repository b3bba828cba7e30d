// The nodes of one chain, the healthiest first. A name stands for each of them: their URLs are secrets.

import { Inconsistent, Lagging, Untrusted } from './errors.ts';
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
  /** What is wrong with it, in our own words; null while it is well. */
  readonly ailment: string | null;
}

export interface Providers {
  readonly all: readonly Provider[];
  /** The healthiest one whose chain id is right; throws where there is none for now. */
  pick(nowMs: number): Promise<Provider>;
  /** Those besides one that are known to be of this chain. */
  others(provider: Provider): Node[];
  succeeded(provider: Provider): void;
  /** What went wrong while it was asked: it is left alone for a while, longer each time and longer for a lie. */
  failed(provider: Provider, error: unknown, nowMs: number): void;
  /** A text of a node's without anything that its URL is made of. */
  redact(text: string): string;
}

/** The last node of a chain must not be left alone for long: without it there is no news at all. */
const LONGEST_REST_MS = 15_000;
const FIRST_REST_MS = 250;
const LIE = 4;

type Mutable = { -readonly [Key in keyof Provider]: Provider[Key] } & {
  of: 'unknown' | 'this chain' | 'another chain';
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
  const secrets = secretsOf(urls);

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
      one.of = found === chainId ? 'this chain' : 'another chain';
      if (found !== chainId) one.ailment = `serves chain ${found}`;
    } catch (error) {
      failed(one, error, nowMs);
    } finally {
      one.checking = false;
    }
    return one.of === 'this chain';
  }

  return {
    all,
    async pick(nowMs) {
      const rested = all.filter((one) => one.of !== 'another chain' && one.restsUntil <= nowMs);
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
    others: (provider) => all.filter((one) => one !== provider && one.of === 'this chain').map(({ node }) => node),
    succeeded(provider) {
      const one = provider as Mutable;
      one.penalty = Math.max(0, one.penalty - 1);
      one.ailment = null;
    },
    failed,
    redact: (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text),
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

/** Everything in the URLs that may be a key, or lead to one; the longest first. */
function secretsOf(urls: readonly string[]): string[] {
  const parts = urls.flatMap((text) => {
    const url = new URL(text);
    const values = [...url.searchParams.values(), ...url.pathname.split('/'), url.username, url.password];
    return [text, url.host, url.hostname, ...values.map((part) => decodeURIComponent(part))];
  });
  return [...new Set(parts)].filter((part) => part.length >= 4).sort((a, b) => b.length - a.length);
}
