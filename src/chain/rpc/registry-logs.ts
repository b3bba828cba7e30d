// The logs of the registries as providers return them: which are asked for, what they say, and how they are grouped by block.

import type { Bytes32 } from '../../registry/delegation.ts';
import { decodeEvent, eventTopics, type RegistryEvent } from '../../registry/event.ts';
import { type Network, registryAt } from '../../registry/network.ts';
import { ALL_VERSIONS } from '../../registry/versions.ts';
import type { LogFilter, NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

/** For `eth_getLogs`. */
export function registryFilter({ registries }: Network): LogFilter {
  const deployed = ALL_VERSIONS.filter((version) => registries[version] !== undefined);
  return { address: deployed.flatMap((version) => registries[version] ?? []), topics: [deployed.flatMap(eventTopics)] };
}

export function decodeLog(network: Network, log: NodeLog): RegistryEvent {
  const version = registryAt(network, log.address);
  if (version === null) throw new RpcError('malformed', `a log of ${log.address}, which is not a registry`);
  return decodeEvent(version, log);
}

export interface BlockLogs {
  readonly number: number;
  readonly hash: Bytes32;
  /** Unix seconds. Null if the logs do not have it. */
  readonly timestamp: number | null;
  /** Log indexes are unique within the block, and rise. */
  readonly logs: readonly NodeLog[];
}

/** By block, in chain order and without duplicates. */
export const groupLogs = (logs: readonly NodeLog[]): BlockLogs[] =>
  [...Map.groupBy(logs, ({ blockNumber }) => blockNumber)]
    .sort(([a], [b]) => a - b)
    .map(([number, found]) => toBlock(number, found));

function toBlock(number: number, found: readonly NodeLog[]): BlockLogs {
  const [first] = found as [NodeLog];
  if (found.some(({ blockHash }) => blockHash !== first.blockHash)) {
    throw new RpcError('malformed', `logs of block ${number} have different block hashes`);
  }
  const logs: NodeLog[] = [];
  for (const log of [...found].sort((a, b) => a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex)) {
    const before = logs.at(-1);
    const isSame =
      before !== undefined && before.logIndex === log.logIndex && before.transactionHash === log.transactionHash;
    if (!isSame) logs.push(log);
    else if (logContent(before) !== logContent(log))
      throw new RpcError('malformed', `block ${number} has two logs with index ${log.logIndex}`);
  }
  const isRising = logs.every((log, position) => position === 0 || log.logIndex > (logs[position - 1]?.logIndex ?? -1));
  return {
    number,
    hash: first.blockHash,
    timestamp: first.blockTimestamp,
    // Some clients number the logs of each transaction from 0. Then the order in the block is the index.
    logs: isRising ? logs : logs.map((log, logIndex) => ({ ...log, logIndex })),
  };
}

/** Equal for equal logs. Ignores the index. */
export const logContent = ({ address, topics, data }: NodeLog): string => [address, ...topics, data].join();
