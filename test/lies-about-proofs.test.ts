// Lies that fit together with a proof: blocks, receipts and headers that a node made itself.

import { describe, expect, test } from 'bun:test';
import { createAuditor } from '../src/chain/follow/auditor.ts';
import { stateSyncHash } from '../src/chain/prove/receipts.ts';
import { type Bytes32, NO_RIGHTS } from '../src/registry/delegation.ts';
import { findDispute, MAX_DISPUTED } from '../src/store/halt.ts';
import {
  type FakeBlock,
  type FakeCall,
  type FakeNode,
  type Fault,
  headerJson,
  logOfCall,
  logsJson,
  NO_ANSWER,
  type Question,
  Refusal,
  receiptsJson,
  sealedHeader,
} from './support/fake-node.ts';
import { address } from './support/fixtures.ts';
import { type Following, following } from './support/following.ts';
import { causeOf, grantCall, grants, holds, invented, quiet, STRANGER, shows } from './support/lies.ts';
import { MAINNET } from './support/vectors.ts';
import { WALLETS } from './support/wallets.ts';
import { createWorld, FIRST, type World, type WorldOptions } from './support/world.ts';

const [V, D, E] = WALLETS;
const ZERO = `0x${'0'.repeat(64)}` as const;
const POLYGON = { ...MAINNET, stateSync: true };
const v1 = (name: string, args: readonly (string | boolean)[], direct = true): FakeCall => ({
  call: ['v1', V, name, args] as never,
  direct,
});

/** Of more wallets than may be disputed. */
const GRANTS_OF_MANY = Array.from({ length: MAX_DISPUTED + 1 }, (_, turn) =>
  logOfCall(['v2', address(0xabc000 + turn), 'delegateAll', [D, NO_RIGHTS, true]] as never),
);

/** More blocks than are read twice, so that one with a grant to D is old history. */
async function withOldHistory(): Promise<{ world: World; old: FakeBlock }> {
  const world = await createWorld({ blocks: 1, calls: quiet, nodes: 2 });
  world.grow(11_500, (turn) => (turn === 499 ? grants(D) : []));
  return { world, old: world.chain[500] as FakeBlock };
}

/** A block that anybody can make: its header comes out, its parent is real, and it has an invented grant. */
function forge(parent: FakeBlock, timestamp: number, transactions = [invented(grantCall(E))]): FakeBlock {
  const content = { ...parent, number: parent.number + 1, parentHash: parent.hash, timestamp };
  return { ...content, transactions, ...sealedHeader({ ...content, transactions }, ZERO) };
}

/** The same in logs. */
const lists =
  (forged: FakeBlock): Fault =>
  (question, honest) => {
    const said = saysAbout(forged, question);
    const { fromBlock, toBlock } = question.params[0] ?? {};
    const isAsked = question.method === 'eth_getLogs' && fromBlock && Number(fromBlock) <= forged.number;
    if (said !== undefined || !isAsked || Number(toBlock) < forged.number) return said ?? honest();
    const others = (honest() as { blockNumber: string }[]).filter((log) => Number(log.blockNumber) !== forged.number);
    return [...others, ...logsJson(forged, question.params[0])].sort(
      (a, b) => Number(a['blockNumber']) - Number(b['blockNumber']),
    );
  };

/** What a node says that has a block, without the blocks above it. */
function saysAbout(forged: FakeBlock, { method, params }: Question): unknown {
  if (method === 'eth_getBlockByNumber' && Number(params[0]) === forged.number) return headerJson(forged);
  if (params[0] !== forged.hash) return undefined;
  return method === 'eth_getBlockByHash' ? headerJson(forged) : receiptsJson(forged);
}

const isRefused = async ({ one }: World, from: string, wallet = from) => {
  const { disputes = [] } = (await one.store.chain(1)) ?? {};
  return findDispute(disputes, wallet === from ? ({ from } as never) : ({ wallet } as never)) !== undefined;
};

