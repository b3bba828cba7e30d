// A node's logs in the order of the chain, one by one, whatever order and numbers the node gave them.

import type { Bytes32 } from '../registry/delegation.ts';
import type { NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

export interface BlockLogs {
  readonly number: number;
  readonly hash: Bytes32;
  /** Where the node told it with the logs. */
  readonly timestamp: number | null;
  readonly logs: readonly NodeLog[];
}

/** By block, in order; each log once, with an index that no other of its block has. */
export function groupLogs(logs: readonly NodeLog[]): BlockLogs[] {
  const blocks = new Map<number, NodeLog[]>();
  for (const log of logs) {
    const block = blocks.get(log.blockNumber);
    if (block === undefined) blocks.set(log.blockNumber, [log]);
    else block.push(log);
  }
  return [...blocks].sort(([a], [b]) => a - b).map(([number, found]) => blockOf(number, found));
}

function blockOf(number: number, found: readonly NodeLog[]): BlockLogs {
  const [first] = found as [NodeLog];
  if (found.some(({ blockHash }) => blockHash !== first.blockHash)) {
    throw new RpcError('malformed', `logs of two blocks ${number}`);
  }
  const logs: NodeLog[] = [];
  for (const log of [...found].sort((a, b) => a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex)) {
    const before = logs.at(-1);
    const again =
      before !== undefined && before.logIndex === log.logIndex && before.transactionHash === log.transactionHash;
    if (!again) logs.push(log);
    else if (logContent(before) !== logContent(log)) throw new RpcError('malformed', `two logs ${log.logIndex} in one`);
  }
  const rising = logs.every((log, position) => position === 0 || log.logIndex > (logs[position - 1]?.logIndex ?? -1));
  return {
    number,
    hash: first.blockHash,
    timestamp: first.blockTimestamp,
    // Some clients number the logs of each transaction from 0: then their order in the block is the number.
    logs: rising ? logs : logs.map((log, logIndex) => ({ ...log, logIndex })),
  };
}

/** What a log says, without the number that its node gave it. */
export const logContent = ({ address, topics, data }: NodeLog): string => [address, ...topics, data].join();
