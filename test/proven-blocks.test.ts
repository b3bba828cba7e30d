// What a block contains is computed from its hash: lies that a majority, a longer list or an older opinion would have believed.

import { describe, expect, test } from 'bun:test';
import { createAuditor } from '../src/chain/follow/auditor.ts';
import { proveLogs } from '../src/chain/prove/block.ts';
import { stateSyncHash } from '../src/chain/prove/receipts.ts';
import { createNode } from '../src/chain/rpc/node.ts';
import { createRpc } from '../src/chain/rpc/rpc.ts';
import { type Bytes32, NO_RIGHTS } from '../src/registry/delegation.ts';
import type { RegistryCall } from '../src/registry/registry-call.ts';
import {
  createChainMaker,
  type FakeBlock,
  type FakeCall,
  type FakeNode,
  type FakeTransaction,
  type Fault,
  logOfCall,
  Refusal,
  sealedHeader,
  startFakeNode,
} from './support/fake-node.ts';
import { following } from './support/following.ts';
import { causeOf, grantCall, grants, holds, invented, quiet, STRANGER, shows } from './support/lies.ts';
import { noReceipts, on } from './support/node-quirks.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, FIRST, type World, type WorldOptions } from './support/world.ts';

const [V, D, E] = WALLETS;
const POLYGON = { ...MAINNET, stateSync: true };
function inWorld(
  name: string,
  options: WorldOptions,
  check: (world: World, first: FakeNode, second: FakeNode) => Promise<void>,
) {
  test(name, async () => {
    const world = await createWorld({ blocks: 40, calls: quiet, ...options });
    try {
      await world.rest(2);
      expect(await world.expectRight()).toBeNull();
      world.one.events.length = 0;
      const [first, second] = world.nodes as [FakeNode, FakeNode];
      await check(world, first, second);
    } finally {
      await world.close();
    }
  });
}

/** Grows block by block for so many minutes. Returns whether something was wrong at any moment. */
async function watch(world: World, minutes: number, look: () => Promise<boolean>): Promise<boolean> {
  let isWrong = false;
  for (let turn = 0; turn < 5 * minutes; turn++) {
    world.grow(1, quiet);
    await world.one.catchUp(2);
    isWrong ||= await look();
  }
  return isWrong;
}

describe('one honest and one lying node', () => {
  for (const isProvable of [true, false]) {
    const kind = isProvable ? '' : ', without proofs';
    inWorld(
      `a no-op in a made-up transaction does not shield an invented grant${kind}`,
      { nodes: 2, isProvable },
      async (world, liar) => {
        const audit = createAuditor(world.one.follower, MAINNET, world.one.store, () => world.one.clock);
        liar.fault = shows(liar, ({ number, transactions }) => {
          const bait: RegistryCall = ['v1', STRANGER, 'revokeAllDelegates', []];
          if (number < FIRST + 42) return null;
          return number % 3 === 0 ? [...transactions, invented(bait)] : [...transactions, invented(bait, grantCall(D))];
        });
        const isWrong = await watch(world, 20, async () => {
          await audit.run().catch(() => {});
          return (await holds(world, D)) || world.one.providers.all[1]?.failure?.cause === 'wrong-data';
        });
        expect(isWrong).toBe(false);
        if (isProvable) expect(causeOf(world, 0)).toBe('wrong-data');
        expect(world.one.events.filter(({ type }) => type === 'halted')).toEqual([]);
        liar.fault = null;
        await world.rest(4);
        expect(await world.expectRight()).toBeNull();
      },
    );

    inWorld(
      `a log that only the other node has, of an empty block whose bloom matches, is not served${kind}`,
      { nodes: 2, isProvable, isBloomFull: true },
      async (world, honest, liar) => {
        if (!isProvable)
          for (const node of [honest, liar])
            node.fault = on('eth_getBlockByNumber', (answer) => {
              const block = answer() as object | null;
              return block && { ...block, logsBloom: `0x${'f'.repeat(512)}` };
            });
        const before = liar.fault;
        const forged = { ...logOfCall(grantCall(D)), removed: false, transactionIndex: '0x0', logIndex: '0x0' };
        // One log, without a receipt, a body or state.
        liar.fault = (question, answer) => {
          const logs = before === null ? answer() : before(question, answer);
          if (question.method !== 'eth_getLogs') return logs;
          const { blockHash } = question.params[0];
          const block = world.chain.find(({ hash }) => hash === blockHash);
          return block === undefined
            ? logs
            : [
                {
                  ...forged,
                  blockHash,
                  blockNumber: `0x${block.number.toString(16)}`,
                  transactionHash: `0x${'f0'.repeat(32)}`,
                },
              ];
        };
        expect(await watch(world, 3, () => holds(world, D))).toBe(false);
        liar.fault = before;
        await world.rest(2);
        expect(await world.expectRight()).toBeNull();
      },
    );
  }
});