async function advance(world: World, minutes: number, look: () => Promise<void> = async () => {}): Promise<void> {
  const audit = createAuditor(world.one.follower, MAINNET, world.one.store, () => world.one.clock);
  for (let turn = 0; turn < minutes; turn++) {
    world.grow(1, quiet);
    world.one.clock += 60_000;
    await world.one.catchUp(3);
    await audit.run().catch(() => {});
    await look();
  }
}

describe('in old history', () => {
  test('a block that one node made is not proven by itself, and replaced while it still lies', async () => {
    const { world } = await withOldHistory();
    const [liar] = world.nodes as [FakeNode];
    const forged = forge(world.chain[699] as FakeBlock, world.chain[700]?.timestamp as number);
    liar.fault = lists(forged);
    await world.one.catchUp(20);
    expect(await holds(world, E)).toBe(true);
    await advance(world, 2);
    await advance(world, 20, async () => {
      const isBoth = (await isRefused(world, V)) && (await isRefused(world, STRANGER, E));
      expect(isBoth || !(await holds(world, E))).toBe(true);
    });
    expect([causeOf(world, 0), causeOf(world, 1)]).toEqual(['wrong-data', undefined]);
    expect([await holds(world, E), await holds(world, D), await isRefused(world, V)]).toEqual([false, true, false]);
    const [block] = await world.one.store.blocks(1, { from: forged.number, to: forged.number });
    expect(block?.hash).toBe((world.chain[700] as FakeBlock).hash);
    await world.close();
  });

  test('a block that one node made after a real one is not its neighbour, while the other fails', async () => {
    const { world, old } = await withOldHistory();
    await world.rest(3);
    const [liar, honest] = world.nodes as [FakeNode, FakeNode];
    const forged = forge(old, old.timestamp + 12);
    liar.fault = (question, answer) => saysAbout(forged, question) ?? answer();
    honest.fault = ({ method, params }, answer) => {
      if (method === 'eth_getBlockByNumber' && Number(params[0]) === forged.number) throw new Refusal(-32_005, 'busy');
      return answer();
    };
    await world.one.follower.prove();
    expect([await holds(world, D), await holds(world, E)]).toEqual([true, false]);
    await world.close();
  });

  test('a block that one node made after a real one is not its neighbour', async () => {
    const { world, old } = await withOldHistory();
    await world.rest(3);
    const [liar] = world.nodes as [FakeNode];
    const forged = forge(old, old.timestamp + 12);
    liar.fault = (question, honest) => saysAbout(forged, question) ?? honest();
    await world.one.follower.prove();
    expect([await holds(world, D), await holds(world, E)]).toEqual([true, false]);
    expect(world.one.events.filter(({ type }) => type === 'repaired')).toEqual([]);
    // The block that both have above it shows who lies about it.
    expect([causeOf(world, 0), causeOf(world, 1)]).toEqual(['wrong-data', undefined]);
    await world.close();
  });

  test('a delegate that one node named by a transaction that was not there is read again', async () => {
    const world = await createWorld({ blocks: 1, calls: quiet, nodes: 2 });
    world.grow(11_500, (turn) => {
      if (turn === 400) return [v1('delegateForAll', [D, true]), v1('delegateForAll', [E, true])];
      return turn === 500 ? [v1('revokeDelegate', [D])] : [];
    });
    const [liar] = world.nodes as [FakeNode];
    liar.fault = (question, honest) => {
      const answer = honest();
      if (question.method !== 'eth_getTransactionByHash' || answer === null) return answer;
      return { ...(answer as object), input: `0xfa352c00${E.slice(2).padStart(64, '0')}` };
    };
    await world.rest(3);
    await advance(world, 3);
    liar.fault = null;
    await advance(world, 12);
    const asks = async (to: string) =>
      (await world.one.store.check(1, { version: 1, scope: 'all', from: V, to } as never)).granting.length;
    expect([await asks(D), await asks(E)]).toEqual([0, 1]);
    await world.close();
  });
});

