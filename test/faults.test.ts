// Runs a follower against every known fault of chains and nodes. Each must end in the right state or an explicit "not ready".

import { describe, expect, test } from 'bun:test';
import { createFollower } from '../src/chain/follow/follower.ts';
import type { Node } from '../src/chain/rpc/node.ts';
import { createProviderPool } from '../src/chain/rpc/provider-pool.ts';
import { createRpc, RpcError } from '../src/chain/rpc/rpc.ts';
import { createScanner } from '../src/chain/rpc/scanner.ts';
import { NETWORKS, type Network } from '../src/registry/network.ts';
import { type FakeNode, type Fault, logsJson, NO_ANSWER, Refusal, startFakeNode } from './support/fake-node.ts';
import { noOldState } from './support/node-quirks.ts';
import { unreadRevocations } from './support/stored.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, FIRST, type World, type WorldOptions } from './support/world.ts';

const KINDS = process.env['TEST_FAST'] ? [true] : [true, false];

/** Runs a test on a world whose follower has caught up with the head: with blocks that can be proven, and without. */
function fault(name: string, options: WorldOptions, work: (world: World, node: FakeNode) => Promise<void>): void {
  const kinds = options.isProvable === undefined ? KINDS : [options.isProvable];
  test.each(kinds)(`${name}${kinds.length > 1 ? ' (proofs: %p)' : ''}`, async (isProvable) => {
    const world = await createWorld({ ...options, isProvable });
    const [node] = world.nodes as [FakeNode];
    try {
      await world.rest();
      expect(await world.expectRight()).toBeNull();
      world.one.errors.length = 0;
      await work(world, node);
    } finally {
      await world.close();
    }
  });
}

/** With honest nodes again, the follower must recover completely. */
async function endsRight(world: World): Promise<void> {
  for (const node of world.nodes) node.fault = null;
  world.show();
  await world.rest();
  expect(await world.expectRight()).toBeNull();
}

const on =
  (method: string, change: (honest: () => unknown, params: readonly unknown[]) => unknown): Fault =>
  (question, honest) =>
    question.method === method ? change(honest, question.params) : honest();

const isTag = (params: readonly unknown[], tag: string) => params[0] === tag;
const busy = () => [
  { call: ['v2', WALLETS[0], 'delegateAll', [WALLETS[1], `0x${'0'.repeat(64)}`, true]], direct: true } as const,
  { call: ['v1', WALLETS[1], 'delegateForAll', [WALLETS[2], true]], direct: true } as const,
];
const quiet = () => [];