inWorld('a reorg while the window is read again disputes no wallet', {}, async (world, node) => {
  world.grow(2, () => grants(D));
  await world.one.catchUp();
  let isDone = false;
  node.fault = ({ method, params }, honest) => {
    if (method === 'eth_getLogs' && params[0].fromBlock && !isDone) {
      isDone = true;
      world.reorg(2, 3, () => grants(E));
    }
    return honest();
  };
  world.one.clock += 61_000;
  await world.one.catchUp(1);
  expect([isDone, (await world.one.store.chain(1))?.disputes]).toEqual([true, []]);
  await world.one.catchUp(3);
  expect([await holds(world, D), await holds(world, E)]).toEqual([false, true]);
  expect(causeOf(world, 0)).not.toBe('wrong-data');
});

inWorld(
  'a node on another branch while the window is read again is not at fault',
  { nodes: 2 },
  async (world, _, other) => {
    const before = world.chain;
    world.reorg(2, 2);
    other.chain = before;
    world.one.clock += 61_000;
    await world.one.catchUp(2);
    expect(world.one.providers.all.map(({ failure }) => failure)).toEqual([null, null]);
  },
);

describe('a single node that lies', () => {
  const lies: Readonly<Record<string, (block: FakeBlock) => readonly FakeTransaction[]>> = {
    'invents a transaction': ({ transactions }) => [...transactions, invented(grantCall(E))],
    'adds a log to a transaction': ({ transactions }) =>
      transactions.map((one) => ({ ...one, logs: [...one.logs, logOfCall(grantCall(E))] })),
    'alters a log': ({ transactions }) => transactions.map((one) => ({ ...one, logs: [logOfCall(grantCall(E))] })),
    'reverses the order of the logs': ({ transactions }) => transactions.toReversed(),
  };
  for (const [name, lie] of Object.entries(lies)) {
    inWorld(`${name}: it is never served, and the node is found out`, {}, async (world, node) => {
      node.fault = shows(node, (block) => (block.number === FIRST + 40 ? lie(block) : null));
      const head = (await world.one.store.chain(1))?.head?.number;
      world.grow(1, () => [...grants(D), { call: ['v2', V, 'delegateAll', [D, NO_RIGHTS, false]], direct: true }]);
      await world.one.catchUp(3);
      expect((await world.one.store.chain(1))?.head?.number).toBe(head as number);
      expect(causeOf(world, 0)).toBe('wrong-data');
      node.fault = null;
      await world.rest(2);
      expect(await world.expectRight()).toBeNull();
      expect([await holds(world, D), await holds(world, E)]).toEqual([false, false]);
    });
  }

  inWorld('hides logs where blooms are clear: they are found at once', {}, async (world, node) => {
    node.fault = on('eth_getLogs', () => []);
    world.grow(1, () => grants(D));
    await world.one.catchUp(1);
    expect(await holds(world, D)).toBe(true);
    expect(causeOf(world, 0)).toBe('inconsistent');
    expect(world.one.follower.evidence.receipts).toBeGreaterThan(0);
  });

  inWorld(
    'hides logs where blooms are clear, and has no receipts: the block is not served',
    {},
    async (world, node) => {
      const head = (await world.one.store.chain(1))?.head?.number;
      const withoutReceipts = noReceipts(node);
      node.fault = (question, honest) => (question.method === 'eth_getLogs' ? [] : withoutReceipts(question, honest));
      world.grow(1, () => grants(D));
      await world.one.catchUp(3);
      expect((await world.one.store.chain(1))?.head?.number).toBe(head as number);
    },
  );

  inWorld(
    'hides logs where blooms are full: about one in ten is found at once, and counted as compared otherwise',
    { isBloomFull: true },
    async (world, node) => {
      node.fault = on('eth_getLogs', () => []);
      const blocks = 200;
      const before = { ...world.one.follower.evidence };
      for (let turn = 0; turn < blocks; turn++) {
        world.grow(1, () => grants(turn % 2 === 0 ? D : E));
        world.one.clock += 30_000;
        await world.one.catchUp(1);
      }
      const found = (await world.one.store.logs(1, { from: FIRST, to: FIRST + 1000, limit: 1000 })).length;
      const { receipts, compared } = world.one.follower.evidence;
      expect(receipts - before.receipts + compared - before.compared).toBe(blocks);
      expect(found).toBe(receipts - before.receipts);
      // Chosen at random: fewer or more than this is less likely than one in a billion.
      expect(found).toBeGreaterThan(0);
      expect(found).toBeLessThan(blocks / 3);
    },
  );

  inWorld('invents a log in a block whose bloom excludes it: it is found out at once', {}, async (world, node) => {
    const forged = { ...logOfCall(grantCall(E)), removed: false, transactionIndex: '0x0', logIndex: '0x0' };
    world.grow(1, quiet);
    const { hash: blockHash } = world.chain.at(-1) as FakeBlock;
    const place = { blockHash, blockNumber: `0x${(FIRST + 40).toString(16)}`, transactionHash: `0x${'f0'.repeat(32)}` };
    node.fault = on('eth_getLogs', () => [{ ...forged, ...place }]);
    await world.one.follower.tick();
    expect(causeOf(world, 0)).toBe('wrong-data');
    expect(await world.expectRight()).toBeNull();
  });

  inWorld('lies about an input, with the proof of another block: neither is believed', {}, async (world, node) => {
    const v1 = (name: string, args: (string | boolean)[], direct = true): FakeCall => ({
      call: ['v1', V, name, args],
      direct,
    });
    world.grow(1, () => [v1('delegateForAll', [D, true]), v1('delegateForAll', [E, true])]);
    await world.one.catchUp();
    const asksV1 = (to: string) =>
      world.one.store
        .check(1, { version: 1, scope: 'all', from: V, to } as never)
        .then(({ granting }) => granting.length > 0)
        .catch(({ code }) => code);
    // It says that E was revoked: in the input, in storage, and with the proof of another block.
    node.fault = (question, honest) => {
      const answer = honest();
      if (question.method === 'eth_getTransactionByHash')
        return { ...(answer as object), input: `0xfa352c00${'0'.repeat(24)}${E.slice(2)}` };
      if (question.method === 'eth_getProof') return world.chain[0]?.proof?.(question.params[0], question.params[1]);
      return answer;
    };
    world.grow(1, () => [v1('revokeDelegate', [D])]);
    await world.one.catchUp();
    // Its storage is unproven, but the only word there is about the state: it is honest here.
    expect([await asksV1(D), await asksV1(E)]).toEqual([false, true]);
  });
});

