// Fetches a range of logs from every provider that is on the index's branch.

import { Inconsistent, Lagging } from '../rpc/errors.ts';
import type { BlockId } from '../rpc/node.ts';
import type { Provider } from '../rpc/provider-pool.ts';
import type { FollowerContext } from './context.ts';
import { type ProviderLogs, toProviderLogs } from './provider-logs.ts';

/**
 * Skips and blames providers that fail or do not have the anchor. Throws if none is left. `known` is a provider that is known
 * to have the anchor.
 */
export async function fetchRange(
  context: FollowerContext,
  providers: readonly Provider[],
  anchor: BlockId,
  from: number,
  to: number,
  known?: Provider,
): Promise<ProviderLogs[]> {
  let failure: unknown = new Lagging('no provider is available for the comparison');
  const answers = await Promise.all(
    providers.map(async (provider): Promise<ProviderLogs[]> => {
      try {
        if (provider !== known) await requireAnchor(provider, anchor);
        return [toProviderLogs(context.network, provider, await provider.scanner.fetchLogs(from, to))];
      } catch (error) {
        failure = error;
        // Another branch above the verified block is nobody's fault.
        const isReorg = error instanceof Inconsistent && anchor.number > (context.state?.verified ?? -1);
        if (!isReorg) context.blame(provider, error);
        return [];
      }
    }),
  );
  if (answers.flat().length === 0) throw failure;
  return answers.flat();
}

/** The anchor's hash proves that the provider serves our chain and branch. */
async function requireAnchor({ node }: Provider, { number, hash }: BlockId): Promise<void> {
  const header = await node.header(number);
  if (header?.hash === hash) return;
  const message = `the provider does not have our block ${number}`;
  throw header === null ? new Lagging(message) : new Inconsistent(message);
}
