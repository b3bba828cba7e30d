// When blocks become final, and final history confirmed.

import { expect, test } from 'bun:test';
import type { FakeNode } from '../../../test/support/fake-node.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { createWorld, FIRST, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { Finality } from '../../registry/network.ts';
import type { Header, Node } from '../rpc/node.ts';
import { RpcError } from '../rpc/rpc.ts';
import { finalizedNumber } from './window.ts';

const quiet = () => [];
const stateOf = async ({ one: { store } }: World) => {
  const { verified = null, agreedBlock = null } = (await store.chain(1)) ?? {};
  return { verified, agreedBlock };
};

async function inWorld(options: WorldOptions, work: (world: World, ...nodes: [FakeNode, FakeNode]) => Promise<void>) {
  const world = await createWorld({ where: 'process', calls: quiet, ...options });
  try {
    await work(world, ...(world.nodes as [FakeNode, FakeNode]));
  } finally {
    await world.close();
  }
}

/** So that the window is read again. */
async function nextWindow(world: World): Promise<void> {
  world.one.clock += 61_000;
  await world.one.catchUp(1);
}

test.each([1, 2])('final history is confirmed by a second provider, if there is one (of %p)', (nodes) =>
  inWorld({ nodes }, async (world) => {
    await world.rest();
    const { verified, agreedBlock } = await stateOf(world);
    expect(verified).not.toBeNull();
    expect(agreedBlock).toBe(nodes === 1 ? null : verified);
  }),
);

test('final history that one provider alone was asked for stays unconfirmed when a second one is there for the rest', () =>
  inWorld({ nodes: 2 }, async (world, _, second) => {
    second.fault = () => new Response('', { status: 503 });
    await world.rest();
    const before = await stateOf(world);
    second.fault = null;
    world.grow(20, quiet);
    await world.rest();
    const { verified, agreedBlock } = await stateOf(world);
    expect(verified).toBeGreaterThan(before.verified as number);
    expect(agreedBlock).toBeNull();
    // Until all of it has been compared, from the start.
    expect(await world.one.follower.audit(FIRST + 1, FIRST + 20)).toMatchObject({ providers: 2 });
    expect((await stateOf(world)).agreedBlock).toBeNull();
    second.fault = () => new Response('', { status: 503 });
    expect(await world.one.follower.audit(FIRST, FIRST + 20)).toMatchObject({ providers: 1 });
    expect((await stateOf(world)).agreedBlock).toBeNull();
    second.fault = null;
    world.one.clock += 60_000;
    await world.one.catchUp();
    expect(await world.one.follower.audit(FIRST, FIRST + 20)).toMatchObject({ providers: 2 });
    expect((await stateOf(world)).agreedBlock).toBe(FIRST + 20);
    // Without a gap.
    for (const [from, agreed] of [
      [FIRST + 22, FIRST + 20],
      [FIRST + 21, FIRST + 23],
    ] as const) {
      expect(await world.one.follower.audit(from, FIRST + 23)).toMatchObject({ providers: 2 });
      expect((await stateOf(world)).agreedBlock).toBe(agreed);
    }
  }));

test('a block that is replaced while the window is read does not become final', () =>
  inWorld({}, async (world, node) => {
    await world.rest();
    const before = await stateOf(world);
    world.grow(20, quiet);
    await world.one.catchUp();
    node.fault = on('eth_getLogs', (honest) => {
      node.fault = null;
      world.reorg(25, 26, quiet);
      return honest();
    });
    await nextWindow(world);
    expect(node.fault).toBeNull();
    expect(await stateOf(world)).toEqual(before);
    await world.rest();
    expect(await world.expectRight()).toBeNull();
  }));

test('a block that was another one before its logs were read does not become final', () =>
  inWorld({}, async (world, node) => {
    await world.rest();
    const before = await stateOf(world);
    world.grow(20, quiet);
    await world.one.catchUp();
    // As behind a load balancer: other blocks until the logs are read.
    node.fault = ({ method, params }, honest) => {
      if (method === 'eth_getLogs') node.fault = null;
      const isOld = method === 'eth_getBlockByNumber' && params[0].startsWith('0x');
      return isOld ? { ...(honest() as object), hash: `0x${'9'.repeat(64)}` } : honest();
    };
    await nextWindow(world);
    expect(await stateOf(world)).toEqual(before);
  }));

test('a block that another provider has not, or a chain that ends below it on another branch, is not final', () =>
  inWorld({ nodes: 2 }, async (world, first, second) => {
    await world.rest();
    const before = await stateOf(world);
    const ours = world.chain;
    world.reorg(5, 25, quiet);
    const branch = world.chain;
    world.chain = ours;
    world.grow(20, quiet);
    for (const [shown, isFinal] of [
      [branch, false],
      [branch.slice(0, ours.length), false],
      [ours, true],
    ] as const) {
      [first.chain, second.chain] = [world.chain, shown];
      await nextWindow(world);
      expect([shown.length, (await stateOf(world)).verified !== before.verified]).toEqual([shown.length, isFinal]);
    }
  }));

test('a block is final after a minute, although the node says so at once and blocks come faster than usual', () =>
  inWorld({ blocks: 90, seconds: 1, finalizedDepth: 0 }, async (world) => {
    await world.one.catchUp();
    expect((await stateOf(world)).verified).toBe(FIRST + 89 - 60);
  }));

test('nothing becomes final while blocks of the window are still to be repaired', () =>
  inWorld({ blocks: 2, isProvable: false, finalizedDepth: 1000 }, async (world, node) => {
    node.fault = on('eth_getLogs', quiet);
    world.grow(90, () => [{ call: ['v1', `0x${'11'.repeat(20)}`, 'revokeAllDelegates', []], direct: true }]);
    await world.one.catchUp();
    expect((await stateOf(world)).verified).toBe(FIRST);
    [node.fault, node.finalizedDepth] = [null, 10];
    await nextWindow(world);
    expect((await stateOf(world)).verified).toBe(FIRST);
    await world.rest();
    expect((await stateOf(world)).verified).toBe(FIRST + 81);
  }));

const TIP = { number: 1000 } as Header;
const finalized = (rule: Finality, tagged: () => number = () => 1000) =>
  finalizedNumber(MAINNET, rule, { header: async () => ({ number: tagged() }) } as unknown as Node, TIP);
const failing = (fault: 'refused' | 'unreachable') => () => {
  throw new RpcError(fault, 'no answer');
};

test('the tag of the node counts, but a block younger than a minute is never final', async () => {
  expect(await finalized('tag', () => 936)).toBe(936);
  expect(await finalized('tag')).toBe(995);
});

test('a rule in blocks or seconds replaces the tag, with the same minute', async () => {
  expect(await finalized({ blocks: 64 })).toBe(936);
  expect(await finalized({ seconds: 300 })).toBe(975);
  expect(await finalized({ blocks: 1 })).toBe(995);
});

test('without the tag it takes fifteen minutes; a node that does not answer says nothing', async () => {
  expect(await finalized('tag', failing('refused'))).toBe(925);
  await expect(finalized('tag', failing('unreachable'))).rejects.toThrow('no answer');
});
