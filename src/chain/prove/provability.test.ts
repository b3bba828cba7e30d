// Where it is not known whether blocks can be proven, it is found out, and no single provider decides it.

import { afterAll, expect, test } from 'bun:test';
import { createChainMaker, type FakeBlock, headerJson, startFakeNode } from '../../../test/support/fake-node.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { parseHeader } from '../rpc/node.ts';
import { createProviderPool } from '../rpc/provider-pool.ts';
import { createProvability } from './provability.ts';

const [provable, other] = [true, false].map((isProvable) => {
  const maker = createChainMaker(100, 12, 1_700_000_000, { isProvable });
  return maker.block(maker.block(null, []), []);
}) as [FakeBlock, FakeBlock];
const NETWORK = { ...MAINNET, provable: undefined };
const nodes = [startFakeNode([], 'process'), startFakeNode([], 'process')] as const;
afterAll(async () => {
  for (const node of nodes) await node.stop();
});
const urls = nodes.map(({ url }) => url);

function trying(network = NETWORK, count = 2) {
  const { all } = createProviderPool(MAINNET, urls);
  const one = { clock: 0, changes: [] as boolean[] };
  const proof = createProvability(
    network,
    count,
    () => one.clock,
    (is) => one.changes.push(is),
  );
  /** Shows a block to each node, and tries with the first. */
  const learn = async (shown: readonly FakeBlock[], providers = all) => {
    for (const [at, block] of shown.entries()) if (nodes[at]) nodes[at].chain = [block];
    await proof.learn(providers, parseHeader(headerJson(shown[0] as FakeBlock), 'latest') as never, false);
    return proof.isProven;
  };
  return { one, proof, learn, all };
}

test('a block that comes out and that all providers have shows it, without being asked for again', async () => {
  const { learn, one } = trying();
  for (const { calls } of nodes) calls.clear();
  expect(await learn([provable, provable])).toBe(true);
  expect(one.changes).toEqual([true]);
  expect(nodes.map(({ calls }) => calls.get('eth_getBlockByNumber'))).toEqual([undefined, undefined]);
});

test('a block that another provider has not, or that no other was asked for, shows nothing: anybody can make one', async () => {
  const { learn, one, all } = trying();
  expect(await learn([provable, other])).toBe(false);
  expect(await learn([provable, provable], all.slice(0, 1))).toBe(false);
  expect(one.changes).toEqual([]);
  expect(await learn([provable, provable])).toBe(true);
});

test('a chain whose blocks do not come out is tried again after ten minutes', async () => {
  const { learn, one } = trying();
  expect(await learn([other, other])).toBe(false);
  one.clock = 599_999;
  expect(await learn([provable, provable])).toBe(false);
  one.clock = 600_000;
  expect(await learn([provable, provable])).toBe(true);
});

test('receipts that come out nowhere end it, but not by a single provider, nor where it is known', async () => {
  for (const [network, count, isLeft] of [
    [NETWORK, 2, false],
    [NETWORK, 1, true],
    [MAINNET, 2, true],
  ] as const) {
    const { learn, proof, all } = trying(network as typeof NETWORK, count);
    expect(await learn([provable, provable], all.slice(0, count))).toBe(true);
    proof.failed();
    expect([count, proof.isProven]).toEqual([count, isLeft]);
  }
});