describe('a block of its own at a final height', () => {
  /** A block with a grant at a height, among others. */
  async function withBlock(nodes = 2) {
    const world = await createWorld({ blocks: 50, calls: quiet, nodes });
    world.grow(1, () => grants(D));
    world.grow(70, quiet);
    await world.rest(3);
    return { world, parent: world.chain[49] as FakeBlock, next: world.chain[50] as FakeBlock };
  }
  const isRight = async (world: World) => {
    expect([await holds(world, D), await holds(world, E)]).toEqual([true, false]);
    expect((await world.one.store.chain(1))?.halt).toBeNull();
  };

  for (const height of ['with logs', 'without logs'])
    test(`of a single node is not taken by the audit: one ${height}`, async () => {
      const { world, parent, next } = await withBlock(1);
      const at = height === 'with logs' ? 0 : 5;
      const [liar] = world.nodes as [FakeNode];
      liar.fault = lists(forge(world.chain[49 + at] ?? parent, next.timestamp + 12 * at));
      await world.auditAll();
      await isRight(world);
      await world.close();
    });

  for (const child of ['of its own too', 'that names it as its parent, under the right hash'])
    test(`is not taken with a block above it ${child}`, async () => {
      const { world, parent, next } = await withBlock(1);
      const [liar] = world.nodes as [FakeNode];
      const forged = forge(parent, next.timestamp);
      const above = forge(forged, next.timestamp + 12, []);
      const lie = lists(forged);
      liar.fault = (question, honest) => {
        if (question.method !== 'eth_getBlockByNumber' || Number(question.params[0]) !== above.number)
          return lie(question, honest);
        return child === 'of its own too' ? headerJson(above) : { ...(honest() as object), parentHash: forged.hash };
      };
      await world.auditAll();
      await isRight(world);
      await world.close();
    });

  test('is not taken because the honest node fails once, or has no old logs', async () => {
    const { world, parent, next } = await withBlock();
    const [liar, honest] = world.nodes as [FakeNode, FakeNode];
    liar.fault = lists(forge(parent, next.timestamp));
    honest.fault = ({ method, params }, answer) => {
      if (method === 'eth_getBlockByNumber' && Number(params[0]) === next.number)
        throw new Refusal(-32_005, 'too many');
      return answer();
    };
    await world.auditAll();
    await isRight(world);
    honest.fault = ({ method, params }, answer) => {
      if (method === 'eth_getLogs' && Number(params[0].fromBlock) < FIRST + 80) throw new Refusal(-32_000, 'pruned');
      return answer();
    };
    await world.auditAll();
    await isRight(world);
    await world.close();
  });

  test('with many wallets, and without the blocks above it, stops neither them nor the chain', async () => {
    const { world, parent, next } = await withBlock();
    const [liar] = world.nodes as [FakeNode];
    const forged = forge(parent, next.timestamp, [{ ...invented(), logs: GRANTS_OF_MANY }]);
    const verified = (await world.one.store.chain(1))?.verified ?? 0;
    const lie = lists(forged);
    liar.fault = (question, honest) => {
      const number = question.method === 'eth_getBlockByNumber' ? Number(question.params[0]) : 0;
      return number > forged.number && number < verified ? null : lie(question, honest);
    };
    await world.auditAll();
    await isRight(world);
    expect((await world.one.store.chain(1))?.disputes).toEqual([]);
    await world.close();
  });

  test('does not stop the blocks above it, where it is not proven yet', async () => {
    const world = await createWorld({ blocks: 300, calls: quiet, nodes: 2 });
    world.grow(1, () => grants(D));
    world.grow(30, quiet);
    const [, liar] = world.nodes as [FakeNode, FakeNode];
    const forged = forge(world.chain[299] as FakeBlock, world.chain[300]?.timestamp as number);
    liar.fault = ({ method, params }, honest) => {
      const number = method === 'eth_getBlockByNumber' ? Number(params[0]) : 0;
      if (number === forged.number) return headerJson(forged);
      return number > forged.number ? null : honest();
    };
    await advance(world, 5);
    expect((await world.one.store.chain(1))?.head?.number).toBe(world.chain.at(-1)?.number as number);
    await world.close();
  });

  test('in every block costs the honest node a bounded number of calls', async () => {
    const options = { blocks: 60, calls: quiet, nodes: 2, isBloomFull: true } as const;
    const world = await createWorld({ ...options, finalizedDepth: 2000 });
    await world.rest(2);
    for (let turn = 0; turn < 12; turn++) {
      world.grow(50, quiet);
      await world.one.catchUp(3);
    }
    const [liar, honest] = world.nodes as [FakeNode, FakeNode];
    const lie = shows(liar, (block) => [...block.transactions, { ...invented(grantCall(E)), hash: block.hash }]);
    liar.fault = (question, answer) =>
      question.method === 'eth_getLogs' && !question.params[0].blockHash ? lie(question, answer) : answer();
    honest.calls.clear();
    world.one.clock += 61_000;
    world.grow(1, quiet);
    await world.one.follower.tick().catch(() => {});
    const calls = [...honest.calls.values()].reduce((sum, count) => sum + count, 0);
    expect(calls).toBeLessThan(300);
    expect(await holds(world, E)).toBe(false);
    await world.close();
  });
});

