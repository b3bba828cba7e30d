// Finds the newest block that the index and a provider have in common.

import type { BlockRef, ChainState } from '../../store/store.ts';
import { bisectLast, hasBlock } from '../compare/agreed-block.ts';
import type { FollowerContext, TickProviders } from '../compare/context.ts';
import { Inconsistent, Lagging } from '../rpc/errors.ts';
import type { Header, Node } from '../rpc/node.ts';
import type { Ancestor } from './commit.ts';
import type { FinalityViolation } from './finality-violation.ts';

/** Null if no common block is left above the verified one: the chain is halted then. */
export async function findAncestor(
  context: FollowerContext,
  violation: FinalityViolation,
  providers: TickProviders,
  state: ChainState,
  tip: Header,
): Promise<Ancestor | null> {
  const { store, network } = context;
  const { head, verified, firstBlock } = state;
  const { node } = providers.first;
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
  if (header === null) await requireOtherBranch(context, node, tip);
  await violation.report(providers, lowest, header);
  return null;
}

/** A chain that ends below the verified block is another branch only if it lacks our blocks. */
async function requireOtherBranch({ store, network }: FollowerContext, node: Node, { number }: Header): Promise<void> {
  const newest = await store.newestBlock(network.chainId, number);
  if (newest !== null && (await hasBlock(node, newest)))
    throw new Lagging(`the provider is at block ${number}, below the verified block`);
}