describe('missing logs', () => {
  fault('1: eth_getLogs returns [] although logs exist', {}, async (world, node) => {
    node.fault = on('eth_getLogs', () => []);
    world.grow(3, busy);
    await world.one.catchUp();
    await endsRight(world);
  });

  fault(
    '1: with a second node, a logs bloom that shows more logs leads to the right answer at once',
    { nodes: 2 },
    async (world) => {
      for (const node of world.nodes.slice(0, 1)) node.fault = on('eth_getLogs', () => []);
      world.grow(1, busy);
      await world.one.catchUp();
      expect(await world.expectRight()).toBeNull();
    },
  );

  fault('2: some logs of a block are missing', {}, async (world, node) => {
    node.fault = on('eth_getLogs', (honest) => (honest() as unknown[]).slice(1));
    world.grow(2, busy);
    await world.one.catchUp();
    expect((await world.difference()) === null).toBe(world.isProvable);
    await endsRight(world);
    expect(world.one.events.some(({ type }) => type === 'repaired')).toBe(!world.isProvable);
  });

  fault('3: a block is visible before its logs', {}, async (world, node) => {
    let left = 2;
    node.fault = on('eth_getLogs', (honest) => (left-- > 0 ? [] : honest()));
    world.grow(1, busy);
    await world.one.catchUp();
    await endsRight(world);
  });

  fault('4: the head comes from one node, the logs from a node that lags', {}, async (world, node) => {
    const behind = world.chain;
    node.fault = on('eth_getLogs', (honest, [filter]) => {
      const { blockHash } = filter as { blockHash?: string };
      if (blockHash !== undefined && !behind.some(({ hash }) => hash === blockHash))
        throw new Refusal(-32000, 'unknown block');
      return honest();
    });
    const before = await world.one.store.chain(1);
    world.grow(1, busy);
    await world.one.catchUp(3);
    expect((await world.one.store.chain(1))?.head).toEqual(before?.head as never);
    await endsRight(world);
  });

  fault('5: a range beyond the head of the node comes back empty or truncated', {}, async (world, node) => {
    const behind = world.chain.length;
    node.fault = on('eth_getLogs', (honest, [filter]) => {
      const { blockHash } = filter as { blockHash?: string };
      if (blockHash !== undefined) return honest();
      return (honest() as { blockNumber: string }[]).filter(({ blockNumber }) => Number(blockNumber) < FIRST + behind);
    });
    world.grow(4, busy);
    await world.one.catchUp(3);
    await endsRight(world);
  });

  fault(
    '17: an error for pruned history does not make the follower shrink its range',
    { blocks: 5, nodes: 2 },
    async (world, node) => {
      const other = world.nodes[1] as FakeNode;
      node.fault = on('eth_getLogs', () => {
        throw new Refusal(4444, 'pruned history unavailable');
      });
      world.grow(400);
      node.calls.clear();
      await world.one.catchUp(3);
      expect(node.calls.get('eth_getLogs') ?? 0).toBeLessThan(12);
      await world.rest();
      expect(await world.expectRight()).toBeNull();
      expect(other.calls.get('eth_getLogs')).toBeGreaterThan(0);
    },
  );

  fault('25: a silent cap on results', { blocks: 5 }, async (world, node) => {
    node.fault = on('eth_getLogs', (honest) => (honest() as unknown[]).slice(0, 1000));
    world.grow(1500, busy);
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    const logs = await world.one.store.logs(1, { from: FIRST + 5, to: FIRST + 2000, limit: 10_000 });
    expect(logs.length).toBe(3000);
  });

  fault('41: the finality tag jumps over a log that came late', {}, async (world, node) => {
    world.grow(1, busy);
    const late = world.chain.at(-1);
    node.fault = on('eth_getLogs', (honest) =>
      (honest() as { blockHash: string }[]).filter(({ blockHash }) => blockHash !== late?.hash),
    );
    await world.one.catchUp();
    expect((await world.difference()) === null).toBe(world.isProvable);
    node.finalizedDepth = 0;
    world.grow(20, quiet);
    const verified = (await world.one.store.chain(1))?.verified ?? 0;
    expect(verified).toBeLessThan(late?.number ?? 0);
    await endsRight(world);
  });

  fault(
    '45: fewer logs for the same block hash are an error of the node and cause no rollback',
    { nodes: 2 },
    async (world, node) => {
      world.grow(3, busy);
      await world.rest();
      node.fault = on('eth_getLogs', () => []);
      const before = await world.one.store.logs(1, { from: FIRST, to: FIRST + 100, limit: 1000 });
      world.one.clock += 61_000;
      await world.one.catchUp(3);
      expect(await world.one.store.logs(1, { from: FIRST, to: FIRST + 100, limit: 1000 })).toEqual(before);
      expect(world.one.providers.all[0]?.failure?.cause).toBe(world.isProvable ? 'wrong-data' : 'inconsistent');
      await endsRight(world);
    },
  );
});

