// Verifies the window, which is all blocks above the verified one: reads it again from every provider, and advances the
// verified block to the newest finalized block that is unchanged.

import type { Finality, Network } from '../../registry/network.ts';
import { findOther, requireBlock } from '../compare/agreed-block.ts';
import { compareBlocks } from '../compare/compare-blocks.ts';
import type { Context } from '../compare/context.ts';
import type { Revocations } from '../revocations/revocations.ts';
import type { Header, Node } from '../rpc/node.ts';
import type { TickProviders } from '../rpc/provider-pool.ts';
import { nullIfRefused } from '../rpc/rpc.ts';

const VERIFY_EVERY_MS = 60_000;

export function createWindow(context: Context, revocations: Revocations) {
  const { network, store, finality, now } = context;
  const { chainId } = network;
  let verifiedAt = Number.NEGATIVE_INFINITY;

  /** Does nothing if the last verification was less than a minute ago. */
  async function verify(providers: TickProviders, tip: Header): Promise<void> {
    if (context.state?.head == null || now() - verifiedAt < VERIFY_EVERY_MS) return;
    const { node } = providers[0];
    const { head, verified, firstBlock } = context.state;
    const floor = verified ?? firstBlock - 1;
    const finalized = await finalizedNumber(network, finality, node, tip);
    const stored = await store.blocks(chainId, { from: Math.max(0, floor), to: head.number });
    const candidate = stored.findLast(
      ({ number, timestamp }) => number <= finalized && timestamp <= tip.timestamp - MIN_FINALIZED_AGE_SECONDS,
    );
    // The candidate's hash is checked before and after the logs are read, and no other provider may have another block there.
    if (candidate !== undefined) await requireBlock(node, candidate);
    const range = [floor + 1, head.number] as const;
    const result = await compareBlocks(context, providers, head, ...range, providers[0]);
    if (!result.isComplete) return;
    await revocations.verify(providers, ...range);
    const isAgreed = candidate !== undefined && (await findOther(providers.slice(1), candidate, stored)) === null;
    if (candidate !== undefined && candidate.number > floor && isAgreed) {
      await requireBlock(node, candidate);
      await context.commit(({ epoch, head: after }) =>
        store.apply({ chainId, epoch, after, blocks: [], head: after ?? head, verified: candidate.number }),
      );
      // If a second provider has confirmed all earlier blocks, it has now confirmed these too.
      const isConfirmed = result.providers > 1 && (context.state.agreedBlock ?? firstBlock - 1) >= floor;
      if (isConfirmed) await context.report({ agreedBlock: candidate.number });
    }
    verifiedAt = now();
  }

  return { verify };
}

/** Younger blocks are not final, even if the node says so. */
export const MIN_FINALIZED_AGE_SECONDS = 60;
/** Used if the node does not support the `finalized` tag. */
const WITHOUT_TAG: Exclude<Finality, 'tag'> = { seconds: 900 };

export async function finalizedNumber(network: Network, rule: Finality, node: Node, tip: Header): Promise<number> {
  const toBlocks = (seconds: number) => Math.ceil(seconds / network.blockSeconds);
  const newest = tip.number - toBlocks(MIN_FINALIZED_AGE_SECONDS);
  const tagged = rule === 'tag' ? await node.header('finalized').catch(nullIfRefused) : null;
  if (tagged !== null) return Math.min(tagged.number, newest);
  const depth = rule === 'tag' ? WITHOUT_TAG : rule;
  return Math.min(newest, tip.number - ('blocks' in depth ? depth.blocks : toBlocks(depth.seconds)));
}