describe('history', () => {
  const LONG = 11_500;
  const history = { 500: grants(D), 900: grants(E), 1500: grants(STRANGER) };

  async function backfilled(fault: (world: World, node: FakeNode) => Fault | null, more: WorldOptions = {}) {
    const world = await createWorld({ ...more, blocks: 1, calls: quiet });
    world.grow(LONG, (turn) => history[(turn + 1) as keyof typeof history] ?? []);
    const [node] = world.nodes as [FakeNode];
    node.fault = fault(world, node);
    await world.rest(3);
    return { world, node };
  }

  test('is proven in the background, newest first, and /networks can say from where on', async () => {
    const { world } = await backfilled(() => null);
    const newest = async () => (await world.one.store.newestUnproven()).get(1);
    // The newest of them is not final for long enough to count as history.
    expect(await newest()).toBe(FIRST + 900);
    while (await world.one.follower.prove());
    expect(await newest()).toBeUndefined();
    expect((await world.one.store.chain(1))?.provable).toBe(true);
    await world.close();
  });

  test('is proven in parts, and no block of one again with the next', async () => {
    const world = await createWorld({ blocks: 1, calls: quiet });
    const [node] = world.nodes as [FakeNode];
    // One block more than a part has.
    world.grow(LONG, (turn) => (turn >= 500 && turn < 521 ? grants(turn % 2 === 0 ? D : E) : []));
    await world.rest(3);
    const receipts = () => node.calls.get('eth_getBlockReceipts') ?? 0;
    expect(await world.one.follower.prove()).toBe(true);
    const before = receipts();
    expect(await world.one.follower.prove()).toBe(false);
    expect(receipts()).toBe(before + 1);
    await world.close();
  });

  test('a log that a single node invented or hid beside another is repaired by proof', async () => {
    const { world, node } = await backfilled((_, one) =>
      shows(one, ({ number, transactions }) => {
        if (number === FIRST + 500) return [...transactions, invented(grantCall(E))];
        if (number === FIRST + 900) return [invented(grantCall(STRANGER))];
        // The neighbour of a block with logs.
        return number === FIRST + 901 ? [] : null;
      }),
    );
    expect(await holds(world, E)).toBe(true);
    node.fault = null;
    world.one.clock += 60_000;
    while (await world.one.follower.prove());
    expect(await world.expectRight()).toBeNull();
    expect(world.one.events.some(({ type }) => type === 'repaired')).toBe(true);
    expect((await world.one.store.newestUnproven()).has(1)).toBe(false);
    await world.close();
  });

  test('a block whose receipts are pruned stays unproven, and others are proven past it', async () => {
    const { world, node } = await backfilled(() => null);
    const { hash, transactions } = world.chain[900] as FakeBlock;
    const pruned = new Set<unknown>([hash, ...transactions.map((one) => one.hash)]);
    node.fault = ({ method, params }, honest) => {
      if (method.endsWith('Receipt') || method.endsWith('Receipts')) {
        if (pruned.has(params[0])) throw new Refusal(4444, 'pruned history unavailable');
      }
      return honest();
    };
    for (let turn = 0; turn < 3; turn++) await world.one.follower.prove().catch(() => {});
    const left = await world.one.store.unprovenBlocks(1, { from: 0, to: FIRST + LONG, limit: 10 });
    expect(left.map(({ number }) => number)).toEqual([FIRST + 900]);
    await world.close();
  });

  test('blocks that were missed while the service was down are proven before they are served', async () => {
    const world = await createWorld({ blocks: 40, calls: quiet });
    const [node] = world.nodes as [FakeNode];
    await world.rest(2);
    node.fault = shows(node, ({ number, transactions }) =>
      number === FIRST + 100 ? [...transactions, invented(grantCall(E))] : null,
    );
    world.grow(200, (turn) => (turn === 60 ? grants(D) : []));
    let isServed = false;
    for (let turn = 0; turn < 60; turn++) {
      await world.one.catchUp(1);
      const state = await world.one.store.chain(1);
      isServed ||= (await holds(world, E)) && state?.proving === false;
    }
    expect(isServed).toBe(false);
    node.fault = null;
    await world.rest(3);
    expect(await world.expectRight()).toBeNull();
    expect((await world.one.store.chain(1))?.proving).toBe(false);
    await world.close();
  });
});

