// Reads all logs of a range from one provider. Splits the range when the provider rejects it, and requests again from where a
// response ended until nothing new comes, because providers truncate responses silently.

import { Inconsistent } from './errors.ts';
import type { LogFilter, Node, NodeLog } from './node.ts';
import { logContent } from './registry-logs.ts';
import { RpcError } from './rpc.ts';

const FIRST_RANGE_SIZE = 2000;
const MAX_RANGE_SIZE = 10_000;
/** Larger ranges are not asked for where responses have this many logs: they are held in memory. */
const MAX_LOGS_PER_CALL = 2500;
/** Calls that must succeed before a rejected size is tried again. Four times as many after each trial that fails. */
const FIRST_PATIENCE = 8;
const MAX_PATIENCE = 1024;
/** A block with this many logs is also read event by event: a truncation within one block shows nowhere else. */
const DENSE_BLOCK = 100;

/** How many blocks a provider is asked for in one call, by what it has accepted and rejected. */
function createRangeSizes() {
  let rangeSize = FIRST_RANGE_SIZE;
  /** The smallest size that the provider rejected. */
  let rejectedSize = Number.POSITIVE_INFINITY;
  let [accepted, patience] = [0, FIRST_PATIENCE];
  /** The largest size that a call succeeded with. */
  let acceptedSize = FIRST_RANGE_SIZE;
  let isTrying = false;

  return {
    current: () => rangeSize,
    /** For one of several concurrent calls: only one of them tries a size that no call has succeeded with. */
    next(): number {
      if (rangeSize <= acceptedSize) return rangeSize;
      if (isTrying) return acceptedSize;
      isTrying = true;
      return rangeSize;
    },
    accept,
    reject,
  };

  function accept(size: number, logs: number): void {
    acceptedSize = Math.max(acceptedSize, size);
    if (size >= rangeSize) isTrying = false;
    if (logs > MAX_LOGS_PER_CALL) {
      rangeSize = Math.max(1, Math.min(rangeSize, Math.floor((size * MAX_LOGS_PER_CALL) / logs)));
      return;
    }
    accepted++;
    if (size < rangeSize || logs * 2 > MAX_LOGS_PER_CALL) return;
    if (rangeSize * 2 >= rejectedSize && accepted >= patience) rejectedSize = Number.POSITIVE_INFINITY;
    if (rangeSize * 2 < rejectedSize) rangeSize = Math.min(MAX_RANGE_SIZE, rangeSize * 2);
  }

  /** False if a smaller range would not help. */
  function reject(size: number, error: unknown): boolean {
    isTrying = false;
    const isTimeout = error instanceof RpcError && error.connection !== null;
    if (size === 1 || !(isTimeout || mayBeTooLarge(error))) return false;
    const smaller = !isTimeout && acceptedSize < size ? acceptedSize : size >> 1;
    rangeSize = Math.max(1, Math.min(rangeSize, suggestedSize(error) ?? smaller, smaller));
    acceptedSize = Math.min(acceptedSize, rangeSize);
    // After a timeout the next provider gets a turn. The smaller size applies the next time.
    if (isTimeout) return false;
    if (accepted >= patience) patience = Math.min(MAX_PATIENCE, patience * 4);
    [rejectedSize, accepted] = [Math.min(rejectedSize, size), 0];
    return true;
  }
}

export type Scanner = ReturnType<typeof createScanner>;

export function createScanner(node: Node, filter: LogFilter) {
  const sizes = createRangeSizes();
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
  async function fetchByEvent(logs: NodeLog[], fetch: (topics: LogFilter['topics']) => Promise<NodeLog[]>) {
    if (logs.length < DENSE_BLOCK) return logs;
    const found = new Map(logs.map((log) => [keyOf(log), log]));
    for (const topic of filter.topics.flat()) for (const log of await fetch([[topic]])) found.set(keyOf(log), log);
    return [...found.values()];
  }

  return {
    /** Blocks that the next call asks for. */
    rangeSize: sizes.current,
    nextSize: sizes.next,
    fetchBlockLogs: async (hash: NodeLog['blockHash']): Promise<NodeLog[]> =>
      fetchByEvent(await node.blockLogs(filter, hash), (topics) => node.blockLogs({ ...filter, topics }, hash)),
    /** Fetches a range with one call, which the provider may have truncated. Null if the provider rejects the size of the range. */
    async fetchUnchecked(from: number, to: number): Promise<NodeLog[] | null> {
      try {
        const logs = await node.logs(filter, from, to);
        sizes.accept(to - from + 1, logs.length);
        return logs;
      } catch (error) {
        if (sizes.reject(to - from + 1, error)) return null;
        throw error;
      }
    },
    async fetchLogs(from: number, to: number): Promise<NodeLog[]> {
      const found: NodeLog[] = [];
      for (let next = from; next <= to; ) {
        const end = Math.min(to, next + sizes.current() - 1);
        const size = end - next + 1;
        try {
          const logs = await fetchComplete(next, end);
          for (const log of logs) found.push(log);
          sizes.accept(size, logs.length);
          next = end + 1;
        } catch (error) {
          if (!sizes.reject(size, error)) throw error;
        }
      }
      return found;
    },
  };
}

/** Equal for the same log of the same block. */
export const keyOf = (log: NodeLog) =>
  `${log.blockHash} ${log.transactionHash} ${log.transactionIndex} ${log.logIndex} ${logContent(log)}`;

/** The newest or the oldest block that has logs. */
const findEdge = (logs: readonly NodeLog[], isUp: boolean): number =>
  logs.map(({ blockNumber }) => blockNumber).reduce((a, b) => (isUp ? Math.max(a, b) : Math.min(a, b)));

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
