// Whether the blocks of a chain can be proven against their hashes. Where that is not known, it is found out by trying.

import type { Network } from '../../registry/network.ts';
import type { Header } from '../rpc/node.ts';
import type { Provider, Providers } from '../rpc/provider-pool.ts';
import { proveLogs, requireRoots, rootsOf } from './block.ts';

/** A chain that could not be proven is tried again after this time: its nodes may have lied, or may be updated. */
const RETRY_MS = 600_000;

/** `unclear`: not all providers have the block, so that it is tried again with the next one. */
type Outcome = 'yes' | 'no' | 'unclear';

export function createProvability(
  network: Network,
  providerCount: number,
  now: () => number,
  onChange: (isProven: boolean) => void,
) {
  let isProven = network.provable ?? null;
  let tryAt = Number.NEGATIVE_INFINITY;

  const set = (value: boolean) => {
    if (value !== isProven) onChange(value);
    isProven = value;
    if (!value) tryAt = now() + RETRY_MS;
  };
  /** Anybody can make a header that comes out, so the others must have the block too. */
  const canProve = async ({ node }: Provider, others: Providers, tip: Header | null): Promise<Outcome> => {
    const header = tip ?? (await node.header('latest'));
    if (header === null || rootsOf(header) === null) return 'no';
    if (others.length === 0 && providerCount > 1) return 'unclear';
    const theirs = await Promise.all(others.map((other) => other.node.headerOf(header.hash).catch(() => null)));
    if (theirs.includes(null)) return 'unclear';
    await proveLogs({ ...network, bloom: false }, node, header);
    return 'yes';
  };

  return {
    /** True: what a block contains is computed from its hash. False: providers are only compared. */
    get isProven(): boolean {
      return isProven ?? false;
    },
    /** Tries with the newest block of each provider that all others have too, if it is not known yet. */
    async learn(providers: Providers, tip: Header, wasProven: boolean): Promise<void> {
      if (network.provable !== undefined || isProven || now() < tryAt) return;
      if (isProven === null && wasProven) return set(true);
      const outcomes: Outcome[] = [];
      for (const provider of providers) {
        const others = providers.filter((other) => other !== provider);
        const own = provider === providers[0] ? tip : null;
        const outcome = await canProve(provider, others, own).catch((): Outcome => 'no');
        if (outcome === 'yes') return set(true);
        outcomes.push(outcome);
      }
      if (!outcomes.includes('unclear')) set(false);
    },
    /** Throws `Untrusted` for a header that must hash to its hash and does not. */
    requireHeaders(headers: readonly Header[]): void {
      if (isProven) for (const header of headers) requireRoots(header);
    },
    /** No configured provider has receipts that give the root of a block. A single one may only be lying. */
    failed(): void {
      if (network.provable === undefined && providerCount > 1) set(false);
    },
  };
}