describe('wrong heads', () => {
  for (const [name, pick] of [
    ['6: the head goes backwards without a reorg', 3],
    ['7: a random old block as head', 25],
  ] as const) {
    fault(name, {}, async (world, node) => {
      const before = await world.one.store.chain(1);
      node.fault = on('eth_getBlockByNumber', (honest, params) => {
        if (!isTag(params, 'latest')) return honest();
        const { chain } = node;
        node.chain = chain.slice(0, -pick);
        const block = honest();
        node.chain = chain;
        return block;
      });
      await world.one.catchUp(3);
      expect(world.one.errors.map(({ name }) => name)).toContain('Lagging');
      expect((await world.one.store.chain(1))?.head).toEqual(before?.head as never);
      await endsRight(world);
    });
  }

  fault('32: null instead of a block', {}, async (world, node) => {
    node.fault = on('eth_getBlockByNumber', () => null);
    world.grow(2);
    await world.one.catchUp(3);
    expect(world.one.errors).toHaveLength(3);
    await endsRight(world);
  });

  fault('8: the finalized block goes backwards, stalls, and is unknown', {}, async (world, node) => {
    const verified = async () => (await world.one.store.chain(1))?.verified ?? 0;
    const before = await verified();
    node.finalizedDepth = 35;
    world.grow(2);
    await world.rest();
    expect(await verified()).toBe(before);
    node.finalizedDepth = null;
    world.grow(100, quiet);
    await world.rest();
    // Without the tag, blocks older than 15 minutes count as final.
    expect(await verified()).toBeGreaterThan(before);
    await endsRight(world);
  });

  fault(
    '42: instant finality behind a load balancer with a lagging node',
    { finalizedDepth: 0, nodes: 2 },
    async (world) => {
      const behind = world.nodes[1] as FakeNode;
      for (let turn = 0; turn < 6; turn++) {
        world.grow(1, busy);
        behind.chain = world.chain.slice(0, -2);
        await world.one.catchUp(4);
        const state = await world.one.store.chain(1);
        const [final] = await world.one.store.blocks(1, { from: state?.verified ?? 0, to: state?.verified ?? 0 });
        expect((state?.head?.timestamp ?? 0) - (final?.timestamp ?? 0)).toBeGreaterThanOrEqual(60);
      }
      world.reorg(3, 4, busy);
      await endsRight(world);
    },
  );

  fault('45: a provider at a lower head causes no rollback', { nodes: 2 }, async (world) => {
    const [ahead, behind] = world.nodes as [FakeNode, FakeNode];
    world.grow(5, busy);
    behind.chain = world.chain.slice(0, -5);
    for (let turn = 0; turn < 8; turn++) {
      ahead.fault = turn % 2 === 0 ? null : on('eth_getBlockByNumber', () => null);
      world.one.clock += 12_000;
      await world.one.catchUp(3);
    }
    expect(world.one.events.filter(({ type }) => type === 'reorg')).toEqual([]);
    await endsRight(world);
  });
});

describe('reorgs', () => {
  for (const [name, depth, blocks, calls] of [
    ['9: a reorg of one block', 1, 2, undefined],
    ['9: a reorg of many blocks', 8, 9, undefined],
    ['9: a reorg to the same height', 4, 4, undefined],
    ['9: a reorg to a branch without logs', 6, 7, quiet],
    ['13: a reorg in a gap of empty blocks', 3, 40, quiet],
  ] as const) {
    fault(name, {}, async (world) => {
      world.grow(3, busy);
      await world.one.catchUp();
      world.reorg(depth, blocks, calls);
      await world.one.catchUp();
      expect(await world.expectRight()).toBeNull();
      expect(world.one.events.filter(({ type }) => type === 'reorg')).toHaveLength(1);
      await endsRight(world);
    });
  }

  fault('10: a second reorg while the first is being followed', {}, async (world, node) => {
    world.grow(3, busy);
    await world.one.catchUp();
    world.reorg(4, 5);
    let turned = false;
    node.fault = on('eth_getLogs', (honest) => {
      if (!turned) {
        turned = true;
        world.reorg(3, 5, busy);
      }
      return honest();
    });
    await world.one.catchUp();
    expect(await world.difference()).toBeNull();
    await endsRight(world);
  });

  fault('11: a reorg down to the last finalized block', {}, async (world) => {
    const state = await world.one.store.chain(1);
    const depth = (world.chain.at(-1)?.number ?? 0) - (state?.verified ?? 0);
    world.reorg(depth, depth + 1);
    await world.one.catchUp();
    expect((await world.one.store.chain(1))?.halt).toBeNull();
    expect(await world.expectRight()).toBeNull();
  });

  fault(
    '12: a reorg below the finalized block halts the chain, which resumes once the new branch is confirmed',
    {},
    async (world) => {
      const state = await world.one.store.chain(1);
      const depth = (world.chain.at(-1)?.number ?? 0) - (state?.verified ?? 0) + 5;
      world.reorg(depth, depth + 3);
      await world.one.catchUp(3);
      expect((await world.one.store.chain(1))?.halt?.code).toBe('finality-violation');
      for (let turn = 0; turn < 6; turn++) {
        world.one.clock += 30_000;
        await world.one.catchUp(5);
      }
      expect((await world.one.store.chain(1))?.halt).toBeNull();
      await endsRight(world);
    },
  );

  fault('12: a wrong finalized block halts the chain only while the node returns it', {}, async (world, node) => {
    const { chain } = node;
    const state = await world.one.store.chain(1);
    const depth = (world.chain.at(-1)?.number ?? 0) - (state?.verified ?? 0) + 5;
    world.reorg(depth, depth + 3);
    await world.one.catchUp(3);
    expect((await world.one.store.chain(1))?.halt).not.toBeNull();
    world.chain = chain;
    await endsRight(world);
  });

  fault('14: a reorg while the follower was down', {}, async (world) => {
    world.grow(3, busy);
    await world.one.catchUp();
    world.reorg(5, 20);
    world.one.restart();
    await world.one.catchUp();
    expect(await world.expectRight()).toBeNull();
  });

  fault('15: a reorg between two requests of a tick', {}, async (world, node) => {
    for (const method of ['eth_getBlockByNumber', 'eth_getLogs', 'eth_getTransactionByHash']) {
      world.grow(4);
      let left = 2;
      node.fault = on(method, (honest) => {
        if (--left === 0) world.reorg(3, 4, busy);
        return honest();
      });
      await world.one.catchUp(4);
      expect(await world.difference()).toBeNull();
    }
    await endsRight(world);
  });

  fault('16: the node cannot return the blocks of the new branch', {}, async (world, node) => {
    world.grow(3, busy);
    await world.one.catchUp();
    const before = await world.one.store.chain(1);
    node.fault = on('eth_getLogs', () => {
      throw new Refusal(-32000, 'internal error');
    });
    world.reorg(4, 5);
    await world.one.catchUp(3);
    // No rollback without a replacement: the old branch stays until the new one is available.
    expect((await world.one.store.chain(1))?.head).toEqual(before?.head as never);
    await endsRight(world);
  });
});