describe('a node that disagrees about every block of a backfill', () => {
  for (const isProvable of [true, false])
    test(`is not believed, and costs a bounded number of calls${isProvable ? '' : ', without proofs'}`, async () => {
      const world = await createWorld({ blocks: 400, calls: quiet, nodes: 2, isProvable });
      const [liar, honest] = world.nodes as [FakeNode, FakeNode];
      // In logs alone, so that nothing but another answer contradicts it.
      const lie = shows(liar, (block) => [{ ...invented(grantCall(E)), hash: block.hash }]);
      liar.fault = (question, answer) => (question.method === 'eth_getLogs' ? lie(question, answer) : answer());
      await world.one.follower.tick().catch(() => {});
      const calls = [...honest.calls.values()].reduce((sum, count) => sum + count, 0);
      expect(calls).toBeLessThan(300);
      for (let turn = 0; turn < 5; turn++) {
        world.one.clock += 61_000;
        await world.one.catchUp(3);
        expect(await holds(world, E).catch(() => false)).toBe(false);
      }
      liar.fault = null;
      await world.rest(2);
      expect(await world.expectRight()).toBeNull();
      await world.close();
    });
});

describe('a receipt under no root', () => {
  const synced = (block: FakeBlock) => ({ ...invented(grantCall(E)), hash: stateSyncHash(POLYGON, block) as Bytes32 });
  const adds = (node: FakeNode) =>
    shows(node, (block) => (block.number >= FIRST + 40 ? [...block.transactions, synced(block)] : null));

  async function follow(liars: number, nodes: number, network = POLYGON) {
    const world = await createWorld({ blocks: 40, calls: quiet, nodes });
    const one = await following(world.nodes, { firstBlock: FIRST, clock: world.one.clock, network });
    await one.catchUp(5);
    for (const node of world.nodes.slice(0, liars)) node.fault = adds(node);
    world.grow(1, () => grants(D));
    await one.catchUp(3);
    const check = (to: string) =>
      one.store.check(1, { version: 2, scope: 'all', from: V, to, rights: NO_RIGHTS } as never);
    const [state, yes, invention] = [await one.store.chain(1), await check(D), await check(E)];
    const found = { head: state?.head?.number, isD: yes.granting.length > 0, isE: invention.granting.length > 0 };
    await one.close();
    await world.close();
    return {
      ...found,
      disputed: state?.disputes.length,
      causes: one.providers.all.map(({ failure }) => failure?.cause),
    };
  }

  test('counts for nothing on a chain that has no such receipts', async () => {
    expect(await follow(1, 1, MAINNET)).toMatchObject({ head: FIRST + 39, isE: false, causes: ['wrong-data'] });
  });

  test('is served where all providers have it, and nobody is blamed', async () => {
    const [causes, disputed] = [[undefined, undefined], 0];
    expect(await follow(2, 2)).toEqual({ head: FIRST + 40, isD: true, isE: true, disputed, causes });
  });

  for (const count of [19, 25])
    test(`does not stop a chain that has ${count} of them`, async () => {
      const world = await createWorld({ blocks: 400, calls: quiet, nodes: 2 });
      const isSynced = ({ number }: FakeBlock) => (number - FIRST) % 8 === 7 && number < FIRST + 8 * count;
      for (const node of world.nodes)
        node.fault = shows(node, (block) => (isSynced(block) ? [...block.transactions, synced(block)] : null));
      const one = await following(world.nodes, { firstBlock: FIRST, clock: world.one.clock, network: POLYGON });
      for (let turn = 0; turn < 5; turn++) {
        one.clock += 61_000;
        await one.catchUp(30);
      }
      expect(await one.store.chain(1)).toMatchObject({ head: { number: FIRST + 399 }, proving: false });
      await one.close();
      await world.close();
    });

  test('is served while one of two providers is down, and taken when it comes late', async () => {
    const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
    const one = await following(world.nodes, { firstBlock: FIRST, clock: world.one.clock, network: POLYGON });
    await one.catchUp(5);
    const [first, second] = world.nodes as [FakeNode, FakeNode];
    const down: Fault = () => {
      throw new Refusal(-32_000, 'down');
    };
    const isHeld = async () =>
      (await one.store.check(1, { version: 2, scope: 'all', from: V, to: E, rights: NO_RIGHTS } as never)).granting
        .length === 1;
    second.fault = down;
    world.grow(1, () => grants(D));
    await one.catchUp(3);
    expect(await isHeld()).toBe(false);
    for (const node of [first, second]) node.fault = adds(node);
    for (let turn = 0; turn < 10; turn++) {
      world.grow(1, quiet);
      one.clock += 30_000;
      await one.catchUp(3);
    }
    expect([await isHeld(), one.providers.all.map(({ failure }) => failure?.cause)]).toEqual([
      true,
      [undefined, undefined],
    ]);
    second.fault = down;
    world.grow(1, quiet);
    await one.catchUp(3);
    expect(await one.store.chain(1)).toMatchObject({ halt: null, disputes: [] });
    await one.close();
    await world.close();
  });

  test('of one provider of two is not served, and its wallets are refused', async () => {
    const found = await follow(1, 2);
    expect(found).toMatchObject({ head: FIRST + 40, isD: true, isE: false });
    expect(found.disputed).toBeGreaterThan(0);
  });

  test('of a provider that is down since proves nothing: its wallets stay refused', async () => {
    const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
    const one = await following(world.nodes, { firstBlock: FIRST, clock: world.one.clock, network: POLYGON });
    await one.catchUp(5);
    const [liar] = world.nodes as [FakeNode, FakeNode];
    liar.fault = adds(liar);
    world.grow(1, () => grants(D));
    await one.catchUp(3);
    liar.fault = () => {
      throw new Refusal(-32_000, 'down');
    };
    for (let turn = 0; turn < 5; turn++) {
      one.clock += 61_000;
      await one.catchUp(3);
    }
    expect((await one.store.chain(1))?.disputes).not.toEqual([]);
    await one.close();
    await world.close();
  });
});

