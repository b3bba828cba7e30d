// Old history from an archive service: whatever it sends, the index is right in the end, and a service that fails costs no more than a moment.

import { afterAll, describe, expect, test } from 'bun:test';
import { createAuditor } from '../src/chain/follow/auditor.ts';
import { createHistorySource, type HistorySource } from '../src/chain/follow/history-source.ts';
import { readHistoryService } from '../src/chain/rpc/history-service.ts';
import { wrongLists } from './support/every-answer.ts';
import { createChainMaker, type FakeBlock, startFakeNode } from './support/fake-node.ts';
import { following } from './support/following.ts';
import { createRandom } from './support/random.ts';
import { MAINNET } from './support/vectors.ts';
import { FIRST, randomCalls } from './support/world.ts';

/** The newest 10,000 final blocks are read from the node twice. */
const BLOCKS = 10_900;
const random = createRandom(40);
const maker = createChainMaker(FIRST, 12);
const chain: FakeBlock[] = [];
for (let turn = 0; turn < BLOCKS; turn++)
  chain.push(maker.block(chain.at(-1) ?? null, turn < 800 && turn % 3 === 0 ? randomCalls(random) : []));
const LAST_OLD = FIRST + 700;

const toLine = ({ number, hash, parentHash, timestamp, transactions }: FakeBlock) => {
  let logIndex = 0;
  const logs = transactions.flatMap((transaction) =>
    transaction.logs.map((log) => ({ ...log, logIndex: logIndex++, transactionHash: transaction.hash })),
  );
  return { header: { number, hash, parentHash, timestamp }, logs };
};
type Line = ReturnType<typeof toLine>;

/** What the service does with the lines of one response; a string is sent as it is. */
type Fault = (lines: Line[]) => (Line | string)[] | Response;
const service = { fault: ((lines) => lines) as Fault, requests: 0, most: 200 };
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    service.requests++;
    const { fromBlock, toBlock, logs } = (await request.json()) as {
      fromBlock: number;
      toBlock: number;
      logs: { address: string[]; topic0: string[] }[];
    };
    if (!new URL(request.url).pathname.endsWith('/dataset/finalized-stream') || logs[0]?.address.length !== 2)
      return new Response(null, { status: 400 });
    const to = Math.min(toBlock, fromBlock + service.most - 1);
    const lines = chain
      .slice(fromBlock - FIRST, to - FIRST + 1)
      .map(toLine)
      .filter(({ logs, header }) => logs.length > 0 || header.number === to);
    const sent = service.fault(lines);
    if (sent instanceof Response) return sent;
    return new Response(sent.map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)).join(''));
  },
});
const url = `http://127.0.0.1:${server.port}/dataset`;
afterAll(() => server.stop(true));

const middle = (lines: readonly Line[]) => lines.findIndex(({ logs }) => logs.length > 0);
/** In v1 it is in the data, in v2 a topic. */
const withAnotherDelegate = (log: Line['logs'][number]) => {
  const [other, second] = ['77'.padStart(64, '0'), log.topics[2]];
  return second === undefined
    ? { ...log, data: `0x${log.data.slice(2, 66)}${other}${log.data.slice(130)}` }
    : { ...log, topics: log.topics.with(2, `0x${other}`) };
};
const FAULTS: Readonly<Record<string, Fault>> = {
  'cut lines': (lines) => [...lines.slice(0, -1), JSON.stringify(lines.at(-1)).slice(0, -9)],
  'a line that is no JSON': (lines) => [...lines, '<html>\n'],
  'the wrong order': (lines) => lines.toReversed(),
  'a block twice': (lines) => lines.flatMap((line) => [line, line]),
  'blocks that were not asked': (lines) => lines.map((line) => ({ ...line, header: { ...line.header, number: 1 } })),
  'another chain': (lines) =>
    lines.map((line) => ({ ...line, header: { ...line.header, hash: `0x${'ab'.repeat(32)}` as const } })),
  nothing: () => [],
  'HTTP 500': () => new Response(null, { status: 500 }),
  'logs of another contract': (lines) =>
    lines.map((line) => ({
      ...line,
      logs: line.logs.map((log) => ({ ...log, address: `0x${'12'.repeat(20)}` as const })),
    })),
  // What only the audit can see.
  holes: (lines) => lines.filter((_, at) => at !== middle(lines) || at === lines.length - 1),
  'hidden logs': (lines) =>
    lines.map((line, at) => (at === middle(lines) ? { ...line, logs: line.logs.slice(1) } : line)),
  'altered logs': (lines) =>
    lines.map((line, at) => (at === middle(lines) ? { ...line, logs: line.logs.map(withAnotherDelegate) } : line)),
};

