// Measures our backfill from a node with latency, a rate limit and a limit on the range of a call, against the fewest calls that
// the node allows.

import { join } from 'node:path';
import { count, times } from './figures.ts';
import type { Sizes } from './part.ts';
import { readByOurs } from './reading.ts';
import type { Section } from './section.ts';
import { startNode, type Throttle } from './start-node.ts';

const LIMITS = { latencyMs: 100, callsPerSecond: 25, maxBlocks: 2000 };
/** One block in ten has an event. */
const EVENT_EVERY = 10;
const KINDS: readonly (readonly [string, Throttle['above']])[] = [
  ['HTTP 429 above the rate', 'reject'],
  ['a queue above the rate', 'queue'],
];

export async function measureThrottledBackfill(folder: string, { throttledBlocks: blocks }: Sizes): Promise<Section> {
  const fewest = Math.ceil(blocks / LIMITS.maxBlocks);
  const bound = fewest / LIMITS.callsPerSecond;
  const rows: string[][] = [];
  for (const [name, above] of KINDS) {
    await using node = await startNode(blocks, { every: EVENT_EVERY, throttle: { ...LIMITS, above } });
    const databaseUrl = `sqlite:${join(folder, `throttled-${above}.db`)}`;
    const events = Math.floor(blocks / EVENT_EVERY);
    let calls = { answered: 0, rejected: 0 };
    const onEnd = async () => {
      calls = await node.calls();
    };
    const { seconds } = await readByOurs({ name, databaseUrl, rpcUrl: node.url(1), blocks, events, onEnd });
    rows.push([
      name,
      `${seconds.toFixed(1)} s`,
      `${bound.toFixed(1)} s`,
      times(seconds / bound),
      ...[calls.answered, fewest, calls.rejected].map(count),
    ]);
  }
  const { latencyMs, callsPerSecond, maxBlocks } = LIMITS;
  return {
    title: 'Backfill from a node with limits',
    about: `Ours on SQLite, from a node with ${latencyMs} ms latency that allows ${callsPerSecond} calls per second and ${count(maxBlocks)} blocks per eth_getLogs call; each call of a batch counts. The history has ${count(blocks)} blocks, and one block in ten has an event. The bound is the time that the node needs for the fewest eth_getLogs calls that cover the history. Our time also includes process start, learning the limits, the block hashes and times, the checks for truncated responses, and the newest blocks, which are read twice.`,
    columns: ['Node', 'ours', 'bound', 'ours / bound', 'calls', 'fewest calls', 'rejected calls'],
    rows,
    ratios: rows.map(([name, , , ratio = '']) => ({
      what: `Backfill from a node with limits, ${name}: time over the bound`,
      figure: ratio,
    })),
  };
}
