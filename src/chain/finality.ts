// Which blocks count as final: by the node or by our own rule, whichever is more careful.

import type { Finality, Network } from '../registry/network.ts';
import type { Header, Node } from './node.ts';
import { RpcError } from './rpc.ts';

/** Blocks younger than this are never final, whatever the node says. */
export const MIN_FINALIZED_AGE_SECONDS = 60;
/** Where the node has no finalized block. */
const WITHOUT_TAG: Exclude<Finality, 'tag'> = { seconds: 900 };

/** The newest final block's number. */
export async function finalizedNumber(network: Network, rule: Finality, node: Node, tip: Header): Promise<number> {
  const depth = (seconds: number) => Math.ceil(seconds / network.blockSeconds);
  const youngest = tip.number - depth(MIN_FINALIZED_AGE_SECONDS);
  const tag = rule === 'tag' ? await finalizedBy(node) : null;
  if (tag !== null) return Math.min(tag.number, youngest);
  const own = rule === 'tag' ? WITHOUT_TAG : rule;
  return Math.min(youngest, tip.number - ('blocks' in own ? own.blocks : depth(own.seconds)));
}

/** Null where the node does not know the tag. */
const finalizedBy = (node: Node): Promise<Header | null> =>
  node.header('finalized').catch((error) => {
    if (error instanceof RpcError && error.fault === 'refused') return null;
    throw error;
  });
