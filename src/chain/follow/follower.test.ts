// What a tick finds before it reads any block.

import { expect, test } from 'bun:test';
import { createChainMaker, type FakeNode } from '../../../test/support/fake-node.ts';
import { createWorld, FIRST, type World } from '../../../test/support/world.ts';
import type { ChainState } from '../../store/store.ts';

const quiet = () => [];

async function inWorld(work: (world: World, node: FakeNode) => Promise<void>): Promise<void> {
  const world = await createWorld({ where: 'process', blocks: 60, calls: quiet });
  try {
    await world.rest();
    await work(world, ...(world.nodes as [FakeNode]));
  } finally {
    await world.close();
  }
}
const storedState = async ({ one: { store } }: World) => (await store.chain(1)) as ChainState;

test('a node that serves another chain is not followed', () =>
  inWorld(async (world, node) => {
    const { head } = await storedState(world);
    node.chainId = 5;
    world.grow(3, quiet);
    await expect(world.one.follower.tick()).rejects.toThrow('the provider serves chain 5');
    expect((await storedState(world)).head).toEqual(head);
  }));

test('a node behind the index lags, and one below its first block is still syncing', () =>
  inWorld(async ({ chain, one }, node) => {
    const before = createChainMaker(FIRST - 1).block(null, []);
    for (const [tip, cause] of [
      [chain[0], 'behind'],
      [before, 'syncing'],
    ] as const) {
      node.chain = tip === undefined ? [] : [tip];
      await expect(one.follower.tick()).rejects.toThrow();
      expect(one.providers.all[0]?.failure?.cause).toBe(cause);
      one.clock += 10_000;
    }
  }));

test('a halted chain is not audited, and goes on as soon as an operator has rewound it', () =>
  inWorld(async (world) => {
    world.reorg(25, 30, quiet);
    await world.one.catchUp(1);
    const { epoch, head: after, halt } = await storedState(world);
    expect(halt?.code).toBe('finality-violation');
    expect(await world.one.follower.audit(FIRST, FIRST + 30)).toBeNull();
    const [head] = await world.one.store.blocks(1, { from: FIRST, to: FIRST });
    if (head === undefined) throw new Error('the first block is not kept');
    await world.one.store.apply({ chainId: 1, epoch, after, rollbackTo: FIRST, blocks: [], head, resume: true });
    await world.one.catchUp();
    expect(await world.expectRight()).toBeNull();
  }));

test('an import that is not finished keeps its chain to itself', () =>
  inWorld(async (world) => {
    const { epoch } = await storedState(world);
    await world.one.store.report(1, epoch, { halt: { code: 'import-unfinished', since: 1 } });
    const before = await storedState(world);
    world.grow(3, quiet);
    world.one.restart();
    await world.one.catchUp();
    expect(await storedState(world)).toEqual(before);
  }));
