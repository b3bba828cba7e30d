// Reads the logs of new blocks from all providers, and finds the blocks that they disagree about.

import { withTimeout } from '../../store/with-timeout.ts';
import type { BlockId, NodeLog } from '../rpc/node.ts';
import type { Provider } from '../rpc/provider-pool.ts';
import { eventKeys } from './compare-logs.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import { hasBlock } from './find-block.ts';
import { type ProviderLogs, toProviderLogs } from './provider-logs.ts';

/** What each provider returned: the tick's own first, whose failure is thrown. Others that fail or are slow are left out. */
export async function fetchReports(
  { network }: FollowerContext,
  { first, others }: TickProviders,
  fetch: (provider: Provider) => Promise<NodeLog[]>,
  timeoutMs: number,
): Promise<readonly ProviderLogs[]> {
  const ours = toProviderLogs(network, first, await fetch(first));
  const theirs = await Promise.all(
    others.map(async (provider): Promise<ProviderLogs[]> => {
      try {
        return [toProviderLogs(network, provider, await withTimeout(timeoutMs, fetch(provider)))];
      } catch {
        // It lags or is slow. The window check asks it again.
        return [];
      }
    }),
  );
  return [ours, ...theirs.flat()];
}

/** The blocks of which not all providers returned the same. */
export const findDiffering = ({ network }: FollowerContext, reports: readonly ProviderLogs[]): number[] =>
  [...new Set(reports.flatMap(({ blocks }) => [...blocks.keys()]))].filter((number) => {
    const texts = reports.map(({ blocks }) => {
      const block = blocks.get(number);
      return block === undefined ? '' : [block.hash, ...eventKeys(network, block.logs)].join('\n');
    });
    return new Set(texts).size > 1;
  });

/** If reports differ, without providers that lack the newest block: some return no logs instead of an error. */
export async function onlyComparable(
  context: FollowerContext,
  reports: readonly ProviderLogs[],
  end: BlockId,
): Promise<readonly ProviderLogs[]> {
  if (findDiffering(context, reports).length === 0) return reports;
  const has = await Promise.all(
    reports.map(async ({ provider }, position) => position === 0 || hasBlock(provider.node, end).catch(() => false)),
  );
  return reports.filter((_, position) => has[position]);
}
