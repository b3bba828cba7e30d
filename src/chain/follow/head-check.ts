// Decides whether a provider's latest block can be followed. A lower head alone is not evidence of a reorg.

import type { BlockRef, ChainState } from '../../store/store.ts';
import { hasBlock } from '../compare/agreed-block.ts';
import type { FollowerContext, TickProviders } from '../compare/context.ts';
import { Lagging, Syncing } from '../rpc/errors.ts';
import type { Header } from '../rpc/node.ts';

/**
 * After this time without a new block, the other providers are asked for one. After this time with every provider at a lower
 * head of our branch, the chain counts as shorter. Must be less than the stall timeout in run-follower.ts.
 */
const STILL_MS = 30_000;

export function createHeadCheck(context: FollowerContext) {
  const { network, store, now } = context;
  let lowerSince: number | null = null;
  let movedAt = now();

  /** Throws `Lagging` if the provider's head must not be followed now. */
  async function run(providers: TickProviders, tip: Header, { head, firstBlock }: ChainState): Promise<void> {
    if (head !== null && tip.number < head.number) await requireShorterChain(providers, tip, head, firstBlock);
    else lowerSince = null;
    if (tip.hash === head?.hash) await requireNotFrozen(providers, tip);
    else movedAt = now();
  }

  /**
   * A lower head on another branch is a reorg if no other provider has our head. A lower head on our branch means that the
   * provider lags, unless all providers have stayed there for a while.
   */
  async function requireShorterChain(
    providers: TickProviders,
    tip: Header,
    head: BlockRef,
    firstBlock: number,
  ): Promise<void> {
    const lagging =
      tip.number < firstBlock
        ? new Syncing(tip.number, firstBlock)
        : new Lagging(`the provider is at block ${tip.number}, the index is at ${head.number}`);
    const from = context.state?.verified ?? firstBlock;
    const stored = (await store.blocks(network.chainId, { from, to: tip.number })).at(-1);
    // For each other provider, whether it has our head. Null if it did not answer.
    const heads = await Promise.all(
      providers.others.map(async ({ node }) => {
        const latest = await node.header('latest').catch(() => null);
        if (latest === null || latest.number < head.number) return latest && false;
        return hasBlock(node, head).catch(() => null);
      }),
    );
    if (heads.includes(true)) throw lagging;
    if (stored !== undefined && !(await hasBlock(providers.first.node, stored))) return;
    lowerSince ??= now();
    if (now() - lowerSince < STILL_MS || heads.includes(null)) throw lagging;
  }

  /** A provider whose head does not move is healthy only if no other provider is ahead of it. */
  async function requireNotFrozen({ others }: TickProviders, tip: Header): Promise<void> {
    if (now() - movedAt < Math.max(STILL_MS, 4000 * network.blockSeconds)) return;
    movedAt = now();
    for (const { node } of others) {
      const latest = await node.header('latest').catch(() => null);
      if (latest !== null && latest.number > tip.number)
        throw new Lagging(`the provider is at block ${tip.number}, another provider is at ${latest.number}`);
    }
  }

  return { run };
}
