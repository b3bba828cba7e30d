// The logs of a range of blocks from one provider, whole: the range shrinks where the provider balks and grows back, and no
// answer is taken for all there is before a second one, from where it ended, brings nothing more.

import { Inconsistent } from './errors.ts';
import { logContent } from './group-logs.ts';
import type { LogFilter, Node, NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

export interface Scanner {
  fetchLogs(from: number, to: number): Promise<NodeLog[]>;
  fetchBlockLogs(hash: NodeLog['blockHash']): Promise<NodeLog[]>;
  /** How many blocks the next call asks for. */
  readonly rangeSize: number;
}

const MAX_RANGE_SIZE = 10_000;
/** A block of so many is asked for by event as well: a cap below the size of one block shows nowhere else. */
const DENSE_BLOCK = 100;

export function createScanner(node: Node, filter: LogFilter): Scanner {
  let rangeSize = 2000;

  /** ProviderPool cut answers off without a word, by number or size, at either end, between blocks or within one. */
  async function whole(from: number, to: number): Promise<NodeLog[]> {
    const found = new Map<string, NodeLog>();
    const ask = async (low: number, high: number) => {
      const answer = await node.logs(filter, low, high);
      const before = found.size;
      for (const log of answer) found.set(nameOf(log), log);
      return { answer, isNews: found.size > before };
    };
    const first = await ask(from, to);
    if (first.answer.length === 0) return [];
    for (const isUp of from === to ? [] : [true, false]) {
      for (let last = first.answer; ; ) {
        const edge = edgeOf(last, isUp);
        const { answer, isNews } = await (isUp ? ask(edge, to) : ask(from, edge));
        if (answer.length === 0) throw new Inconsistent(`the logs of block ${edge} came and went`);
        if (!isNews) break;
        last = answer;
      }
    }
    return dense([...found.values()], (topics) => node.logs({ ...filter, topics }, from, to), from === to);
  }

  /** Of one block with many logs: event by event. */
  async function dense(
    logs: NodeLog[],
    ask: (topics: LogFilter['topics']) => Promise<NodeLog[]>,
    isBlock: boolean,
  ): Promise<NodeLog[]> {
    if (!isBlock || logs.length < DENSE_BLOCK) return logs;
    const found = new Map(logs.map((log) => [nameOf(log), log]));
    for (const topic of filter.topics.flat()) for (const log of await ask([[topic]])) found.set(nameOf(log), log);
    return [...found.values()];
  }

  return {
    get rangeSize() {
      return rangeSize;
    },
    fetchBlockLogs: async (hash) =>
      dense(await node.blockLogs(filter, hash), (topics) => node.blockLogs({ ...filter, topics }, hash), true),
    async fetchLogs(from, to) {
      const found: NodeLog[] = [];
      for (let next = from; next <= to; ) {
        const end = Math.min(to, next + rangeSize - 1);
        try {
          for (const log of await whole(next, end)) found.push(log);
          if (end - next + 1 >= rangeSize) rangeSize = Math.min(MAX_RANGE_SIZE, rangeSize * 2);
          next = end + 1;
        } catch (error) {
          const size = end - next + 1;
          const isSlow = error instanceof RpcError && error.fault === 'unreachable';
          if (size > 1 && (isSlow || mayBeTooLarge(error))) {
            rangeSize = Math.max(1, Math.min(hintOf(error) ?? size >> 1, size >> 1));
          }
          // What took too long is asked for in smaller parts the next time: this time another provider has its turn.
          if (size === 1 || isSlow || !mayBeTooLarge(error)) throw error;
        }
      }
      return found;
    },
  };
}

const nameOf = (log: NodeLog) =>
  `${log.blockHash} ${log.transactionHash} ${log.transactionIndex} ${log.logIndex} ${logContent(log)}`;

/** The newest, or the oldest, block that an answer has logs of. */
const edgeOf = (logs: readonly NodeLog[], isUp: boolean): number =>
  logs.reduce(
    (edge, { blockNumber }) => (isUp ? Math.max(edge, blockNumber) : Math.min(edge, blockNumber)),
    isUp ? -1 : Number.MAX_SAFE_INTEGER,
  );

/** History that a node has thrown away does not come back for a smaller range. */
const PRUNED = 4444;

/** Nor do these: HTTP says that it is about the caller or the server. */
const NOT_ABOUT_SIZE = new Set([PRUNED, 401, 403, 429, 500, 502, 503, 504]);

const mayBeTooLarge = (error: unknown) => error instanceof RpcError && !NOT_ABOUT_SIZE.has(error.code ?? 0);

/** The range that an error suggests, in blocks: "… try with this block range [0x1, 0x10]", "up to 1,000 blocks". */
function hintOf(error: unknown): number | null {
  const message = (error as Error).message;
  const range = /\[(0x[0-9a-f]+),\s*(0x[0-9a-f]+)\]/i.exec(message);
  if (range !== null) {
    const size = Number(range[2]) - Number(range[1]) + 1;
    return size >= 1 ? size : null;
  }
  const limit = /(\d[\d,]*)\s*block/i.exec(message)?.[1]?.replaceAll(',', '');
  return limit !== undefined && Number(limit) >= 1 ? Number(limit) : null;
}
