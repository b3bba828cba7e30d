import { expect, test } from 'bun:test';
import { type Following, following } from '../../../test/support/following.ts';
import { createRandom } from '../../../test/support/random.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { eventTopics } from '../../registry/event.ts';
import { readStoredLogs } from '../compare/compare-logs.ts';
import type { Node, NodeLog } from '../rpc/node.ts';
import { RpcError } from '../rpc/rpc.ts';
import { createScanner, type Scanner } from '../rpc/scanner.ts';
import { type HistoryPart, readHistory } from './read-history.ts';

interface HistoryNode {
  readonly url: string;
  /** Unix seconds, of the newest block. */
  readonly time: number;
  /** Calls by method. */
  readonly calls: Map<string, number>;
  /** All logs as `block/index`, in order. */
  readonly logs: readonly string[];
  stop(): Promise<void>;
}

interface NodeRange {
  readonly from: number;
  readonly to: number;
}

interface HistoryNodeOptions {
  /** The newest block. */
  readonly tip: number;
  readonly logsIn: (block: number) => number;
  /** Called for each request before it is answered: with the range of an `eth_getLogs` call, otherwise with null. */
  readonly reject?: (range: NodeRange | null) => Response | null;
  /** Changes the logs of a range, or throws a JSON-RPC error. */
  readonly answer?: <T>(logs: readonly T[], range: NodeRange) => readonly T[];
}