/** Always asks the service, until it has failed. */
function always(): HistorySource & { readonly failures: number } {
  const source = createHistorySource(url, MAINNET, () => 0);
  let failures = 0;
  return {
    ...source,
    next: (ms) => ({ source: failures > 0 ? 'node' : 'service', ms }),
    failed: () => void failures++,
    get failures() {
      return failures;
    },
  };
}

async function followed(fault: Fault) {
  service.fault = fault;
  service.requests = 0;
  const node = startFakeNode([], 'process');
  node.finalizedDepth = 10;
  node.chain = chain;
  const history = always();
  const clock = (chain.at(-1) as FakeBlock).timestamp * 1000;
  const one = await following([node], { firstBlock: FIRST, clock, history });
  try {
    await one.catchUp(60);
    const before = await one.store.chain(1);
    const auditor = createAuditor(one.follower, MAINNET, one.store, () => one.clock);
    for (let turn = 0; turn < 60 && (await one.store.chain(1))?.imported !== null; turn++) {
      await auditor.run();
      one.clock += 61_000;
      await one.catchUp(5);
    }
    const wrong: string[] = [];
    for (let number = FIRST; number <= LAST_OLD; number += 7) {
      const { hash } = chain[number - FIRST] as FakeBlock;
      const found = await wrongLists(one.store, 1, maker.modelAt(hash), number);
      if (found !== null) wrong.push(found);
    }
    return { wrong, before, state: await one.store.chain(1), failures: history.failures, errors: one.errors };
  } finally {
    await one.close();
    await node.stop();
  }
}

describe('history from a service', () => {
  test('is taken, marked as imported, and confirmed by the node', async () => {
    const { wrong, before, state, failures, errors } = await followed((lines) => lines);
    expect([wrong, failures, errors]).toEqual([[], 0, []]);
    expect(service.requests).toBeGreaterThan(2);
    expect(before?.imported?.to).toBeGreaterThan(FIRST + 500);
    expect(state?.imported).toBeNull();
    expect(state?.head?.number).toBe(FIRST + BLOCKS - 1);
  });

  for (const [name, fault] of Object.entries(FAULTS)) {
    test(`with ${name} is right in the end`, async () => {
      const { wrong, state } = await followed(fault);
      expect([wrong, state?.imported, state?.disputes, state?.halt]).toEqual([[], null, [], null]);
      expect(state?.head?.number).toBe(FIRST + BLOCKS - 1);
    });
  }

  test('that breaks the protocol is left alone at once', async () => {
    for (const name of Object.keys(FAULTS).slice(0, 9)) {
      const { failures, before } = await followed(FAULTS[name] as Fault);
      expect([name, failures]).toEqual([name, 1]);
      // What came before the fault may have been taken, and is confirmed like the rest.
      expect(before?.head?.number).toBe(FIRST + BLOCKS - 1);
    }
  });

  test('that stalls is not waited for', async () => {
    const quiet = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(new ReadableStream({})) });
    const parts = readHistoryService(`http://127.0.0.1:${quiet.port}`, MAINNET, 1, 2, {
      signal: new AbortController().signal,
      stallMs: 30,
    });
    await expect(parts.next()).rejects.toThrow('nothing came for 30 ms');
    await quiet.stop(true);
  });
});

