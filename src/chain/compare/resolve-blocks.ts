// Turns logs into blocks for the store: adds block times, events, and in old history the delegate that a v1 revocation's
// transaction names.

import { type Network, registryAt } from '../../registry/network.ts';
import { revokedDelegate } from '../../registry/v1-revocation.ts';
import type { BlockInput, BlockRef, LogInput } from '../../store/store.ts';
import { decodeLog } from '../rpc/decode-log.ts';
import type { BlockLogs } from '../rpc/group-logs.ts';
import type { Node, NodeLog } from '../rpc/node.ts';
import { type BlockTime, resolveTimes, type TimeOptions } from './block-times.ts';

export function toBlockInput(
  network: Network,
  { number, hash, timestamp }: BlockRef,
  logs: readonly NodeLog[],
  isProven: boolean,
): BlockInput {
  return { number, hash, timestamp, isProven, logs: logs.map((log) => toLogInput(network, log, null)) };
}

const toLogInput = (network: Network, log: NodeLog, revoked: LogInput['revoked']): LogInput => {
  const { logIndex, transactionHash } = log;
  const event = decodeLog(network, log);
  return event.type === 'unknownRevoked'
    ? { logIndex, transactionHash, event, revoked: revoked ?? null }
    : { logIndex, transactionHash, event };
};

/** `isOld`: the state of these blocks is hardly to be had, so the transactions of v1 revocations are read. */
export async function resolveBlocks(
  node: Node,
  network: Network,
  found: readonly (BlockLogs & { readonly isProven?: boolean })[],
  { isOld, ...options }: TimeOptions & { readonly isOld: boolean },
): Promise<BlockInput[]> {
  const times = await resolveTimes(node, found, options);
  const revoked = isOld ? await fetchRevoked(node, network, found) : new Map();
  return found.map(({ number, hash, logs, isProven = false }): BlockInput => {
    const { time, from } = times.get(number) as BlockTime;
    const inputs = logs.map((log) => toLogInput(network, log, revoked.get(log)));
    return { number, hash, timestamp: time, timeFrom: from, isProven, logs: inputs };
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