test('a revocation is not taken for another one, whose transaction a node names in its receipts', async () => {
  const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
  const [liar, honest] = world.nodes as [FakeNode, FakeNode];
  const noProofs = ({ method }: Question, answer: () => unknown) => {
    if (method === 'eth_getProof') throw new Refusal(-32601, 'no such method');
    return answer();
  };
  [liar.fault, honest.fault] = [noProofs, noProofs];
  await world.rest(2);
  world.grow(1, () => [v1('delegateForAll', [D, true]), v1('delegateForAll', [E, true])]);
  world.grow(1, () => [v1('revokeDelegate', [E])]);
  const other = world.chain.at(-1)?.transactions[0]?.hash;
  world.grow(1, () => [v1('delegateForAll', [E, true])]);
  await world.rest(1);
  const last = world.chain.at(-1)?.number ?? 0;
  liar.fault = ({ method, params }, answer) => {
    if (/^eth_(getProof|getStorageAt|call)$/.test(method)) throw new Refusal(-32_000, 'missing trie node');
    const result = answer();
    if (method !== 'eth_getBlockReceipts') return result;
    const isLie = liar.chain.some(({ hash, number }) => hash === params[0] && number > last);
    return isLie ? (result as object[]).map((one) => ({ ...one, transactionHash: other })) : result;
  };
  world.grow(1, () => [v1('revokeDelegate', [D])]);
  await advance(world, 5, async () => expect(await world.expectRight()).toBeNull());
  liar.fault = noProofs;
  await advance(world, 10);
  const { granting } = await world.one.store.check(1, { version: 1, scope: 'all', from: V, to: D } as never);
  expect(granting).toEqual([]);
  await world.close();
});