describe('malformed logs', () => {
  fault('18: a log with removed: true', {}, async (world, node) => {
    node.fault = on('eth_getLogs', (honest) => (honest() as object[]).map((log) => ({ ...log, removed: true })));
    world.grow(2, busy);
    await world.one.catchUp(3);
    expect(world.one.errors).toHaveLength(3);
    await endsRight(world);
  });

  fault('19: the block hash is unknown', {}, async (world, node) => {
    node.fault = on('eth_getLogs', (honest, [filter]) => {
      if ((filter as { blockHash?: string }).blockHash !== undefined) throw new Refusal(-32000, 'unknown block');
      return honest();
    });
    world.grow(2, busy);
    await world.one.catchUp(3);
    expect(world.one.errors).toHaveLength(3);
    await endsRight(world);
  });

  fault('20: the same log twice', {}, async (world, node) => {
    node.fault = on('eth_getLogs', (honest) => (honest() as object[]).flatMap((log) => [log, log]));
    world.grow(3, busy);
    await world.one.catchUp();
    expect(await world.expectRight()).toBeNull();
    await endsRight(world);
  });

  fault('21: log indexes differ from node to node', { nodes: 2 }, async (world, node) => {
    node.fault = on('eth_getLogs', (honest) => (honest() as object[]).map((log) => ({ ...log, logIndex: '0x0' })));
    const other = world.nodes[1] as FakeNode;
    for (let turn = 0; turn < 6; turn++) {
      other.fault = turn % 2 === 0 ? on('eth_getBlockByNumber', () => null) : null;
      world.grow(2, busy);
      world.one.clock += 61_000;
      await world.one.catchUp(4);
    }
    expect(world.one.events.filter(({ type }) => type === 'repaired')).toEqual([]);
    await endsRight(world);
  });

  for (const [name, bloom] of [
    ['22: a logs bloom without any bit set', '0'],
    ['22: a logs bloom with every bit set', 'f'],
  ] as const) {
    fault(name, {}, async (world, node) => {
      node.fault = on('eth_getBlockByNumber', (honest) => {
        const block = honest() as object | null;
        return block && { ...block, logsBloom: `0x${bloom.repeat(512)}` };
      });
      const before = (await world.one.store.chain(1))?.head;
      world.grow(4);
      await world.one.catchUp();
      // A header that does not hash to its hash is not followed.
      if (world.isProvable) expect((await world.one.store.chain(1))?.head).toEqual(before as never);
      else expect(await world.expectRight()).toBeNull();
      await endsRight(world);
    });
  }

  fault(
    '23: optional fields are missing, and transactions have no hash',
    { isProvable: false },
    async (world, node) => {
      node.fault = (question, honest) => {
        const answer = honest();
        if (question.method === 'eth_getBlockByNumber' && answer !== null)
          return { ...(answer as object), logsBloom: undefined };
        if (question.method !== 'eth_getLogs') return answer;
        return (answer as Record<string, unknown>[]).map(({ removed: _, transactionIndex: __, ...log }) => ({
          ...log,
          transactionHash: `0x${'0'.repeat(64)}`,
        }));
      };
      world.grow(5);
      await world.one.catchUp();
      expect(await world.expectRight()).toBeNull();
    },
  );

  fault('37: logs out of order', {}, async (world, node) => {
    node.fault = on('eth_getLogs', (honest) => (honest() as unknown[]).reverse());
    world.grow(60);
    await world.rest();
    expect(await world.expectRight()).toBeNull();
  });
});

