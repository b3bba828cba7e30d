// Reads all logs of a range from one provider. Splits the range when the provider rejects it, and requests again from where a
// response ended until nothing new comes, because providers truncate responses silently.

import { Inconsistent } from './errors.ts';
import { logContent } from './group-logs.ts';
import type { LogFilter, Node, NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

export interface Scanner {
  fetchLogs(from: number, to: number): Promise<NodeLog[]>;
  fetchBlockLogs(hash: NodeLog['blockHash']): Promise<NodeLog[]>;
  /** Blocks that the next call asks for. */
  readonly rangeSize: number;
}

const FIRST_RANGE_SIZE = 2000;
const MAX_RANGE_SIZE = 10_000;
/** A block with this many logs is also read event by event: a truncation within one block shows nowhere else. */
const DENSE_BLOCK = 100;

export function createScanner(node: Node, filter: LogFilter): Scanner {
  let rangeSize = FIRST_RANGE_SIZE;

  /** Providers truncate by count or size, at either end of the range, between blocks or within one. */
  async function fetchComplete(from: number, to: number): Promise<NodeLog[]> {
    const found = new Map<string, NodeLog>();
    const fetch = async (low: number, high: number) => {
      const logs = await node.logs(filter, low, high);
      const before = found.size;
      for (const log of logs) found.set(keyOf(log), log);
      return { logs, hasNew: found.size > before };
    };
    const first = await fetch(from, to);
    if (first.logs.length === 0) return [];
    for (const isUp of from === to ? [] : [true, false]) {
      for (let last = first.logs; ; ) {
        const edge = findEdge(last, isUp);
        const { logs, hasNew } = await (isUp ? fetch(edge, to) : fetch(from, edge));
        if (logs.length === 0) throw new Inconsistent(`the logs of block ${edge} disappeared`);
        if (!hasNew) break;
        last = logs;
      }
    }
    const logs = [...found.values()];
    return from === to ? fetchByEvent(logs, (topics) => node.logs({ ...filter, topics }, from, to)) : logs;
  }

  /** Adds the logs of one block event by event, if it has many. */
  async function fetchByEvent(
    logs: NodeLog[],
    fetch: (topics: LogFilter['topics']) => Promise<NodeLog[]>,
  ): Promise<NodeLog[]> {
    if (logs.length < DENSE_BLOCK) return logs;
    const found = new Map(logs.map((log) => [keyOf(log), log]));
    for (const topic of filter.topics.flat()) for (const log of await fetch([[topic]])) found.set(keyOf(log), log);
    return [...found.values()];
  }

  return {
    get rangeSize() {
      return rangeSize;
    },
    fetchBlockLogs: async (hash) =>
      fetchByEvent(await node.blockLogs(filter, hash), (topics) => node.blockLogs({ ...filter, topics }, hash)),
    async fetchLogs(from, to) {
      const found: NodeLog[] = [];
      for (let next = from; next <= to; ) {
        const end = Math.min(to, next + rangeSize - 1);
        try {
          for (const log of await fetchComplete(next, end)) found.push(log);
          if (end - next + 1 >= rangeSize) rangeSize = Math.min(MAX_RANGE_SIZE, rangeSize * 2);
          next = end + 1;
        } catch (error) {
          const size = end - next + 1;
          const isTimeout = error instanceof RpcError && error.fault === 'unreachable';
          if (size > 1 && (isTimeout || mayBeTooLarge(error))) {
            rangeSize = Math.max(1, Math.min(suggestedSize(error) ?? size >> 1, size >> 1));
          }
          // After a timeout the next provider gets a turn. The smaller size applies the next time.
          if (size === 1 || isTimeout || !mayBeTooLarge(error)) throw error;
        }
      }
      return found;
    },
  };
}

const keyOf = (log: NodeLog) =>
  `${log.blockHash} ${log.transactionHash} ${log.transactionIndex} ${log.logIndex} ${logContent(log)}`;

/** The newest or the oldest block that has logs. */
const findEdge = (logs: readonly NodeLog[], isUp: boolean): number =>
  logs.reduce(
    (edge, { blockNumber }) => (isUp ? Math.max(edge, blockNumber) : Math.min(edge, blockNumber)),
    isUp ? -1 : Number.MAX_SAFE_INTEGER,
  );

/** JSON-RPC code: the node has pruned this history. */
const PRUNED = 4444;

/** A smaller range does not help against these. */
const NOT_ABOUT_SIZE = new Set([PRUNED, 401, 403, 429, 500, 502, 503, 504]);

const mayBeTooLarge = (error: unknown) => error instanceof RpcError && !NOT_ABOUT_SIZE.has(error.code ?? 0);

/** The range that an error suggests, in blocks: "… try with this block range [0x1, 0x10]", "up to 1,000 blocks". */
function suggestedSize(error: unknown): number | null {
  const message = (error as Error).message;
  const range = /\[(0x[0-9a-f]+),\s*(0x[0-9a-f]+)\]/i.exec(message);
  if (range !== null) {
    const size = Number(range[2]) - Number(range[1]) + 1;
    return size >= 1 ? size : null;
  }
  const limit = /(\d[\d,]*)\s*block/i.exec(message)?.[1]?.replaceAll(',', '');
  return limit !== undefined && Number(limit) >= 1 ? Number(limit) : null;
}