interface NodeRequest {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

const TIME = 1_700_000_000;
const FINAL_DEPTH = 64;
const hex = (value: number) => `0x${value.toString(16)}`;
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`;

/** A JSON-RPC node with a long, simple history that it generates on demand: old enough for the follower to backfill. */
function startHistoryNode(options: HistoryNodeOptions): HistoryNode {
  const { tip, logsIn, reject = () => null, answer = (logs) => logs } = options;
  const timeOf = (block: number) => TIME - (tip - block) * 12;
  const calls = new Map<string, number>();
  const header = (block: number) => ({
    number: hex(block),
    hash: word(block + 1),
    parentHash: word(block),
    timestamp: hex(timeOf(block)),
  });
  const logAt = (block: number, logIndex: number) => ({
    address: MAINNET.registries[2],
    blockNumber: hex(block),
    blockHash: word(block + 1),
    blockTimestamp: hex(timeOf(block)),
    transactionHash: word(block * 1000 + logIndex),
    transactionIndex: hex(logIndex),
    logIndex: hex(logIndex),
    topics: [eventTopics(2)[0], word(block), word(1_000_000 + logIndex)],
    data: `0x${'0'.repeat(64)}${word(1).slice(2)}`,
    removed: false,
  });
  const rangeOf = (filter: unknown): NodeRange => {
    const { fromBlock, toBlock, blockHash } = filter as { fromBlock: string; toBlock: string; blockHash?: string };
    const at = blockHash === undefined ? null : Number(blockHash) - 1;
    return { from: at ?? Number(fromBlock), to: Math.min(tip, at ?? Number(toBlock)) };
  };
  const result = ({ method, params: [first] }: NodeRequest): unknown => {
    calls.set(method, (calls.get(method) ?? 0) + 1);
    if (method === 'eth_chainId') return '0x1';
    if (method === 'eth_getBlockByNumber') {
      return header(first === 'latest' ? tip : first === 'finalized' ? tip - FINAL_DEPTH : Number(first));
    }
    if (method !== 'eth_getLogs') return null;
    const range = rangeOf(first);
    const found = [];
    for (let block = range.from; block <= range.to; block++) {
      for (let index = 0; index < logsIn(block); index++) found.push(logAt(block, index));
    }
    return answer(found, range);
  };
  const respond = (request: NodeRequest) => {
    try {
      return { jsonrpc: '2.0', id: request.id, result: result(request) };
    } catch (error) {
      return { jsonrpc: '2.0', id: request.id, error: { code: -32005, message: (error as Error).message } };
    }
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request) {
      const body = (await request.json()) as NodeRequest | NodeRequest[];
      const isLogs = !Array.isArray(body) && body.method === 'eth_getLogs';
      const rejected = reject(isLogs ? rangeOf(body.params[0]) : null);
      return rejected ?? Response.json(Array.isArray(body) ? body.map(respond) : respond(body));
    },
  });
  return {
    url: server.url.href,
    time: TIME,
    calls,
    logs: Array.from({ length: tip }, (_, position) =>
      Array.from({ length: logsIn(position + 1) }, (_, index) => `${position + 1}/${index}`),
    ).flat(),
    stop: () => server.stop(true),
  };
}

/** Blocks with logs. The rest of the chain is newer, so that these are old history. */
const OLD = 10_000;
const TIP = 21_000;
const inOld = (logs: (block: number) => number) => (block: number) => (block <= OLD ? logs(block) : 0);
const LONG = 100_000;

async function backfill(
  options: Partial<HistoryNodeOptions>,
  run: (one: Following, node: ReturnType<typeof startHistoryNode>) => Promise<void>,
): Promise<void> {
  const node = startHistoryNode({ tip: TIP, logsIn: inOld(() => 2), ...options });
  const network = { ...MAINNET, provable: false };
  const one = await following([node], { firstBlock: 1, clock: node.time * 1000, network });
  try {
    await run(one, node);
    const stored = await readStoredLogs(one.store, 1, 1, LONG);
    const found = stored.map(({ block, logIndex }) => `${block.number}/${logIndex}`);
    expect(found.find((log, position) => log !== node.logs[position])).toBeUndefined();
    expect(found.length).toBe(node.logs.length);
  } finally {
    await one.close();
    await node.stop();
  }
}

test('a backfill holds a bounded number of logs', async () => {
  const served = new Set<number>();
  let most = 0;
  let committed = () => 0;
  await backfill(
    {
      logsIn: inOld(() => 3),
      answer(logs, { from, to }) {
        for (let block = from; block <= Math.min(to, OLD); block++) served.add(block);
        most = Math.max(most, 3 * (served.size - committed()));
        return logs;
      },
    },
    async (one) => {
      committed = () => one.follower.state?.head?.number ?? 0;
      await one.catchUp(1);
      expect(one.errors).toEqual([]);
    },
  );
  // The first response, of 2,000 blocks, shows how many logs to expect.
  expect(most).toBeGreaterThanOrEqual(6000);
  expect(most).toBeLessThanOrEqual(16_000 + 6000);
});

test('a provider with a limit of 2,000 blocks is asked for each block about once', async () => {
  await backfill(
    {
      tip: LONG + TIP - OLD,
      logsIn: (block) => (block % 8 === 0 && block <= LONG ? 1 : 0),
      answer(logs, { from, to }) {
        if (to - from >= 2000) throw new Error('block range too large');
        return logs;
      },
    },
    async (one, node) => {
      await one.catchUp(1);
      expect(one.errors).toEqual([]);
      expect(one.follower.state?.head?.number).toBeGreaterThanOrEqual(LONG);
      // Learning the limit costs some of these.
      expect(node.calls.get('eth_getLogs')).toBeLessThanOrEqual(1.4 * (LONG / 2000));
      expect(node.calls.get('eth_getBlockByNumber')).toBeLessThanOrEqual(LONG / 2000);
    },
  );
});

for (const [name, keep] of [
  ['oldest', (count: number) => [0, count] as const],
  ['newest', (count: number) => [-count, undefined] as const],
] as const) {
  test(`old history is complete if the provider returns only the ${name} logs`, async () => {
    await backfill({ logsIn: inOld((block) => block % 4), answer: (logs) => logs.slice(...keep(700)) }, async (one) => {
      await one.catchUp();
      expect(one.errors).toEqual([]);
    });
  });
}

test('old history is complete if only a few blocks have logs', async () => {
  await backfill(
    { logsIn: inOld((block) => (block % 1700 === 5 ? 3 : 0)), answer: (logs) => logs.slice(0, 4) },
    (one) => one.catchUp(),
  );
});

test('a rate limit delays a backfill and does not fail it', async () => {
  let requests = 0;
  let rejected = 0;
  await backfill(
    {
      logsIn: inOld((block) => (block % 8 === 0 ? 1 : 0)),
      reject(range) {
        if (range === null || ++requests % 3 !== 0) return null;
        rejected++;
        return new Response('slow down', { status: 429, headers: { 'retry-after': '0' } });
      },
    },
    async (one) => {
      await one.catchUp(1);
      expect(one.errors).toEqual([]);
      expect(one.follower.state?.head?.number).toBeGreaterThanOrEqual(OLD);
    },
  );
  expect(rejected).toBeGreaterThan(1);
});

test('a tick starts no calls after twenty seconds, and commits what it has read', async () => {
  let pass = (_: number) => {};
  await backfill(
    {
      tip: LONG + TIP - OLD,
      logsIn: (block) => (block % 8 === 0 && block <= LONG ? 1 : 0),
      answer(logs, { from, to }) {
        if (to - from >= 2000) throw new Error('block range too large');
        pass(6000);
        return logs;
      },
    },
    async (one, node) => {
      pass = (ms) => {
        one.clock += ms;
      };
      await one.catchUp(1);
      expect(one.errors).toEqual([]);
      expect(one.follower.state?.head?.number).toBeWithin(2000, LONG / 2);
      // Some were in flight.
      expect(node.calls.get('eth_getLogs')).toBeLessThan(25);
      pass = () => {};
      await one.catchUp();
    },
  );
});

test('what was read before a failed call is committed', async () => {
  let isBroken = true;
  await backfill(
    { reject: (range) => (isBroken && (range?.to ?? 0) > 6000 ? new Response('', { status: 503 }) : null) },
    async (one) => {
      await one.catchUp(1);
      expect(one.errors).toHaveLength(1);
      expect(one.follower.state?.head?.number).toBeGreaterThan(2000);
      isBroken = false;
      await one.catchUp();
    },
  );
});

test('a part ends with a log, and the last one with the range', async () => {
  const logs = Array.from({ length: 50 }, (_, at) => logAt(1 + 20 * at, 0));
  const fetch = async (from: number, to: number) =>
    logs.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to);
  const sizes = { rangeSize: () => 100, nextSize: () => 100 };
  const scanner: Scanner = { ...sizes, fetchBlockLogs: async () => [], fetchLogs: fetch, fetchUnchecked: fetch };
  const parts: HistoryPart[] = [];
  const onPart = async (part: HistoryPart) => void parts.push(part);
  await readHistory(scanner, { ...withoutLimit, from: 1, to: 1000, maxHeldLogs: 16, onPart });
  expect(parts.length).toBeGreaterThan(2);
  for (const { to, logs } of parts.slice(0, -1)) expect(to).toBe(logs.at(-1)?.blockNumber ?? 0);
  expect(parts.map(({ from }) => from)).toEqual([1, ...parts.slice(0, -1).map(({ to }) => to + 1)]);
  expect(parts.at(-1)?.to).toBe(1000);
  expect(parts.flatMap((part) => part.logs)).toEqual(logs);
});

test('two responses that end with the same block are read again after it', async () => {
  const blocks = [100, 900, 950, 1500];
  const asked: string[] = [];
  const scanner: Scanner = {
    rangeSize: () => 1000,
    nextSize: () => 1000,
    fetchBlockLogs: async () => [],
    async fetchLogs(from, to) {
      asked.push(`${from}..${to}`);
      return blocks.filter((block) => block >= from && block <= to).map((block) => logAt(block, 0));
    },
    // Long ranges end after block 900, as if they had nothing more.
    fetchUnchecked: async (from, to) =>
      (await scanner.fetchLogs(from, to)).filter(({ blockNumber }) => to - from < 500 || blockNumber <= 900),
  };
  const found: number[] = [];
  await readHistory(scanner, {
    from: 1,
    to: 1600,
    deadline: Number.POSITIVE_INFINITY,
    ticks: () => 0,
    onPart: async ({ logs }) => void found.push(...logs.map(({ blockNumber }) => blockNumber)),
  });
  expect(asked.slice(0, 2)).toEqual(['1..1000', '654..1600']);
  expect(found).toEqual(blocks);
});

/** A provider whose calls are answered one by one. */
function startSlow(rangeSize: number, logs: (block: number) => NodeLog[]) {
  const calls: { readonly from: number; readonly answer: () => void }[] = [];
  let started = 0;
  const fetch = (from: number) => {
    started++;
    return new Promise<NodeLog[]>((resolve) => calls.push({ from, answer: () => resolve(logs(from)) }));
  };
  const sizes = { rangeSize: () => rangeSize, nextSize: () => rangeSize };
  return {
    scanner: { ...sizes, fetchBlockLogs: async () => [], fetchLogs: fetch, fetchUnchecked: fetch } satisfies Scanner,
    /** Those in flight. */
    calls,
    started: () => started,
    async answer(some: readonly { answer: () => void }[]) {
      for (const { answer } of some) answer();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
const withoutLimit = { deadline: Number.POSITIVE_INFINITY, ticks: () => 0 };

test('at most 8 calls are in flight, and at most 256 responses wait for an earlier one', async () => {
  const { scanner, calls, started, answer } = startSlow(10, () => []);
  const reading = readHistory(scanner, { ...withoutLimit, from: 1, to: 10_000, onPart: async () => {} });
  expect(calls).toHaveLength(1);
  await answer(calls.splice(0));
  expect(calls).toHaveLength(8);
  const late = calls.splice(0, 1);
  for (; calls.length > 0; await answer(calls.splice(0))) expect(calls.length).toBeLessThanOrEqual(7);
  expect(started()).toBe(2 + 256);
  for (await answer(late); calls.length > 0; await answer(calls.splice(0)));
  await reading;
  expect(started()).toBe(1000);
});

test('as many calls are in flight as there is room for their logs, also after some were committed', async () => {
  const { scanner, calls, answer } = startSlow(1, (block) =>
    Array.from({ length: 10 }, (_, index) => logAt(block, index)),
  );
  let committed = 0;
  const onPart = async ({ to }: { readonly to: number }) => {
    committed = to;
  };
  const reading = readHistory(scanner, { ...withoutLimit, from: 1, to: 100, maxHeldLogs: 80, onPart });
  /** Blocks that were asked for and are not committed. */
  const held: number[] = [];
  for (; calls.length > 0; await answer(calls.splice(0, 1)))
    held.push(calls.length + (calls[0]?.from ?? 0) - 1 - committed);
  await reading;
  expect(new Set(held.slice(1, 90))).toEqual(new Set([8]));
});

test('random histories are complete, whatever the provider truncates and rejects', async () => {
  const random = createRandom(17);
  const int = (below: number) => Math.floor(random() * below);
  let truncated = 0;
  for (let run = 0; run < (process.env['TEST_FAST'] ? 30 : 80); run++) {
    const length = 200 + int(20_000);
    // Blocks with logs come in clusters, or are rare.
    const density = [0.001, 0.02, 0.3, 1][int(4)] as number;
    const logs: NodeLog[] = [];
    for (let block = 1; block <= length; block++) {
      if (random() > density || (block % 3000 < 1000 && run % 2 === 0)) continue;
      for (let index = 0; index <= int(4); index++) logs.push(logAt(block, index));
    }
    // More than two blocks have: a response that ends with its first block cannot be told from a whole one.
    const most = 9 + int(300);
    const keepsOldest = random() < 0.5;
    const keepsBlocks = random() < 0.5;
    const maxRange = random() < 0.5 ? 50 + int(3000) : Number.POSITIVE_INFINITY;
    const truncate = (range: readonly NodeLog[]) => {
      if (range.length <= most) return range;
      truncated++;
      const kept = keepsOldest ? range.slice(0, most) : range.slice(-most);
      const edge = (keepsOldest ? range[most] : range.at(-most - 1))?.blockNumber;
      return keepsBlocks ? kept.filter(({ blockNumber }) => blockNumber !== edge) : kept;
    };
    const node = {
      async logs(_filter: unknown, from: number, to: number) {
        if (to - from >= maxRange) throw new RpcError('refused', 'block range too large');
        return truncate(logs.filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to));
      },
    } as unknown as Node;
    const found: string[] = [];
    let next = 1;
    await readHistory(createScanner(node, { address: [], topics: [] }), {
      from: 1,
      to: length,
      deadline: Number.POSITIVE_INFINITY,
      ticks: () => 0,
      maxHeldLogs: 100 + int(5000),
      async onPart(part) {
        expect(part.from).toBe(next);
        next = part.to + 1;
        for (const { blockNumber, logIndex } of part.logs) found.push(`${blockNumber}/${logIndex}`);
      },
    });
    expect(next).toBe(length + 1);
    expect(found.sort()).toEqual(logs.map(({ blockNumber, logIndex }) => `${blockNumber}/${logIndex}`).sort());
  }
  expect(truncated).toBeGreaterThan(1000);
});

const logAt = (blockNumber: number, logIndex: number) =>
  ({
    address: '0x',
    topics: [],
    data: '0x',
    blockNumber,
    blockHash: `0x${blockNumber.toString(16)}`,
    transactionHash: `0x${(blockNumber * 10 + logIndex).toString(16)}`,
    transactionIndex: logIndex,
    logIndex,
  }) as unknown as NodeLog;