describe('whether blocks can be proven', () => {
  const network = (provable: boolean | undefined) => ({ ...MAINNET, provable });

  async function modeOf(nodes: readonly { isProvable: boolean; fault?: Fault }[], provable: boolean | undefined) {
    const world = await createWorld({
      blocks: 5,
      calls: quiet,
      nodes: nodes.length,
      isProvable: nodes[0]?.isProvable ?? true,
    });
    for (const [position, { fault }] of nodes.entries()) (world.nodes[position] as FakeNode).fault = fault ?? null;
    const one = await following(world.nodes, { firstBlock: FIRST, clock: world.one.clock, network: network(provable) });
    await one.catchUp(5);
    const state = await one.store.chain(1);
    const result = { provable: state?.provable ?? null, head: state?.head?.number ?? null, events: one.events };
    await one.close();
    await world.close();
    return result;
  }
  const noHash = on('eth_getBlockByNumber', (honest) => {
    const block = honest() as object | null;
    return block && { ...block, stateRoot: `0x${'0'.repeat(64)}` };
  });

  test('is found out by trying, and said', async () => {
    expect(await modeOf([{ isProvable: true }], undefined)).toMatchObject({ provable: true, head: FIRST + 4 });
    const compared = await modeOf([{ isProvable: false }], undefined);
    expect(compared).toMatchObject({ provable: false, head: FIRST + 4 });
    expect(compared.events.filter(({ type }) => type === 'proofs')).toEqual([{ type: 'proofs', mode: 'compared' }]);
  });

  test('is true if one node shows it, whatever another returns', async () => {
    const found = await modeOf([{ isProvable: true, fault: noHash }, { isProvable: true }], undefined);
    expect(found).toMatchObject({ provable: true, head: FIRST + 4 });
  });

  test('of a chain whose blocks are known to come out, a header that does not is a lie, not another kind of chain', async () => {
    const found = await modeOf([{ isProvable: true, fault: noHash }], true);
    expect(found).toMatchObject({ provable: null, head: null });
  });

  test('a chain whose receipts do not give their root is compared, and tried again later', async () => {
    const noRoot = on('eth_getBlockReceipts', (honest) =>
      (honest() as object[]).map((one) => ({ ...one, status: '0x0' })),
    );
    const world = await createWorld({ blocks: 5, calls: () => grants(D) });
    const [node] = world.nodes as [FakeNode];
    node.fault = noRoot;
    const one = await following([node], { firstBlock: FIRST, clock: world.one.clock, network: network(undefined) });
    await one.catchUp(5);
    expect(await one.store.chain(1)).toMatchObject({ provable: false, head: { number: FIRST + 4 } });
    node.fault = null;
    one.clock += 601_000;
    await one.catchUp(5);
    expect((await one.store.chain(1))?.provable).toBe(true);
    await one.close();
    await world.close();
  });
});

test('logs of a Polygon state-sync receipt, which the root does not cover, are compared and not lost', async () => {
  const maker = createChainMaker(FIRST);
  const empty = maker.block(null, []);
  const content = { ...maker.block(empty, grants(D)), parentHash: empty.hash };
  const sealed = { ...content, ...sealedHeader(content, `0x${'0'.repeat(64)}`) };
  const sync = { ...invented(grantCall(E)), hash: stateSyncHash(POLYGON, sealed) as Bytes32 };
  const node = startFakeNode([empty, { ...sealed, transactions: [...sealed.transactions, sync] }]);
  const reader = createNode(createRpc(node.url));
  const header = await reader.headerOf(sealed.hash);
  expect(await proveLogs(POLYGON, reader, header as never)).toHaveLength(1);
  // On other chains, that hash is nothing special.
  expect(proveLogs(MAINNET, reader, header as never)).rejects.toThrow('do not hash to the root');
  await node.stop();
});
