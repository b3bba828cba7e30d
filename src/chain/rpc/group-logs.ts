// Groups a node's logs by block, in chain order and without duplicates.

import type { Bytes32 } from '../../registry/delegation.ts';
import type { NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

export interface BlockLogs {
  readonly number: number;
  readonly hash: Bytes32;
  /** Unix seconds. Null if the logs do not have it. */
  readonly timestamp: number | null;
  /** Log indexes are unique within the block, and rise. */
  readonly logs: readonly NodeLog[];
}

export function groupLogs(logs: readonly NodeLog[]): BlockLogs[] {
  const blocks = new Map<number, NodeLog[]>();
  for (const log of logs) {
    const block = blocks.get(log.blockNumber);
    if (block === undefined) blocks.set(log.blockNumber, [log]);
    else block.push(log);
  }
  return [...blocks].sort(([a], [b]) => a - b).map(([number, found]) => toBlock(number, found));
}

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
