// Settles v1 revocations by the input of their transactions: a wallet that calls the registry itself names the delegate there.

import type { Address } from '../../registry/delegation.ts';
import type { LogRecord, Revocation } from '../../store/store.ts';
import { isEqual, readStoredLogs } from '../compare/compare-logs.ts';
import type { Context } from '../compare/context.ts';
import { readRevoked } from '../compare/resolve-blocks.ts';
import { fetchProven, proveLogs } from '../prove/block.ts';
import type { BlockId } from '../rpc/node.ts';
import type { Provider, TickProviders } from '../rpc/provider-pool.ts';
import { agreeAll, ifKnown } from './words.ts';

/** The delegates that the revocations in a block name, by log index. Empty if the providers do not agree. */
export async function readNamed(context: Context, providers: TickProviders, block: BlockId) {
  const logs = await readStoredLogs(context.store, context.network.chainId, block.number);
  const delegates = await ifKnown(readInputs(context, providers, block, logs));
  const named = new Map<number, Address>();
  for (const [position, delegate] of delegates?.entries() ?? [])
    if (delegate !== null) named.set((logs[position] as LogRecord).logIndex, delegate);
  return named;
}

/** Null unless each of its logs is named. */
export function settleNamed({ vault, block, logIndexes }: Revocation, named: ReadonlyMap<number, Address>) {
  const pairs = logIndexes.flatMap((logIndex) => {
    const delegate = named.get(logIndex);
    return delegate === undefined ? [] : [{ delegate, endedBy: logIndex, knownFrom: block.number }];
  });
  return pairs.length < logIndexes.length ? null : { vault, block, readAt: block.number, pairs, complete: true };
}

/** For each stored log of a block, the delegate that its transaction revoked by a call to the registry, or null. Throws `Unknown`. */
export function readInputs(
  context: Context,
  providers: TickProviders,
  block: BlockId,
  logs: readonly LogRecord[],
): Promise<readonly (Address | null)[]> {
  const { network } = context;
  return agreeAll(context, providers, async (provider) => {
    // No root commits to the transaction of a log as nodes return it, so each provider says which one it is.
    const theirs = await fetchLogs(context, provider, block);
    if (!isEqual(network, theirs, logs)) return null;
    const asked = theirs.map(({ transactionHash }, position) => {
      const event = logs[position]?.event;
      return { transactionHash, vault: event?.type === 'unknownRevoked' ? event.from : null };
    });
    const revoked = await readRevoked(provider.node, network, asked);
    return revoked.every((delegate) => delegate !== undefined) ? revoked : null;
  });
}

async function fetchLogs({ network, proof }: Context, { node, scanner }: Provider, { hash }: BlockId) {
  if (!proof.isProven) return scanner.fetchBlockLogs(hash);
  const header = await fetchProven(node, hash);
  return header === null ? [] : proveLogs(network, node, header);
}