test('a branch of its own, which one node calls final, does not become final', async () => {
  const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
  await world.rest(2);
  const verified = (await world.one.store.chain(1))?.verified ?? 0;
  const [liar] = world.nodes as [FakeNode];
  const honest = liar.chain;
  const branch = [...world.chain.slice(0, verified - FIRST + 1)];
  for (let turn = 0; turn < 25; turn++) {
    const parent = branch.at(-1) as FakeBlock;
    branch.push(forge(parent, parent.timestamp + 12));
  }
  [liar.chain, liar.finalizedDepth] = [branch, 0];
  for (let turn = 0; turn < 5; turn++) {
    world.one.clock += 61_000;
    await world.one.catchUp(2);
    expect((await world.one.store.chain(1))?.verified).toBe(verified);
  }
  [liar.chain, liar.finalizedDepth] = [honest, 10];
  world.grow(20, quiet);
  await world.rest(3);
  expect([await holds(world, E), (await world.one.store.chain(1))?.halt]).toEqual([false, null]);
  await world.close();
});

test('storage that only one of two nodes has is not believed without a proof', async () => {
  const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
  const [liar, honest] = world.nodes as [FakeNode, FakeNode];
  await world.rest(2);
  world.grow(1, () => [v1('delegateForAll', [E, true])]);
  await world.one.catchUp(3);
  honest.fault = ({ method }, answer) => {
    if (/^eth_(getProof|getStorageAt|call|getBalance)$/.test(method)) throw new Refusal(-32_000, 'missing trie node');
    return answer();
  };
  liar.fault = ({ method }, answer) => {
    if (method === 'eth_getProof') throw new Refusal(-32_601, 'no such method');
    return method === 'eth_getStorageAt' ? ZERO : answer();
  };
  world.grow(1, () => [v1('revokeDelegate', [STRANGER], false)]);
  await world.one.catchUp(3);
  const asks = (to: string) =>
    world.one.store.check(1, { version: 1, scope: 'all', from: V, to } as never).then(
      ({ granting }) => String(granting.length),
      ({ code }) => code as string,
    );
  expect(await asks(E)).toBe('revocation-unread');
  [liar.fault, honest.fault] = [null, null];
  await advance(world, 3);
  expect(await asks(E)).toBe('1');
  await world.close();
});

describe('a header', () => {
  test('with a value that cannot be made a text is a lie of its provider too', async () => {
    const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
    await world.rest(2);
    const [liar] = world.nodes as [FakeNode];
    liar.fault = ({ method }, honest) => {
      const block = honest() as object | null;
      return method.startsWith('eth_getBlockBy') && block
        ? { ...block, extraData: { toString: 0, valueOf: 0 } }
        : block;
    };
    world.grow(5, quiet);
    for (let turn = 0; turn < 5; turn++) await world.one.follower.tick().catch(() => {});
    expect([(await world.one.store.chain(1))?.head?.number, causeOf(world, 0)]).toEqual([FIRST + 44, 'wrong-data']);
    await world.close();
  });

  for (const [name, extra] of [
    ['bytes that are not RLP', 'ff'],
    ['an item that is no list', '820102'],
    ['a list that is too short', 'c3808080'],
  ])
    test(`with ${name} where another kind of chain has signatures is a lie of its provider, and the other is followed`, async () => {
      const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
      await world.rest(2);
      const [liar] = world.nodes as [FakeNode];
      liar.fault = ({ method }, honest) => {
        const block = honest() as Record<string, unknown> | null;
        if (!method.startsWith('eth_getBlockBy') || block === null) return block;
        const { gasLimit: _, ...rest } = block;
        return { ...rest, miner: STRANGER, extraData: `0x${'00'.repeat(32)}${extra}` };
      };
      world.grow(5, quiet);
      for (let turn = 0; turn < 5; turn++) await world.one.follower.tick().catch(() => {});
      expect(causeOf(world, 0)).toBe('wrong-data');
      expect((await world.one.store.chain(1))?.head?.number).toBe(FIRST + 44);
      await world.close();
    });
});