/** Of nodes that fail, the connection is part. */
const SOCKET: WorldOptions = { where: 'socket' };

describe('failing nodes', () => {
  fault('24: providers disagree', { ...SOCKET, nodes: 2 }, async (world) => {
    const [, other] = world.nodes as [FakeNode, FakeNode];
    world.grow(3, busy);
    const branch = world.chain;
    for (let turn = 0; turn < 6; turn++) {
      world.reorg(2, 3);
      other.chain = branch;
      world.one.clock += 12_000;
      await world.one.catchUp(3);
      expect(await world.difference()).toBeNull();
    }
    await endsRight(world);
  });

  const responses: readonly (readonly [string, () => Response])[] = [
    ['29: HTTP 429', () => new Response('slow down', { status: 429 })],
    ['29: HTTP 502', () => new Response('bad gateway', { status: 502 })],
    ['31: HTML', () => new Response('<html>Just a moment…</html>', { headers: { 'content-type': 'text/html' } })],
    ['31: an empty body', () => new Response('')],
    ['31: an error with HTTP 200', () => Response.json({ error: { code: -32000, message: 'capacity exceeded' } })],
    ['31: missing responses in a batch', () => Response.json([null, {}, { jsonrpc: '2.0', id: 1 }])],
  ];
  for (const [name, response] of responses) {
    fault(`${name}, in bursts`, SOCKET, async (world, node) => {
      node.fault = (_question, honest) => (world.random() < 0.6 ? response() : honest());
      for (let turn = 0; turn < 6; turn++) {
        world.grow(2);
        world.one.clock += 30_000;
        await world.one.catchUp(3);
        expect(await world.difference()).toBeNull();
      }
      await endsRight(world);
    });
  }

  fault('30: a request hangs', {}, async (world, node) => {
    node.fault = () => NO_ANSWER;
    world.grow(2);
    await world.one.catchUp(2);
    expect(world.one.errors[0]?.message).toContain('No complete response within');
    await endsRight(world);
  });

  test('30: a response body hangs', async () => {
    const node = startFakeNode();
    const start = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new TextEncoder().encode('{"jsonrpc":'));
    node.fault = () => new Response(new ReadableStream({ start }));
    const rpc = createRpc(node.url, { timeoutMs: 200, maxBytes: 1_000_000 });
    await expect(rpc.call('eth_chainId', [])).rejects.toThrow('within 200 ms');
    await node.stop();
  });

  fault('33: another chain behind the URL', { ...SOCKET, nodes: 2 }, async (world, node) => {
    node.chainId = 5;
    world.one.restart();
    node.calls.clear();
    world.grow(3);
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    expect([...node.calls.keys()]).toEqual(['eth_chainId']);
  });

  test('39: a response of 100 MB is rejected, and not read to its end', async () => {
    const world = await createWorld();
    const [node] = world.nodes as [FakeNode];
    const part = new Uint8Array(64 * 1024).fill(0x20);
    let sent = 0;
    const pull = (controller: ReadableStreamDefaultController) => {
      sent += part.length;
      if (sent > 100e6) controller.close();
      else controller.enqueue(part);
    };
    node.fault = () => new Response(new ReadableStream({ pull }));
    const rpc = createRpc(node.url, { timeoutMs: 60_000, maxBytes: 1_000_000 });
    await expect(rpc.call('eth_chainId', [])).rejects.toThrow('larger than 1000000 bytes');
    // The limit, and what the buffers between hold.
    expect(sent).toBeLessThan(20e6);
    await world.close();
  });

  test('40: no error contains a secret from the URL', async () => {
    const secret = 'SECRET-KEY-123';
    const urls = [
      `http://127.0.0.1:9/v2/${secret}`,
      `http://${secret}.invalid/`,
      `http://user:${secret}@127.0.0.1:9/?key=${secret}`,
    ];
    const providers = createProviderPool(MAINNET, urls, { timeoutMs: 500 });
    const error = await providers.pick(0).catch((cause) => cause);
    expect(error).toBeInstanceOf(RpcError);
    const failures = providers.all.map(({ failure, name }) => [failure, name]);
    const reported = JSON.stringify([error.message, error.stack, String(error.cause), failures]);
    expect(reported).not.toContain(secret);
    // A node's message may repeat the key in any form: it must be redacted.
    for (const said of [`upstream https://rpc.example/v2/${secret} failed`, `key ${secret} is over its limit`]) {
      expect(providers.redact(said)).not.toContain(secret);
    }
  });

  fault('34: a node is down for hours', SOCKET, async (world, node) => {
    node.fault = () => new Response('', { status: 503 });
    for (let turn = 0; turn < 20; turn++) {
      world.grow(20);
      world.one.clock += 600_000;
      await world.one.catchUp(2);
    }
    node.calls.clear();
    await endsRight(world);
  });
});