describe('a service that drips', () => {
  /** Sends one of `pieces` every ten milliseconds. */
  const dripping = async (pieces: readonly string[], options: { stallMs?: number; partMs?: number }) => {
    const slow = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response(async function* () {
          for (const piece of pieces) {
            yield piece;
            await Bun.sleep(10);
          }
        } as never),
    });
    try {
      const signal = new AbortController().signal;
      const last = FIRST + pieces.length - 1;
      const all = readHistoryService(`http://127.0.0.1:${slow.port}`, MAINNET, FIRST, last, { signal, ...options });
      return await Array.fromAsync(all);
    } finally {
      await slow.stop(true);
    }
  };
  const lines = chain.slice(0, 20).map((block) => `${JSON.stringify(toLine(block))}\n`);

  test('lines: its parts end by time, so that it can be left, and have all of it', async () => {
    const parts = await dripping(lines, { partMs: 40 });
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map(({ from }) => from)).toEqual([FIRST, ...parts.slice(0, -1).map(({ to }) => to + 1)]);
    expect(parts.flatMap(({ logs }) => logs).length).toBe(chain.slice(0, 20).flatMap((one) => toLine(one).logs).length);
  });

  test('bytes of a line that does not end: it is left', () =>
    expect(
      dripping(
        Array.from({ length: 100 }, () => ' '),
        { stallMs: 200 },
      ),
    ).rejects.toThrow('nothing came for 200 ms'));

  test('and is waited for while its lines are committed', async () => {
    const all = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(lines.join('')) });
    const signal = new AbortController().signal;
    const read = readHistoryService(`http://127.0.0.1:${all.port}`, MAINNET, FIRST, FIRST + 19, {
      signal,
      stallMs: 50,
      partMs: 0,
    });
    let parts = 0;
    for await (const _ of read) {
      parts++;
      if (parts === 1) await Bun.sleep(200);
    }
    expect(parts).toBe(20);
    await all.stop(true);
  });
});

describe('who is asked', () => {
  const choosing = () => {
    const clock = { now: 0 };
    const source = createHistorySource(url, MAINNET, () => clock.now);
    return { clock, source, next: () => source.next(20_000) };
  };

  test('each is measured for a short while, then the faster one is asked', () => {
    const { source, next } = choosing();
    expect(next()).toEqual({ source: 'node', ms: 4000 });
    source.measured('node', 4000, 4000);
    expect(next()).toEqual({ source: 'service', ms: 4000 });
    source.measured('service', 40_000, 4000);
    expect(next()).toEqual({ source: 'service', ms: 20_000 });
  });

  /** The seconds until the service is asked again, each time. */
  function pausesAfter({ clock, next }: ReturnType<typeof choosing>, leave: () => void): number[] {
    return Array.from({ length: 9 }, () => {
      leave();
      const began = clock.now;
      while (next().source === 'node') clock.now += 1000;
      return (clock.now - began) / 1000;
    });
  }

  test('a slow service is asked again for a short while, first soon, then every ten minutes', () => {
    const all = choosing();
    const { source, next } = all;
    source.measured('node', 4000, 4000);
    const isSlow = () => source.measured('service', 400, 4000);
    expect(pausesAfter(all, isSlow)).toEqual([30, 60, 120, 240, 480, 600, 600, 600, 600]);
    expect(next()).toEqual({ source: 'service', ms: 4000 });
    source.measured('service', 40_000, 4000);
    expect(next()).toEqual({ source: 'service', ms: 20_000 });
    expect(pausesAfter(all, isSlow)[0]).toBe(30);
  });

  test('one that fails is left alone for twice as long each time, up to an hour', () => {
    const all = choosing();
    all.source.measured('node', 4000, 4000);
    expect(pausesAfter(all, all.source.failed)).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
  });
});
