// Finds the newest finalized block: by the node's tag or by the configured rule, and never younger than a minimum age.

import type { Finality, Network } from '../../registry/network.ts';
import type { Header, Node } from '../rpc/node.ts';
import { RpcError } from '../rpc/rpc.ts';

/** Younger blocks are not final, even if the node says so. */
export const MIN_FINALIZED_AGE_SECONDS = 60;
/** Used if the node does not support the `finalized` tag. */
const WITHOUT_TAG: Exclude<Finality, 'tag'> = { seconds: 900 };

export async function finalizedNumber(network: Network, rule: Finality, node: Node, tip: Header): Promise<number> {
  const toBlocks = (seconds: number) => Math.ceil(seconds / network.blockSeconds);
  const newest = tip.number - toBlocks(MIN_FINALIZED_AGE_SECONDS);
  const tagged = rule === 'tag' ? await fetchFinalized(node) : null;
  if (tagged !== null) return Math.min(tagged.number, newest);
  const depth = rule === 'tag' ? WITHOUT_TAG : rule;
  return Math.min(newest, tip.number - ('blocks' in depth ? depth.blocks : toBlocks(depth.seconds)));
}

/** Null if the node does not support the tag. */
const fetchFinalized = (node: Node): Promise<Header | null> =>
  node.header('finalized').catch((error) => {
    if (error instanceof RpcError && error.fault === 'refused') return null;
    throw error;
  });