describe('ranges', () => {
  const nodeOf = (logs: (from: number, to: number) => Promise<never[]>) =>
    ({ logs: (_: unknown, from: number, to: number) => logs(from, to) }) as unknown as Node;
  const tooMany = (message: string) => new RpcError('refused', message, { rpcCode: -32005 });
  const FILTER = { address: [], topics: [] };

  for (const [name, message] of [
    [
      '26: the suggested range is the requested one',
      (from: number, to: number) => `try [0x${from.toString(16)}, 0x${to.toString(16)}]`,
    ],
    [
      '26: the suggested range is inverted',
      (from: number, to: number) => `try [0x${to.toString(16)}, 0x${from.toString(16)}]`,
    ],
    ['26: the node suggests a range', (from: number) => `try [0x${from.toString(16)}, 0x${(from + 9).toString(16)}]`],
    ['26: the node suggests no range', () => 'too many results'],
  ] as const) {
    test(name, async () => {
      const asked: [number, number][] = [];
      const node = nodeOf(async (from, to) => {
        expect(from).toBeLessThanOrEqual(to);
        if (to - from >= 10) throw tooMany(message(from, to));
        asked.push([from, to]);
        return [];
      });
      await createScanner(node, FILTER).fetchLogs(1, 300);
      // Every block is read once, in order.
      let next = 1;
      for (const [from, to] of asked) {
        expect(from).toBe(next);
        next = to + 1;
      }
      expect(next).toBe(301);
    });
  }

  test('28: ranges grow again after a temporary error', async () => {
    let broken = true;
    let calls = 0;
    const node = nodeOf(async (from, to) => {
      calls++;
      if (broken && to > from) throw tooMany('too many results');
      return [];
    });
    const scanner = createScanner(node, FILTER);
    await scanner.fetchLogs(1, 20);
    broken = false;
    calls = 0;
    await scanner.fetchLogs(21, 20_000);
    expect(calls).toBeLessThan(40);
  });

  fault('27: fromBlock is never greater than toBlock', {}, async (world, node) => {
    let inverted = 0;
    node.fault = on('eth_getLogs', (honest, [filter]) => {
      const { fromBlock, toBlock, blockHash } = filter as { fromBlock: string; toBlock: string; blockHash?: string };
      if (blockHash === undefined && Number(fromBlock) > Number(toBlock)) inverted++;
      return honest();
    });
    for (let turn = 0; turn < 10; turn++) {
      if (turn % 3 === 0) world.reorg(2, 2);
      else world.grow(turn);
      world.one.clock += 61_000;
      await world.one.catchUp();
    }
    expect(inverted).toBe(0);
    await endsRight(world);
  });

  test('36: the switch from backfill to live loses nothing', async () => {
    for (let blocks = 12; blocks < 60; blocks += 5) {
      const world = await createWorld({ blocks, seed: blocks });
      await world.one.catchUp();
      world.grow(3, busy);
      await world.one.catchUp();
      expect(await world.expectRight()).toBeNull();
      const logs = await world.one.store.logs(1, { from: FIRST, to: FIRST + 100, limit: 1000 });
      expect(logs.length).toBe(world.chain.flatMap((block) => logsJson(block, {})).length);
      await world.close();
    }
  });

  fault('38: a block every 0.1 s', { seconds: 0 }, async (world) => {
    for (let turn = 0; turn < 5; turn++) {
      world.grow(300, () => (world.random() < 0.05 ? busy() : []));
      world.one.clock += 30_000;
      await world.one.catchUp();
      if (turn === 2) world.reorg(60, 70);
    }
    await endsRight(world);
  });
});

