// Wallets whose v1 revocations nobody could read at their own blocks: what they have left is read at the head instead, a few
// in each tick, and one that cannot be read less and less often.

import type { Address } from '../registry/delegation.ts';
import type { VaultState } from '../store/store.ts';
import type { Followed } from './followed.ts';
import { type Nodes, readVault } from './resolve.ts';

const AT_ONCE = 20;
/** After the first failure; then twice as long each time. */
const FIRST_PAUSE_MS = 5000;
const MOST_DOUBLINGS = 8;

export function createLateReads(chain: Followed): (nodes: Nodes) => Promise<void> {
  const { network, store, now, onEvent } = chain;
  const { chainId } = network;
  const tried = new Map<Address, { failures: number; notBefore: number }>();

  return async ({ node, others }) => {
    if (chain.state?.head == null || network.registries[1] === undefined || !chain.mayHaveUnread) return;
    const { head, epoch } = chain.state;
    const unread = (await store.unreadRevocations(chainId)).filter(({ readAt }) => readAt === null);
    chain.mayHaveUnread = unread.length > 0;
    const vaults = new Set(unread.map(({ vault }) => vault));
    for (const vault of tried.keys()) if (!vaults.has(vault)) tried.delete(vault);
    const due = [...vaults].filter((vault) => (tried.get(vault)?.notBefore ?? 0) <= now()).slice(0, AT_ONCE);
    const lateStates: VaultState[] = [];
    try {
      for (const vault of due) {
        const { failures } = tried.get(vault) ?? { failures: 0 };
        const pause = FIRST_PAUSE_MS * 2 ** Math.min(failures, MOST_DOUBLINGS);
        // Also one that is read: where the reading shows that a log was missed, it stays unread.
        tried.set(vault, { failures: failures + 1, notBefore: now() + pause });
        const read = await readVault([node, ...others], network, vault, head);
        if (read.held !== null) lateStates.push(read);
        else if (failures === 0) onEvent({ type: 'unread', vaults: vaults.size });
      }
    } finally {
      if (lateStates.length > 0) await chain.apply({ chainId, epoch, after: head, blocks: [], head, lateStates });
    }
  };
}
