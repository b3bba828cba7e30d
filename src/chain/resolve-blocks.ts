// Turns a provider's logs into blocks for the store: adds block times, events, and the delegate that a v1 revocation's
// transaction names.

import { type Network, registryAt } from '../registry/network.ts';
import { revokedDelegate } from '../registry/v1-revocation.ts';
import type { BlockInput, LogInput } from '../store/store.ts';
import { type BlockTime, resolveTimes, type TimeOptions } from './block-times.ts';
import { decodeLog } from './decode-log.ts';
import type { BlockLogs } from './group-logs.ts';
import type { Node, NodeLog } from './node.ts';

export async function resolveBlocks(
  node: Node,
  network: Network,
  found: readonly BlockLogs[],
  options: TimeOptions = {},
): Promise<BlockInput[]> {
  const times = await resolveTimes(node, found, options);
  const revoked = await fetchRevoked(node, network, found);
  return found.map(({ number, hash, logs }): BlockInput => {
    const { time, from } = times.get(number) as BlockTime;
    return {
      number,
      hash,
      timestamp: time,
      timeFrom: from,
      logs: logs.map((log): LogInput => {
        const input = { logIndex: log.logIndex, transactionHash: log.transactionHash, event: decodeLog(network, log) };
        return input.event.type === 'unknownRevoked' ? { ...input, revoked: revoked.get(log) ?? null } : input;
      }),
    };
  });
}

const NO_TRANSACTION = /^0x0+$/;

/** The delegates of v1 revocations that do not name one, if the transaction called the registry directly. */
async function fetchRevoked(node: Node, network: Network, found: readonly BlockLogs[]) {
  const revoked = new Map<NodeLog, NonNullable<LogInput['revoked']>>();
  const registry = network.registries[1];
  if (registry === undefined) return revoked;
  const logs = found.flatMap((block) => block.logs).filter((log) => registryAt(network, log.address) === 1);
  const unnamed = logs.flatMap((log) => {
    const event = decodeLog(network, log);
    return event.type === 'unknownRevoked' && !NO_TRANSACTION.test(log.transactionHash) ? [{ log, event }] : [];
  });
  if (unnamed.length === 0) return revoked;
  const transactions = await node.transactions(unnamed.map(({ log }) => log.transactionHash));
  for (const [position, { log, event }] of unnamed.entries()) {
    const transaction = transactions[position] ?? null;
    const delegate = transaction && revokedDelegate(transaction, event.from, registry);
    if (delegate !== null) revoked.set(log, delegate);
  }
  return revoked;
}