describe('writers and states', () => {
  fault('43: a follower that was overtaken writes nothing', {}, async (world) => {
    const overtaken = world.one.follower;
    world.one.restart();
    world.grow(2, busy);
    await world.one.catchUp();
    const before = await world.one.store.chain(1);
    world.grow(2, busy);
    await expect(overtaken.tick()).rejects.toThrow('another writer has claimed the chain');
    expect((await world.one.store.chain(1))?.head).toEqual(before?.head as never);
    await endsRight(world);
  });

  fault('44: without a new block for hours, the head is still confirmed', {}, async (world) => {
    world.one.clock += 7_200_000;
    await world.one.catchUp();
    const state = await world.one.store.chain(1);
    expect(state?.confirmedAt).toBe(Math.floor(world.one.clock / 1000));
    expect(await world.expectRight()).toBeNull();
  });

  fault(
    '46: the v1 state is unknown at a revocation, is read later, and then a reorg removes that block',
    {},
    async (world, node) => {
      const grants = () => [{ call: ['v1', WALLETS[0], 'delegateForAll', [WALLETS[1], true]], direct: true } as const];
      const revokes = () => [{ call: ['v1', WALLETS[0], 'revokeDelegate', [WALLETS[1]]], direct: false } as const];
      world.grow(1, grants);
      await world.one.catchUp();
      node.fault = noOldState(node, -1);
      world.grow(1, revokes);
      await world.one.catchUp();
      expect(await unreadRevocations(world.one.store, 1)).toHaveLength(1);
      expect(await world.difference()).toBeNull();
      // The state of later blocks is available again.
      node.fault = noOldState(node, 0);
      world.grow(1, quiet);
      world.one.clock += 12_000;
      await world.one.catchUp();
      expect((await unreadRevocations(world.one.store, 1)).map(({ readAt }) => readAt !== null)).toEqual([true]);
      expect(await world.difference()).toBeNull();
      world.reorg(1, 2, quiet);
      await world.one.catchUp();
      expect(await world.difference()).toBeNull();
      await endsRight(world);
      expect((await unreadRevocations(world.one.store, 1)).every(({ readAt }) => readAt !== null)).toBe(true);
    },
  );

  test('a chain is partial if its first block is after the deployment of the registry', async () => {
    for (const [code, partial] of [
      [() => '0x60', true],
      [() => '0x', false],
      [
        () => {
          throw new Refusal(-32_000, 'missing trie node');
        },
        true,
      ],
    ] as const) {
      const world = await createWorld({ blocks: 10 });
      const [node] = world.nodes as [FakeNode];
      const { store } = world.one;
      node.chainId = 8453;
      node.fault = on('eth_getCode', code);
      const providers = createProviderPool(NETWORKS.get(8453) as Network, [node.url]);
      const network = { ...MAINNET, chainId: 8453, firstBlock: {} };
      await createFollower({ network, store, providers, now: () => world.one.clock, firstBlock: FIRST + 1 }).tick();
      expect((await store.chain(8453))?.partial).toBe(partial);
      await world.close();
    }
  });

  test('without a configured or published first block, it is found by the registry code', async () => {
    const world = await createWorld({ blocks: 50 });
    const [node] = world.nodes as [FakeNode];
    node.fault = on('eth_getCode', (_, [, tag]) => (Number(tag) >= FIRST + 17 ? '0x60' : '0x'));
    const network: Network = { ...(NETWORKS.get(1) as Network), firstBlock: {} };
    const follower = createFollower({
      network,
      store: world.one.store,
      providers: createProviderPool(MAINNET, [node.url]),
      now: () => world.one.clock,
    });
    await follower.tick();
    expect(follower.state?.firstBlock).toBe(FIRST + 17);
    await world.close();
  });
});

