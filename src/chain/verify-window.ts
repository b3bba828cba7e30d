// All that is not final yet, read once more by every provider. What has become final by then, and is as we have it, counts as
// verified.

import type { BlockRef } from '../store/store.ts';
import { compareBlocks } from './compare-blocks.ts';
import { allProviders, type FollowerContext, type TickProviders } from './context.ts';
import { Inconsistent } from './errors.ts';
import { finalizedNumber, MIN_FINALIZED_AGE_SECONDS } from './finality.ts';
import { hasBlock } from './find-block.ts';
import type { Header } from './node.ts';
import type { Revocations } from './revocations.ts';

/** The whole window is read again so often. */
const WINDOW_MS = 60_000;

export async function verifyWindow(
  context: FollowerContext,
  revocations: Revocations,
  sources: TickProviders,
  tip: Header,
): Promise<void> {
  const { network, store, finality, now } = context;
  const { chainId } = network;
  if (context.state?.head == null || now() - context.windowVerifiedAt < WINDOW_MS) return;
  const { node } = sources.first;
  const { head, verified, firstBlock } = context.state;
  const floor = verified ?? firstBlock - 1;
  const final = await finalizedNumber(network, finality, node, tip);
  const kept = await store.blocks(chainId, { from: Math.max(0, floor), to: head.number });
  const candidate = kept.findLast(
    ({ number, timestamp }) => number <= final && timestamp <= tip.timestamp - MIN_FINALIZED_AGE_SECONDS,
  );
  const isStill = (block: BlockRef) => hasBlock(node, block);
  if (candidate !== undefined && !(await isStill(candidate))) throw new Inconsistent('the window is changing');
  const {
    isWhole,
    repaired,
    sources: compared,
  } = await compareBlocks(context, allProviders(sources), head, floor + 1, head.number, sources.first);
  if (repaired > 0) revocations.wake();
  if (!isWhole) return;
  await revocations.verify(sources, floor + 1, head.number);
  if (candidate !== undefined && candidate.number > floor) {
    if (!(await isStill(candidate))) throw new Inconsistent('the window is changing');
    await context.commit(({ epoch, head: after }) =>
      store.apply({ chainId, epoch, after, blocks: [], head: after ?? head, verified: candidate.number }),
    );
    // Where all before is confirmed by a second provider, so is this now.
    if (compared > 1 && (context.state.confirmed ?? firstBlock - 1) >= floor)
      await context.commit(async ({ epoch }) => ({
        state: await store.report(chainId, epoch, { confirmed: candidate.number }),
      }));
  }
  context.windowVerifiedAt = now();
}
