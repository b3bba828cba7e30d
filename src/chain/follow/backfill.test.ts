import { expect, test } from 'bun:test';
import type { FakeCall, FakeNode } from '../../../test/support/fake-node.ts';
import { limitedRanges, on } from '../../../test/support/node-quirks.ts';
import { WALLETS } from '../../../test/support/wallets.ts';
import { createWorld, FIRST } from '../../../test/support/world.ts';
import { type Bytes32, NO_RIGHTS } from '../../registry/delegation.ts';

test('ranges that are fetched ahead leave no gap, before the window or the audit could repair one', async () => {
  const world = await createWorld({ seed: 5, blocks: 60 });
  const [node] = world.nodes;
  if (node !== undefined) node.fault = limitedRanges(10);
  try {
    // The first ticks learn the size of the ranges, and read up to the head.
    const readAll = async () => {
      while ((await world.one.follower.tick()).more);
      return world.one.follower.state?.commits ?? 0;
    };
    await readAll();
    expect(world.one.follower.rangeSize()).toBeLessThanOrEqual(10);
    world.grow(200);
    const before = await readAll();
    world.grow(200);
    expect((await readAll()) - before).toBeGreaterThan(18);
    expect(world.one.follower.state?.head?.number).toBe(world.chain.at(-1)?.number);
    expect(await world.difference()).toBeNull();
    for (const block of world.chain) expect(await world.differenceAsOf(block)).toBeNull();
  } finally {
    await world.close();
  }
});

test('the newest 10,000 final blocks are read once more before they count as verified', async () => {
  const world = await createWorld({ blocks: 300, where: 'process', calls: () => [] });
  await world.one.follower.tick();
  expect(world.one.follower.state).toMatchObject({ head: { number: FIRST + 289 }, verified: null });
  await world.rest();
  expect(world.one.follower.state).toMatchObject({ verified: FIRST + 289 });
  await world.close();
});

test('no block after the final ones is stored before those are proven', async () => {
  const world = await createWorld({ seed: 5, blocks: 400, where: 'process', finalizedDepth: 200 });
  const { one } = world;
  const found: { isAfterFinal: boolean; proving?: boolean | undefined; unproven: number }[] = [];
  for (let more = true; more; ) {
    more = (await one.follower.tick()).more;
    const unproven = await one.store.unprovenBlocks(1, { from: 0, to: 1e9, limit: 1000 });
    const { head, proving } = one.follower.state ?? {};
    found.push({ isAfterFinal: (head?.number ?? 0) > FIRST + 199, proving, unproven: unproven.length });
  }
  expect(found[0]?.isAfterFinal).toBe(false);
  expect(found[0]?.unproven).toBeGreaterThan(100);
  expect(found.filter(({ isAfterFinal, unproven }) => isAfterFinal && unproven > 0)).toEqual([]);
  // Until they are, answers about them are refused.
  expect(found.filter(({ proving, unproven }) => proving !== unproven > 0)).toEqual([]);
  expect(found.at(-1)).toEqual({ isAfterFinal: true, proving: false, unproven: 0 });
  expect(await world.difference()).toBeNull();
  await world.close();
});

test('old history counts as verified as soon as it is read, unless a provider has another block at its end', async () => {
  for (const isAgreed of [true, false]) {
    const options = { blocks: 10_400, nodes: 2, where: 'process', calls: () => [], isProvable: false } as const;
    const world = await createWorld(options);
    const [, second] = world.nodes as [FakeNode, FakeNode];
    if (!isAgreed)
      second.chain = world.chain.map((block) => ({ ...block, hash: block.hash.replace('0x00', '0x77') as Bytes32 }));
    await world.one.follower.tick();
    const { head, verified } = world.one.follower.state ?? {};
    expect([head?.number, verified]).toEqual([FIRST + 389, isAgreed ? FIRST + 389 : null]);
    await world.close();
  }
});

const [V, D, E] = WALLETS;
const grant = (to: string): FakeCall => ({ call: ['v2', V, 'delegateAll', [to, NO_RIGHTS, true]], direct: true });
const onFinalized = (work: () => void) =>
  on('eth_getBlockByNumber', (honest, [tag]) => {
    if (tag === 'finalized') work();
    return honest();
  });

test('a range whose end is replaced while its logs are read is not stored', async () => {
  const world = await createWorld({ blocks: 130, where: 'process', calls: () => [] });
  const [node] = world.nodes as [FakeNode];
  node.fault = on('eth_getLogs', (honest) => {
    const logs = honest();
    node.fault = null;
    world.reorg(100, 101, (turn) => (turn === 10 ? [grant(D)] : []));
    return logs;
  });
  await expect(world.one.follower.tick()).rejects.toThrow('changed while it was read');
  expect([node.fault, await world.difference()]).toEqual([null, null]);
  await world.close();
});

test('blocks of one branch are not added to those of another', async () => {
  const world = await createWorld({ blocks: 60, where: 'process', calls: () => [], finalizedDepth: 1000 });
  const [node] = world.nodes as [FakeNode];
  await world.one.catchUp();
  world.grow(150, () => []);
  node.fault = onFinalized(() => {
    node.fault = null;
    world.reorg(190, 195, (turn) => (turn === 10 ? [grant(D)] : []));
  });
  await expect(world.one.follower.tick()).rejects.toThrow('changed while logs were read');
  expect(await world.difference()).toBeNull();
  await world.rest();
  expect(await world.expectRight()).toBeNull();
  await world.close();
});

test('a node that begins to serve another chain in the middle of a tick is noticed', async () => {
  const world = await createWorld({ blocks: 130, where: 'process', calls: () => [] });
  const [node] = world.nodes as [FakeNode];
  node.fault = onFinalized(() => {
    node.chainId = 5;
  });
  await expect(world.one.follower.tick()).rejects.toThrow('the provider serves chain 5');
  expect(world.one.follower.state?.head).toBeNull();
  await world.close();
});

test('each range of the newest blocks asks for the chain id once, after its logs', async () => {
  const world = await createWorld({ blocks: 300, where: 'process', calls: () => [] });
  const [node] = world.nodes as [FakeNode];
  const asked: string[] = [];
  await world.one.follower.tick();
  world.grow(200, () => []);
  node.fault = ({ method }, honest) => {
    if (method === 'eth_getLogs' || method === 'eth_chainId') asked.push(method);
    return honest();
  };
  await world.one.follower.tick();
  // The first one is asked for with the head.
  expect(asked).toEqual(['eth_chainId', 'eth_getLogs', 'eth_chainId']);
  await world.close();
});

test('a range that providers disagree about in more blocks than are decided at once is not stored', async () => {
  const options = { blocks: 1, nodes: 2, where: 'process', calls: () => [], isProvable: false } as const;
  const world = await createWorld(options);
  const [node] = world.nodes as [FakeNode];
  world.grow(130, (turn) => [grant(turn < 110 ? D : E)]);
  node.fault = on('eth_getLogs', () => []);
  await expect(world.one.follower.tick()).rejects.toThrow('disagree about 120 blocks');
  expect(await world.difference()).toBeNull();
  await world.close();
});
