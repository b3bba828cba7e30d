// Decides whether a provider's latest block can be followed, and finds the newest block that the index has in common with it. A lower
// head alone is not evidence of a reorg.

import type { BlockRef, ChainState } from '../../store/store.ts';
import { bisectLast, hasBlock, headersAt } from '../compare/agreed-block.ts';
import type { Context } from '../compare/context.ts';
import { Inconsistent, Lagging, Syncing } from '../rpc/errors.ts';
import type { Header, Node } from '../rpc/node.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import type { Ancestor } from './commit.ts';
import type { FinalityViolation } from './finality-violation.ts';

/**
 * After this time without a new block, the other providers are asked for one. After this time with every provider at a lower
 * head of our branch, the chain counts as shorter. Must be less than the stall timeout in run-follower.ts.
 */
const STILL_MS = 30_000;

export function createHeadCheck(context: Context, violation: FinalityViolation) {
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
  async function requireShorterChain(providers: TickProviders, tip: Header, head: BlockRef, firstBlock: number) {
    const lagging =
      tip.number < firstBlock
        ? new Syncing(tip.number, firstBlock)
        : new Lagging(`the provider is at block ${tip.number}, the index is at ${head.number}`);
    const from = context.state?.verified ?? firstBlock;
    const stored = (await store.blocks(network.chainId, { from, to: tip.number })).at(-1);
    // For each other provider, whether it has our head. Null if it did not answer.
    const heads = await Promise.all(
      providers.slice(1).map(async ({ node }) => {
        const latest = await node.header('latest').catch(() => null);
        if (latest === null || latest.number < head.number) return latest && false;
        return hasBlock(node, head).catch(() => null);
      }),
    );
    if (heads.includes(true)) throw lagging;
    if (stored !== undefined && !(await hasBlock(providers[0].node, stored))) return;
    lowerSince ??= now();
    if (now() - lowerSince < STILL_MS || heads.includes(null)) throw lagging;
  }

  /** A provider whose head does not move is healthy only if no other provider is ahead of it. */
  async function requireNotFrozen([, ...others]: TickProviders, tip: Header): Promise<void> {
    if (now() - movedAt < Math.max(STILL_MS, 4000 * network.blockSeconds)) return;
    movedAt = now();
    const ahead = (await headersAt(others, 'latest')).find((latest) => latest !== null && latest.number > tip.number);
    if (ahead) throw new Lagging(`the provider is at block ${tip.number}, another provider is at ${ahead.number}`);
  }

  /** Null if no common block is left above the verified one: the chain is halted then. */
  async function findAncestor(providers: TickProviders, state: ChainState, tip: Header): Promise<Ancestor | null> {
    const { head, verified, firstBlock } = state;
    const { node } = providers[0];
    if (head === null) return { number: firstBlock - 1, hash: null };
    if (tip.hash === head.hash || (tip.number === head.number + 1 && tip.parentHash === head.hash)) return head;
    const isCommon = async (block: BlockRef) => {
      if (block.number > tip.number) return false;
      const header = block.number === tip.number ? tip : await node.header(block.number);
      if (header === null)
        throw new Inconsistent(`the provider is at block ${tip.number} but does not have block ${block.number}`);
      return header.hash === block.hash;
    };
    if (await isCommon(head)) return head;
    const stored = await store.blocks(network.chainId, { from: verified ?? firstBlock, to: head.number - 1 });
    const found = stored[await bisectLast(stored.length, (position) => isCommon(stored[position] as BlockRef))];
    if (found !== undefined) return found;
    const [lowest] = stored;
    if (verified === null) return { number: firstBlock - 1, hash: null };
    const header = await node.header(verified);
    if (lowest === undefined || (header === null && tip.number >= verified) || header?.hash === lowest.hash) {
      throw new Inconsistent('the chain changed during the search for the common ancestor');
    }
    if (header === null) await requireOtherBranch(node, tip);
    await violation.report(providers, lowest, header);
    return null;
  }

  /** A chain that ends below the verified block is another branch only if it lacks our blocks. */
  async function requireOtherBranch(node: Node, { number }: Header): Promise<void> {
    const newest = await store.newestBlock(network.chainId, number);
    if (newest !== null && (await hasBlock(node, newest)))
      throw new Lagging(`the provider is at block ${number}, below the verified block`);
  }

  return { run, findAncestor };
}
