// The logs that one provider returned for a range, by block.

import type { Network } from '../../registry/network.ts';
import { type BlockLogs, groupLogs } from '../rpc/group-logs.ts';
import type { BlockId, NodeLog } from '../rpc/node.ts';
import type { Provider } from '../rpc/provider-pool.ts';
import { eventKeys } from './compare-logs.ts';

export interface ProviderLogs {
  readonly provider: Provider;
  readonly blocks: ReadonlyMap<number, BlockLogs>;
}

/** Decodes every log, so that a malformed log fails here, as this provider's fault. */
export function toProviderLogs(network: Network, provider: Provider, logs: readonly NodeLog[]): ProviderLogs {
  const blocks = groupLogs(logs);
  for (const block of blocks) eventKeys(network, block.logs);
  return { provider, blocks: byNumber(blocks) };
}

export const byNumber = (blocks: readonly BlockLogs[]): Map<number, BlockLogs> =>
  new Map(blocks.map((block) => [block.number, block]));

/** The provider's logs of this very block. None if it has another block at that height. */
export function logsOfBlock({ blocks }: ProviderLogs, { number, hash }: BlockId): readonly NodeLog[] {
  const found = blocks.get(number);
  return found?.hash === hash ? found.logs : [];
}
