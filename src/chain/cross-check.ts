// What the other providers have of blocks that one has just told, before any of it is served: a difference is settled by
// evidence.

import { withTimeout } from '../store/with-timeout.ts';
import { eventKeys } from './compare-logs.ts';
import type { FollowerContext, TickProviders } from './context.ts';
import { Untrusted } from './errors.ts';
import { findAgreedBlock, hasBlock } from './find-block.ts';
import { type BlockLogs, groupLogs } from './group-logs.ts';
import type { BlockId, NodeLog } from './node.ts';
import type { Provider } from './provider-pool.ts';
import { heldBefore, settleLogs } from './settle-logs.ts';

export interface CrossCheck {
  /** The newest of the blocks: whoever does not have it has no say. */
  readonly end: BlockId;
  readonly ask: (source: Provider) => Promise<NodeLog[]>;
  /** The others are waited for so long: what they have later, the window compares. */
  readonly timeoutMs: number;
}

type Told = { readonly source: Provider; readonly blocks: ReadonlyMap<number, BlockLogs> };

/** The logs of the blocks by all providers that answer in time. */
export async function crossCheck(
  context: FollowerContext,
  sources: TickProviders,
  ours: readonly BlockLogs[],
  { end, ask, timeoutMs }: CrossCheck,
): Promise<readonly BlockLogs[]> {
  const { network } = context;
  const others = await Promise.all(
    sources.others.map(async (source): Promise<Told[]> => {
      try {
        const blocks = groupLogs(await withTimeout(timeoutMs, ask(source)));
        for (const { logs } of blocks) eventKeys(network, logs);
        return [{ source, blocks: byNumber(blocks) }];
      } catch {
        // It is behind, or slow: the window asks it again.
        return [];
      }
    }),
  );
  let told: Told[] = [{ source: sources.first, blocks: byNumber(ours) }, ...others.flat()];
  const textAt = ({ blocks }: Told, number: number) => {
    const block = blocks.get(number);
    return block === undefined ? '' : [block.hash, ...eventKeys(network, block.logs)].join('\n');
  };
  const differing = (all: readonly Told[]) =>
    [...new Set(all.flatMap(({ blocks }) => [...blocks.keys()]))].filter(
      (number) => new Set(all.map((one) => textAt(one, number))).size > 1,
    );
  if (differing(told).length === 0) return ours;
  // Some answer nothing instead of an error about what they do not have.
  const having = await Promise.all(
    told.map(async ({ source }) => source === sources.first || hasBlock(source.node, end).catch(() => false)),
  );
  told = told.filter((_, position) => having[position]);
  const settled = byNumber(ours);
  for (const number of differing(told)) {
    const block = await findAgreedBlock(
      told.map(({ source }) => source),
      number,
    );
    const own = told.map(({ source, blocks }) => {
      const found = blocks.get(number);
      return { source, logs: found?.hash === block.hash ? found.logs : [] };
    });
    const before = heldBefore(context, number);
    const entries = await settleLogs(network, { block, told: own, stored: [], before });
    const text = entries.map((entry) => entry.text).join('\n');
    for (const { source, logs } of own) {
      if (eventKeys(network, logs).join('\n') !== text)
        context.blame(source, new Untrusted(`the provider has other logs of block ${number}`));
    }
    settled.delete(number);
    for (const one of groupLogs(entries.map(({ log }) => log as NodeLog))) settled.set(number, one);
  }
  return [...settled.values()].sort((a, b) => a.number - b.number);
}

const byNumber = (blocks: readonly BlockLogs[]) => new Map(blocks.map((block) => [block.number, block]));