test('a node that hangs only when it is asked for receipts is asked once, not for every block', async () => {
  const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
  await world.rest(2);
  const [silent] = world.nodes as [FakeNode];
  let asked = 0;
  silent.fault = ({ method }, honest) => {
    if (!/Receipt/.test(method)) return honest();
    asked++;
    return NO_ANSWER;
  };
  world.grow(10, (turn) => grants(turn % 2 === 0 ? D : E));
  await world.one.follower.tick();
  expect((await world.one.store.chain(1))?.head?.number).toBe(FIRST + 49);
  expect([asked, causeOf(world, 0)]).toEqual([1, 'timeout']);
  await world.close();
});

test('logs in a block whose bloom excludes them are refuted without receipts, and dispute no wallet', async () => {
  const world = await createWorld({ blocks: 120, calls: quiet, nodes: 2 });
  await world.rest(3);
  const [liar, honest] = world.nodes as [FakeNode, FakeNode];
  const body = { ...invented(), hash: `0x${'e1'.repeat(32)}` as const };
  const noReceipts = (node: FakeNode, transactions: FakeBlock['transactions']) => {
    const shown = shows(node, ({ number }) => (number === FIRST + 20 ? transactions : null));
    node.fault = (question, answer) => {
      if (/Receipt/.test(question.method)) throw new Refusal(-32_000, 'pruned');
      return shown(question, answer);
    };
  };
  noReceipts(honest, [body]);
  noReceipts(liar, [body, { ...invented(), logs: GRANTS_OF_MANY }]);
  await world.auditAll();
  expect(await world.one.store.chain(1)).toMatchObject({ halt: null, disputes: [] });
  expect([causeOf(world, 0), causeOf(world, 1)]).toEqual(['wrong-data', undefined]);
  await world.close();
});

describe('whether a chain can be proven is not for one node to say', () => {
  const network = { ...MAINNET, provable: undefined };
  const followed = (world: World) => following(world.nodes, { firstBlock: FIRST, clock: world.one.clock, network });
  const pass = async (one: Following, minutes: number) => {
    for (let turn = 0; turn < minutes; turn++) {
      one.clock += 60_000;
      await one.follower.tick().catch(() => {});
    }
  };

  test('a block of its own that comes out does not make it so', async () => {
    const world = await createWorld({ blocks: 5, calls: quiet, nodes: 2, isProvable: false });
    const [, liar] = world.nodes as [FakeNode, FakeNode];
    const forged = forge(world.chain[3] as FakeBlock, 1_700_000_100);
    liar.fault = (question, honest) =>
      question.params[0] === 'latest' ? headerJson(forged) : (saysAbout(forged, question) ?? honest());
    const one = await followed(world);
    await pass(one, 1);
    liar.fault = null;
    await pass(one, 5);
    expect(await one.store.chain(1)).toMatchObject({ provable: false, head: { number: FIRST + 4 } });
    await one.close();
    await world.close();
  });

  test('it is not forgotten at a restart while the honest node is down', async () => {
    const world = await createWorld({ blocks: 40, calls: quiet, nodes: 2 });
    const one = await followed(world);
    await pass(one, 3);
    const [liar, honest] = world.nodes as [FakeNode, FakeNode];
    honest.fault = () => {
      throw new Refusal(-32_000, 'down');
    };
    one.restart();
    liar.fault = shows(liar, ({ number }) => (number === FIRST + 40 ? [invented(grantCall(E))] : null));
    world.grow(1, quiet);
    await pass(one, 3);
    const { granting } = await one.store.check(1, {
      version: 2,
      scope: 'all',
      from: V,
      to: E,
      rights: NO_RIGHTS,
    } as never);
    expect([(await one.store.chain(1))?.provable, granting]).toEqual([true, []]);
    await one.close();
    await world.close();
  });

  test('wrong receipts do not end it', async () => {
    const world = await createWorld({ blocks: 5, calls: quiet });
    const one = await followed(world);
    await pass(one, 3);
    expect((await one.store.chain(1))?.provable).toBe(true);
    const [node] = world.nodes as [FakeNode];
    node.fault = shows(node, ({ number, transactions }) =>
      number < FIRST + 5 ? null : [...transactions, invented(grantCall(E))],
    );
    world.grow(1, () => grants(D));
    await pass(one, 10);
    expect(await one.store.chain(1)).toMatchObject({ provable: true, head: { number: FIRST + 4 } });
    node.fault = null;
    await pass(one, 2);
    expect(await one.store.chain(1)).toMatchObject({ provable: true, head: { number: FIRST + 5 } });
    await one.close();
    await world.close();
  });
});

