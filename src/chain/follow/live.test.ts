import { expect, test } from 'bun:test';
import type { FakeNode } from '../../../test/support/fake-node.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { createWorld, FIRST } from '../../../test/support/world.ts';

test('new blocks that do not link to each other, or to the index, are not stored', async () => {
  const world = await createWorld({ where: 'process', isProvable: false });
  const [node] = world.nodes as [FakeNode];
  await world.rest();
  world.grow(3);
  for (const [number, field] of [
    [FIRST + 41, 'hash'],
    [FIRST + 40, 'parentHash'],
  ] as const) {
    node.fault = on('eth_getBlockByNumber', (honest, [tag]) =>
      Number(tag) === number ? { ...(honest() as object), [field]: `0x${'9'.repeat(64)}` } : honest(),
    );
    await expect(world.one.follower.tick()).rejects.toThrow('does not link to block');
    expect((await world.one.store.chain(1))?.head?.number).toBe(FIRST + 39);
  }
  node.fault = null;
  await world.one.catchUp();
  expect(await world.expectRight()).toBeNull();
  await world.close();
});