describe('found by review', () => {
  fault(
    'a reorg below the base while a range is read does not mix branches',
    { finalizedDepth: null },
    async (world, node) => {
      world.grow(5, busy);
      await world.one.catchUp();
      let turned = false;
      world.grow(60);
      node.fault = on('eth_getLogs', (honest) => {
        if (!turned) {
          turned = true;
          world.reorg(63, 66);
        }
        return honest();
      });
      await world.one.catchUp(3);
      expect(await world.difference()).toBeNull();
      await endsRight(world);
    },
  );

  fault(
    'logs withheld in one response for many blocks are found before those blocks count as final',
    {},
    async (world, node) => {
      let left = 4;
      node.fault = on('eth_getLogs', (honest) => (left-- > 0 ? [] : honest()));
      world.grow(100, busy);
      await world.one.catchUp(1);
      node.fault = null;
      for (let turn = 0; turn < 4; turn++) {
        world.one.clock += 61_000;
        await world.one.catchUp();
      }
      expect(await world.expectRight()).toBeNull();
      expect((await world.one.store.chain(1))?.verified).toBeGreaterThan(FIRST + 100);
    },
  );

  fault('one of two nodes with another finalized block does not halt the chain', { nodes: 2 }, async (world) => {
    const [liar, honest] = world.nodes as [FakeNode, FakeNode];
    const { chain } = world;
    const depth = (chain.at(-1)?.number ?? 0) - ((await world.one.store.chain(1))?.verified ?? 0) + 5;
    world.reorg(depth, depth + 3);
    const lie = world.chain;
    world.chain = chain;
    for (let turn = 0; turn < 10; turn++) {
      world.grow(1);
      liar.chain = lie;
      world.one.clock += 30_000;
      await world.one.catchUp(4);
      expect((await world.one.store.chain(1))?.halt).toBeNull();
    }
    expect(await world.difference()).toBeNull();
    // The wrong block is not accepted while the honest node is down, either.
    honest.fault = () => new Response('', { status: 503 });
    for (let turn = 0; turn < 10; turn++) {
      world.one.clock += 60_000;
      await world.one.catchUp(4);
    }
    expect(await world.difference()).toBeNull();
    await endsRight(world);
  });

  fault('the follower leaves a node that is stuck for one that is not', { nodes: 2 }, async (world) => {
    const [frozen] = world.nodes as [FakeNode];
    const still = world.chain;
    for (let turn = 0; turn < 20; turn++) {
      world.grow(1);
      frozen.chain = still;
      world.one.clock += 12_000;
      await world.one.catchUp(3);
    }
    expect(await world.expectRight()).toBeNull();
  });

  for (const [name, change] of [
    ['null for every numbered block', (_: object, tag: unknown) => (tag === 'latest' ? undefined : null)],
    ['implausible block times', (block: object) => ({ ...block, timestamp: '0x1' })],
  ] as const) {
    fault(`the follower leaves a node with ${name} for another`, { nodes: 2 }, async (world, node) => {
      node.fault = on('eth_getBlockByNumber', (honest, [tag]) => {
        const block = honest() as object | null;
        const changed = block === null ? null : change(block, tag);
        return changed === undefined ? block : changed;
      });
      for (let turn = 0; turn < 10; turn++) {
        world.grow(2);
        await world.one.catchUp(3);
      }
      expect(await world.expectRight()).toBeNull();
    });
  }

  fault('a second node of another chain is never used', { nodes: 2 }, async (world, node) => {
    const other = world.nodes[1] as FakeNode;
    other.chainId = 10;
    world.one.restart();
    other.calls.clear();
    node.fault = on('eth_call', () => {
      throw new Refusal(-32000, 'missing trie node');
    });
    world.grow(10);
    await world.one.catchUp();
    expect([...other.calls.keys()]).toEqual(['eth_chainId']);
    await endsRight(world);
  });

  fault('a dead second node does not delay the first', { nodes: 2 }, async (world, node) => {
    await world.rest();
    const other = world.nodes[1] as FakeNode;
    other.fault = () => new Response('', { status: 503 });
    node.fault = on('eth_call', () => {
      throw new Refusal(-32000, 'missing trie node');
    });
    world.grow(20);
    await world.one.catchUp();
    expect((await world.one.store.chain(1))?.head?.hash).toBe(world.chain.at(-1)?.hash as never);
    expect(await world.difference()).toBeNull();
    await endsRight(world);
  });
});
