// Finds the times of blocks: from headers, or from `blockTimestamp` in the logs if a sample of headers agrees.

import { Inconsistent } from '../rpc/errors.ts';
import type { BlockLogs } from '../rpc/group-logs.ts';
import type { Header, Node } from '../rpc/node.ts';

export interface TimeOptions {
  /** Headers that were already fetched. */
  readonly known?: ReadonlyMap<number, Header>;
  /** Times in logs are used only if they rise within these bounds. Without bounds they are not used. */
  readonly between?: { readonly after: number; readonly until: number };
}

export interface BlockTime {
  /** Unix seconds. */
  readonly time: number;
  readonly from: 'header' | 'log';
}

export async function resolveTimes(
  node: Node,
  found: readonly BlockLogs[],
  { known = new Map(), between }: TimeOptions,
): Promise<Map<number, BlockTime>> {
  const times = new Map<number, BlockTime>();
  const setFromHeader = (block: BlockLogs, header: Header | undefined) => {
    if (header?.hash !== block.hash) throw new Inconsistent(`block ${block.number} has two hashes`);
    times.set(block.number, { time: header.timestamp, from: 'header' });
  };
  const readHeaders = async (blocks: readonly BlockLogs[]) => {
    const headers = await node.headers(blocks.map(({ number }) => number));
    for (const [position, block] of blocks.entries()) setFromHeader(block, headers[position]);
  };
  const left: BlockLogs[] = [];
  for (const block of found) {
    if (known.has(block.number)) setFromHeader(block, known.get(block.number));
    else left.push(block);
  }
  const timed = left.filter(({ timestamp }) => timestamp !== null);
  const sample = isPlausible(timed, between) ? [...new Set([timed[0], timed[timed.length >> 1], timed.at(-1)])] : [];
  await readHeaders(left.filter((block) => block.timestamp === null || sample.length === 0 || sample.includes(block)));
  const isSampleRight = sample.every((block) => block && times.get(block.number)?.time === block.timestamp);
  const others = left.filter(({ number }) => !times.has(number));
  if (!isSampleRight) await readHeaders(others);
  else for (const { number, timestamp } of others) times.set(number, { time: timestamp as number, from: 'log' });
  return times;
}

function isPlausible(timed: readonly BlockLogs[], between: TimeOptions['between']): boolean {
  if (between === undefined || timed.length === 0) return false;
  let last = between.after;
  for (const { timestamp } of timed) {
    if (timestamp === null || timestamp < last || timestamp > between.until) return false;
    last = timestamp;
  }
  return true;
}
