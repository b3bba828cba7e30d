// Reads the logs of a range from all providers, and finds the blocks that they disagree about.

import type { Bytes32 } from '../../registry/delegation.ts';
import type { Network } from '../../registry/network.ts';
import { withTimeout } from '../../store/with-timeout.ts';
import { Inconsistent, Lagging } from '../rpc/errors.ts';
import type { BlockId, NodeLog } from '../rpc/node.ts';
import type { Provider, Providers, TickProviders } from '../rpc/provider-pool.ts';
import { type BlockLogs, groupLogs } from '../rpc/registry-logs.ts';
import { hasBlock } from './agreed-block.ts';
import { type AnyLog, eventKeys } from './compare-logs.ts';
import type { Context } from './context.ts';

/** What one provider returned. */
export interface ProviderLogs {
  readonly provider: Provider;
  readonly blocks: ReadonlyMap<number, BlockLogs>;
}

export type Reports = readonly ProviderLogs[];

/** Decodes every log, so that a malformed log fails here, as this provider's fault. */
export function toProviderLogs(network: Network, provider: Provider, logs: readonly NodeLog[]): ProviderLogs {
  const blocks = groupLogs(logs);
  for (const block of blocks) eventKeys(network, block.logs);
  return { provider, blocks: new Map(blocks.map((block) => [block.number, block])) };
}

/** The provider's logs of this very block. None if it has another block at that height. */
export function logsOfBlock({ blocks }: ProviderLogs, { number, hash }: BlockId): readonly NodeLog[] {
  const found = blocks.get(number);
  return found?.hash === hash ? found.logs : [];
}

/** Leaves out providers that fail. */
async function fetchFrom(
  { network }: Context,
  providers: Providers,
  fetch: (provider: Provider) => Promise<NodeLog[]>,
  onFailure: (provider: Provider, error: unknown) => void,
): Promise<ProviderLogs[]> {
  const reports = await Promise.all(
    providers.map(async (provider) => {
      try {
        return [toProviderLogs(network, provider, await fetch(provider))];
      } catch (error) {
        onFailure(provider, error);
        return [];
      }
    }),
  );
  return reports.flat();
}

/** New blocks: the tick's own provider first, whose failure is thrown. Others that lag or are slow are asked again by the window check. */
export async function fetchReports(
  context: Context,
  [first, ...others]: TickProviders,
  fetch: (provider: Provider) => Promise<NodeLog[]>,
  timeoutMs: number,
): Promise<Reports> {
  const ours = toProviderLogs(context.network, first, await fetch(first));
  const fetchInTime = (provider: Provider) => withTimeout(timeoutMs, fetch(provider));
  const theirs = await fetchFrom(context, others, fetchInTime, () => {});
  return [ours, ...theirs];
}

/**
 * Stored blocks: skips and blames providers that fail or do not have the anchor, whose hash proves that they serve our chain and branch.
 * Throws if none is left. `known` is a provider that is known to have the anchor.
 */
export async function fetchRange(
  context: Context,
  providers: Providers,
  { number, hash }: BlockId,
  from: number,
  to: number,
  known?: Provider,
): Promise<Reports> {
  let failure: unknown = new Lagging('no provider is available for the comparison');
  const fetch = async (provider: Provider) => {
    const header = provider === known ? { hash } : await provider.node.header(number);
    const message = `the provider does not have our block ${number}`;
    if (header === null) throw new Lagging(message);
    if (header.hash !== hash) throw new Inconsistent(message);
    return provider.scanner.fetchLogs(from, to);
  };
  const reports = await fetchFrom(context, providers, fetch, (provider, error) => {
    failure = error;
    // Another branch above the verified block is nobody's fault.
    const isReorg = error instanceof Inconsistent && number > (context.state?.verified ?? -1);
    if (!isReorg) context.blame(provider, error);
  });
  if (reports.length === 0) throw failure;
  return reports;
}

/** What a provider returned, or the index has. */
type Blocks = ReadonlyMap<number, { readonly hash: Bytes32; readonly logs: readonly AnyLog[] }>;

/** The blocks of which somebody has logs, in order. */
export const blocksWithLogs = (lists: readonly Blocks[]): number[] =>
  [...new Set(lists.flatMap((blocks) => [...blocks.keys()]))].sort((a, b) => a - b);

export function differs(network: Network, lists: readonly Blocks[], number: number): boolean {
  const texts = lists.map((blocks) => {
    const block = blocks.get(number);
    return block === undefined ? '' : [block.hash, ...eventKeys(network, block.logs)].join('\n');
  });
  return new Set(texts).size > 1;
}

/** The blocks of which not all providers returned the same. */
export function findDiffering({ network }: Context, reports: Reports): number[] {
  const lists = reports.map(({ blocks }) => blocks);
  return blocksWithLogs(lists).filter((number) => differs(network, lists, number));
}

/** If reports differ, without providers that lack the newest block: some return no logs instead of an error. */
export async function onlyComparable(context: Context, reports: Reports, end: BlockId): Promise<Reports> {
  if (findDiffering(context, reports).length === 0) return reports;
  const has = await Promise.all(
    reports.map(async ({ provider }, position) => position === 0 || hasBlock(provider.node, end).catch(() => false)),
  );
  return reports.filter((_, position) => has[position]);
}
