// Compares new blocks from one provider with the other providers before they are committed, and settles differences.

import { withTimeout } from '../store/with-timeout.ts';
import { eventKeys } from './compare-logs.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import { findAgreedBlock, hasBlock } from './find-block.ts';
import { type BlockLogs, groupLogs } from './group-logs.ts';
import type { BlockId, NodeLog } from './node.ts';
import { byNumber, type ProviderLogs, toProviderLogs } from './provider-logs.ts';
import type { Provider } from './provider-pool.ts';
import { settleBlock } from './settle-block.ts';

export interface CrossCheck {
  /** The newest block. Providers that do not have it are ignored. */
  readonly end: BlockId;
  readonly fetch: (provider: Provider) => Promise<NodeLog[]>;
  /** How long to wait for the other providers. */
  readonly timeoutMs: number;
}

/** Returns the blocks with the settled logs. `ours` is what the tick's own provider returned. */
export async function crossCheck(
  context: FollowerContext,
  providers: TickProviders,
  ours: readonly BlockLogs[],
  { end, fetch, timeoutMs }: CrossCheck,
): Promise<readonly BlockLogs[]> {
  const { network } = context;
  const others = await Promise.all(
    providers.others.map(async (provider): Promise<ProviderLogs[]> => {
      try {
        return [toProviderLogs(network, provider, await withTimeout(timeoutMs, fetch(provider)))];
      } catch {
        // It lags or is slow. The window check asks it again.
        return [];
      }
    }),
  );
  const answers: ProviderLogs[] = [{ provider: providers.first, blocks: byNumber(ours) }, ...others.flat()];
  const findDiffering = (all: readonly ProviderLogs[]) =>
    [...new Set(all.flatMap(({ blocks }) => [...blocks.keys()]))].filter((number) => {
      const texts = all.map(({ blocks }) => {
        const block = blocks.get(number);
        return block === undefined ? '' : [block.hash, ...eventKeys(network, block.logs)].join('\n');
      });
      return new Set(texts).size > 1;
    });
  if (findDiffering(answers).length === 0) return ours;
  // Some providers return no logs, instead of an error, for blocks that they do not have.
  const hasEnd = await Promise.all(
    answers.map(
      async ({ provider }) => provider === providers.first || hasBlock(provider.node, end).catch(() => false),
    ),
  );
  const valid = answers.filter((_, position) => hasEnd[position]);
  const settled = byNumber(ours);
  for (const number of findDiffering(valid)) {
    const block = await findAgreedBlock(
      valid.map(({ provider }) => provider),
      number,
    );
    const { entries } = await settleBlock(context, valid, block, []);
    settled.delete(number);
    for (const one of groupLogs(entries.map(({ log }) => log as NodeLog))) settled.set(number, one);
  }
  return [...settled.values()].sort((a, b) => a.number - b.number);
}
