import { expect, test } from 'bun:test';
import { limitedRanges } from '../../test/support/life-quirks.ts';
import { createWorld } from '../../test/support/world.ts';

test('ranges that are fetched ahead leave no gap, before the window or the audit could repair one', async () => {
  const world = await createWorld({ seed: 5, blocks: 60 });
  const [node] = world.nodes;
  if (node !== undefined) node.fault = limitedRanges(10);
  try {
    // The first ticks learn the size of the ranges, and read up to the head.
    while ((await world.one.follower.tick()).more);
    expect(world.one.follower.rangeSize).toBeLessThanOrEqual(10);
    world.grow(200);
    while ((await world.one.follower.tick()).more);
    expect(world.one.follower.state?.head?.number).toBe(world.chain.at(-1)?.number);
    expect(await world.difference()).toBeNull();
    for (const block of world.chain) expect(await world.differenceAsOf(block)).toBeNull();
  } finally {
    await world.close();
  }
});
