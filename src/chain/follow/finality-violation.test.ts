// A finalized block that changed: what it takes to believe it.

import { expect, test } from 'bun:test';
import type { FakeNode } from '../../../test/support/fake-node.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { createWorld, type World } from '../../../test/support/world.ts';

const quiet = () => [];
const haltOf = async ({ one: { store } }: World) => (await store.chain(1))?.halt?.code ?? null;
const headOf = async ({ one: { store } }: World) => (await store.chain(1))?.head?.hash ?? null;

async function twoNodes(isProvable: boolean, work: (world: World, ...nodes: [FakeNode, FakeNode]) => Promise<void>) {
  const world = await createWorld({ where: 'process', nodes: 2, blocks: 60, calls: quiet, isProvable });
  try {
    await world.rest();
    expect(await world.expectRight()).toBeNull();
    await work(world, ...(world.nodes as [FakeNode, FakeNode]));
  } finally {
    await world.close();
  }
}

const tick = async (world: World, ms: number) => {
  world.one.clock += ms;
  await world.one.follower.tick();
  return haltOf(world);
};
/** Over ten minutes. */
const threeReads = async (world: World) => [await tick(world, 0), await tick(world, 600_000), await tick(world, 0)];

/** Replaces final blocks too, for both nodes. */
const replaceFinal = (world: World) => world.reorg(25, 30, quiet);

test.each([true, false])('nothing is rolled back while providers have different branches (proofs: %p)', (isProvable) =>
  twoNodes(isProvable, async (world, first, second) => {
    const ours = world.chain;
    replaceFinal(world);
    const branch = world.chain;
    world.chain = ours;
    replaceFinal(world);
    first.chain = branch;
    const before = await headOf(world);
    for (let turn = 0; turn < 20; turn++) {
      world.one.clock += 30_000;
      await world.one.catchUp(2);
      expect([await haltOf(world), await headOf(world)]).toEqual(['finality-violation', before]);
    }
    first.chain = second.chain;
    await world.rest();
    expect(await world.expectRight()).toBeNull();
  }),
);

test('another branch is believed after two minutes, however often it was read, and after three reads, however late', () =>
  twoNodes(true, async (world) => {
    replaceFinal(world);
    const halts = [];
    for (const ms of [0, 0, 0, 0, 0, 119_999, 1]) halts.push(await tick(world, ms));
    expect(halts).toEqual([...Array(6).fill('finality-violation'), null]);
    await world.rest();
    replaceFinal(world);
    expect(await threeReads(world)).toEqual(['finality-violation', 'finality-violation', null]);
    await world.rest();
    expect(await world.expectRight()).toBeNull();
  }));

test('after a halt, a provider that still has another final block is not read from', () =>
  twoNodes(false, async (world, first, second) => {
    const { verified } = (await world.one.store.chain(1)) ?? {};
    // Only this block differs: the head alone does not show it.
    first.fault = on('eth_getBlockByNumber', (honest, [tag]) =>
      Number(tag) === verified ? { ...(honest() as object), hash: `0x${'9'.repeat(64)}` } : honest(),
    );
    second.fault = () => new Response('', { status: 503 });
    world.one.restart();
    await world.one.catchUp(1);
    expect(await haltOf(world)).toBe('finality-violation');
    second.fault = null;
    world.one.clock += 30_000;
    await world.one.catchUp(1);
    await world.one.catchUp(1);
    expect(await haltOf(world)).toBeNull();
    expect(world.one.errors.at(-1)?.message).toContain('the provider has another block');
    expect(world.one.providers.all[0]?.failure?.cause).toBe('inconsistent');
  }));

test('where blocks are proven, one that a provider made up does not keep the chain halted', () =>
  twoNodes(true, async (world, _, liar) => {
    const { verified } = (await world.one.store.chain(1)) ?? {};
    replaceFinal(world);
    liar.fault = on('eth_getBlockByNumber', (honest, [tag]) =>
      Number(tag) === verified ? { ...(honest() as object), hash: `0x${'9'.repeat(64)}` } : honest(),
    );
    expect(await threeReads(world)).toEqual(['finality-violation', 'finality-violation', null]);
    await world.one.catchUp();
    expect(await world.expectRight()).toBeNull();
  }));
