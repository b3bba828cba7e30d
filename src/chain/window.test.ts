import { expect, test } from 'bun:test';
import { createWorld } from '../../test/support/world.ts';

test.each([1, 2])('final history is confirmed by a second provider, if there is one (of %p)', async (nodes) => {
  const world = await createWorld({ where: 'process', nodes });
  await world.rest();
  const { verified = null, confirmed } = (await world.one.store.chain(1)) ?? {};
  expect(verified).not.toBeNull();
  expect(confirmed).toBe(nodes === 1 ? null : (verified as number));
  await world.close();
});
