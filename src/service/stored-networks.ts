// The networks that the store has and the table has not. Only the process that follows such a chain is told what it is; the others read it here.

import { parseNetwork } from '../registry/custom-network.ts';
import { addNetworks, NETWORKS } from '../registry/network.ts';
import type { ChainState } from '../store/store.ts';

/** Adds them to the table. What an index was built with counts, whatever the environment of this process says. */
export function learnNetworks(
  states: readonly Pick<ChainState, 'chainId' | 'network'>[],
  undo: DisposableStack = new DisposableStack(),
): void {
  for (const { chainId, network } of states) {
    const isNew = network !== null && network !== NETWORKS.get(chainId)?.custom;
    const found = isNew ? parseNetwork(chainId, network) : undefined;
    if (found !== undefined) undo.defer(addNetworks([found]));
  }
}
