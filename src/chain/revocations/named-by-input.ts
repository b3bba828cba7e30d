// Settles v1 revocations by the input of their transactions: a wallet that calls the registry itself names the delegate there.

import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { revokedDelegate } from '../../registry/v1-revocation.ts';
import type { LogRecord, Revocation, Settlement } from '../../store/store.ts';
import { eventKeys, isEqual } from '../compare-logs.ts';
import type { FollowerContext, TickProviders } from '../context.ts';
import type { BlockId, Node, NodeLog } from '../node.ts';
import { fetchProven, proveLogs } from '../prove/block.ts';
import type { Provider } from '../provider-pool.ts';
import { readStoredLogs } from '../stored-blocks.ts';
import { type Agreement, agreeAll } from './words.ts';

/** Null unless the providers agree about all its transactions, and each of them names a delegate. */
export async function readNamed(
  context: FollowerContext,
  providers: TickProviders,
  { vault, block, logIndexes }: Revocation,
): Promise<Settlement | null> {
  const { network, store } = context;
  const logs = await readStoredLogs(store, network.chainId, block.number, block.number);
  const { value } = await readInputs(context, providers, block, logs);
  const pairs = logs.flatMap(({ logIndex }, position) => {
    const delegate = value?.[position];
    return logIndexes.includes(logIndex) && delegate ? [{ delegate, endedBy: logIndex, knownFrom: block.number }] : [];
  });
  return pairs.length < logIndexes.length ? null : { vault, block, readAt: block.number, pairs, complete: true };
}

/** For each stored log of a block, the delegate that its transaction revoked by a call to the registry, or null. */
export function readInputs(
  context: FollowerContext,
  providers: TickProviders,
  block: BlockId,
  logs: readonly LogRecord[],
): Promise<Agreement<readonly (Address | null)[]>> {
  const { network } = context;
  const registry = network.registries[1] as Address;
  return agreeAll(context, providers, async (provider) => {
    // No root commits to the transaction of a log as nodes return it, so each provider says which one it is.
    const theirs = await fetchLogs(context, provider, block);
    if (!isEqual(eventKeys(network, theirs), eventKeys(network, logs))) return null;
    const asked = logs.map(({ event }) => (event.type === 'unknownRevoked' ? event.from : null));
    const hashes = theirs.flatMap(({ transactionHash }, at) => (asked[at] === null ? [] : [transactionHash]));
    const transactions = await provider.node.transactions(hashes);
    if (transactions.includes(null)) return null;
    return asked.map((vault) => {
      if (vault === null) return null;
      const transaction = transactions.shift() ?? null;
      return transaction && revokedDelegate(transaction, vault, registry);
    });
  });
}

/** The logs of the last block of each node: wallets that revoked in one block are settled one after the other. */
const lastLogs = new WeakMap<Node, { readonly hash: Bytes32; readonly logs: readonly NodeLog[] }>();

async function fetchLogs(
  { network, proof }: FollowerContext,
  { node, scanner }: Provider,
  { hash }: BlockId,
): Promise<readonly NodeLog[]> {
  if (!proof.isProven) return scanner.fetchBlockLogs(hash);
  const last = lastLogs.get(node);
  if (last?.hash === hash) return last.logs;
  const header = await fetchProven(node, hash);
  const logs = header === null ? [] : await proveLogs(network, node, header);
  lastLogs.set(node, { hash, logs });
  return logs;
}
