// The wallets that contradicting logs of a block concern.

import type { Address } from '../../registry/delegation.ts';
import { type Dispute, MAX_DISPUTES } from '../../store/halt.ts';
import type { LogRecord } from '../../store/store.ts';
import { decodeLog } from '../rpc/decode-log.ts';
import type { NodeLog } from '../rpc/node.ts';
import { eventKey, eventKeys } from './compare-logs.ts';
import type { FollowerContext } from './context.ts';

/** Those of logs that only some of the lists have. */
export async function findDisputes(
  { network, store, now }: FollowerContext,
  block: number,
  lists: readonly (readonly (NodeLog | LogRecord)[])[],
): Promise<Dispute[]> {
  const { chainId } = network;
  const since = Math.floor(now() / 1000);
  const disputes = new Map<string, Dispute>();
  const add = (vault: Address, delegate: Address | null) =>
    disputes.set(`${vault} ${delegate}`, { vault, delegate, since, block, statement: null });
  for (const log of lists.flat()) {
    const event = 'event' in log ? log.event : decodeLog(network, log);
    if (lists.every((list) => eventKeys(network, list).includes(eventKey(event)))) continue;
    const { from: vault, to = null } = 'delegation' in event ? event.delegation : { to: null, ...event };
    add(vault, to);
    // The log may have ended what the wallet had granted to anybody.
    const before = { block, logIndex: 0 };
    const query = { chainId, vault, before, at: block - 1, limit: MAX_DISPUTES };
    for (const delegate of to === null ? await store.v1Delegates(query) : []) add(vault, delegate);
  }
  return [...disputes.values()];
}