describe('revocations through a smart account', () => {
  /** D and E are delegates, and the node has no state below a block. */
  async function withoutState(options: WorldOptions = {}) {
    const world = await createWorld({ blocks: 40, calls: quiet, ...options });
    await world.rest(2);
    const [node] = world.nodes as [FakeNode];
    world.grow(1, () => [v1('delegateForAll', [D, true]), v1('delegateForAll', [E, true])]);
    await world.one.catchUp();
    const state = { from: Number.POSITIVE_INFINITY };
    node.fault = ({ method, params }, honest) => {
      const at = params.at(-1);
      const block = at?.blockHash ? node.chain.find(({ hash }) => hash === at.blockHash)?.number : Number(at);
      if (/^eth_(getProof|getStorageAt|call|getBalance)$/.test(method) && (block ?? 0) < state.from)
        throw new Refusal(-32_000, 'missing trie node');
      return honest();
    };
    const showHead = async () => {
      world.grow(1, quiet);
      state.from = world.chain.at(-1)?.number ?? 0;
      await advance(world, 10);
    };
    const asks = (to: string, block?: number) =>
      world.one.store.check(1, { version: 1, scope: 'all', from: V, to } as never, block).then(
        ({ granting }) => String(granting.length > 0),
        ({ code }) => code as string,
      );
    return { world, node, showHead, asks };
  }

  test('thirty without state: a later state is not taken for that of the twentieth', async () => {
    const { world, showHead, asks } = await withoutState();
    const start = world.chain.length;
    for (let turn = 0; turn < 30; turn++) {
      world.grow(1, () => [v1('revokeDelegate', [turn === 25 ? D : STRANGER], false)]);
      await world.one.catchUp(1);
    }
    await showHead();
    const answers: string[] = [];
    for (const [turn, block] of world.chain.slice(start - 1).entries()) {
      const answer = await asks(D, block.number);
      if (answer !== 'revocation-unread') expect([turn, answer]).toEqual([turn, String(turn < 26)]);
      answers.push(answer);
    }
    expect([answers[0], answers.at(-1)]).toEqual(['true', 'false']);
    await world.close();
  });

  test('more than are read at once, without state: nothing is said by a part of them', async () => {
    const { world, showHead, asks } = await withoutState();
    for (let turn = 0; turn < 21; turn++) {
      world.grow(48, (at) => [v1('revokeDelegate', [turn === 20 && at === 47 ? D : STRANGER], false)]);
      await world.one.catchUp(1);
    }
    const last = world.chain.at(-1)?.number as number;
    await showHead();
    expect([await asks(D, last - 1), await asks(D)]).toEqual(['revocation-unread', 'revocation-unread']);
    await world.close();
  });

  test('what a single node said about one without proof is read again when the next contradicts it', async () => {
    const { world, node, asks } = await withoutState({ isProvable: false });
    // Everything is still there.
    node.fault = ({ method }, honest) => (method === 'eth_getStorageAt' ? `0x${'0'.repeat(63)}1` : honest());
    world.grow(1, () => [v1('revokeDelegate', [D], false)]);
    await world.one.catchUp(3);
    expect([await asks(D), await asks(E)]).toEqual(['true', 'true']);
    node.fault = null;
    world.grow(1, () => [v1('revokeDelegate', [E], false)]);
    await advance(world, 3);
    expect([await asks(D), await asks(E)]).toEqual(['false', 'false']);
    await world.close();
  });
});
