// The logs of a range of blocks, in as many calls as the node needs: the range shrinks where the node balks, and grows back.

import type { LogFilter, Node, NodeLog } from './node.ts';
import { RpcError } from './rpc.ts';

export interface Scanner {
  logs(node: Node, from: number, to: number): Promise<NodeLog[]>;
  /** How many blocks the next call asks for. */
  readonly span: number;
}

const LARGEST_SPAN = 10_000;
/** Results that end on a round number look like a silent cap. */
const CAP_STEP = 500;
const SMALLEST_CAP = 1000;

export function createScanner(filter: LogFilter): Scanner {
  let span = 2000;

  async function one(node: Node, from: number, to: number): Promise<NodeLog[]> {
    const logs = await node.logs(filter, from, to);
    const capped = logs.length >= SMALLEST_CAP && logs.length % CAP_STEP === 0;
    if (!capped || from === to) return logs;
    const middle = (from + to) >> 1;
    const halves = [...(await one(node, from, middle)), ...(await one(node, middle + 1, to))];
    return halves.length > logs.length ? halves : logs;
  }

  return {
    get span() {
      return span;
    },
    async logs(node, from, to) {
      const found: NodeLog[] = [];
      for (let next = from; next <= to; ) {
        const end = Math.min(to, next + span - 1);
        try {
          for (const log of await one(node, next, end)) found.push(log);
          if (end - next + 1 >= span) span = Math.min(LARGEST_SPAN, span * 2);
          next = end + 1;
        } catch (error) {
          const size = end - next + 1;
          const isSlow = error instanceof RpcError && error.fault === 'unreachable';
          if (size > 1 && (isSlow || mayBeTooLarge(error))) {
            span = Math.max(1, Math.min(hintOf(error) ?? size >> 1, size >> 1));
          }
          // What took too long is asked for in smaller parts the next time: this time another node has its turn.
          if (size === 1 || isSlow || !mayBeTooLarge(error)) throw error;
        }
      }
      return found;
    },
  };
}

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
