// Claims a chain in the store when a follower starts, and finds its first block if the chain is new.

import { allProviders, type FollowerContext, type TickProviders } from '../compare/context.ts';
import { findFirstBlock } from './first-block.ts';

export async function claimChain(
  context: FollowerContext,
  providers: TickProviders,
  configuredFirstBlock: number | undefined,
): Promise<void> {
  const { network, store } = context;
  const stored = await store.chain(network.chainId);
  // An unfinished import owns the chain: a claim would end it.
  if (stored?.halt?.code === 'import-unfinished') return;
  const { first, partial } = stored
    ? { first: stored.firstBlock, partial: stored.partial }
    : await findFirstBlock(network, allProviders(providers), configuredFirstBlock);
  const { halt } = await context.claim(first, partial);
  // Repeated on every start, so that it is in the current log.
  if (halt !== null) context.reportHalt(halt);
}
