// Which block is believed to be on the chain.

import { afterAll, afterEach, expect, test } from 'bun:test';
import { createChainMaker, type FakeBlock, startFakeNode } from '../../../test/support/fake-node.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { createProviderPool, type Provider, type Providers } from '../rpc/provider-pool.ts';
import { findAgreedBlock, isOnChain } from './agreed-block.ts';
import type { Context } from './context.ts';
import { createLineage } from './lineage.ts';

const maker = createChainMaker(100);
const chain: FakeBlock[] = [];
while (chain.length < 260) chain.push(maker.block(chain.at(-1) ?? null, []));
const branch = chain.slice(0, 50);
while (branch.length < chain.length) branch.push(maker.block(branch.at(-1) ?? null, []));
const anchor = chain.at(-1) as FakeBlock;
const nodes = [startFakeNode(chain, 'process'), startFakeNode(chain, 'process')] as const;
const providers: Providers = createProviderPool(
  MAINNET,
  nodes.map(({ url }) => url),
).all;
const blamed: string[] = [];
const context = (isProven: boolean) =>
  ({
    proof: { isProven },
    lineage: createLineage(),
    providerCount: 2,
    blame: ({ name }: Provider) => blamed.push(name),
  }) as unknown as Context;
afterEach(() => {
  blamed.length = 0;
  for (const node of nodes) [node.chain, node.fault] = [chain, null];
});
afterAll(async () => {
  for (const node of nodes) await node.stop();
});

test('a block that all configured providers have is agreed by all, and by fewer is not', async () => {
  expect(await findAgreedBlock(context(true), providers, 155, anchor)).toMatchObject({ isAll: true });
  nodes[1].fault = on('eth_getBlockByNumber', () => null);
  expect(await findAgreedBlock(context(true), providers, 155, anchor)).toMatchObject({ isAll: false });
  expect(await findAgreedBlock(context(true), providers.slice(0, 1), 155, anchor)).toMatchObject({ isAll: false });
});

test('of two blocks the one that leads up to the anchor is right, and without proofs neither', async () => {
  const at = 155;
  nodes[0].fault = on('eth_getBlockByNumber', (honest, [tag]) => {
    if (Number(tag) > at) return honest();
    nodes[0].chain = branch;
    const header = honest();
    nodes[0].chain = chain;
    return header;
  });
  const agreed = await findAgreedBlock(context(true), providers, at, anchor);
  expect([agreed.header.hash, agreed.isAll, blamed]).toEqual([chain[55]?.hash as never, true, ['1/1']]);
  await expect(findAgreedBlock(context(false), providers, at, anchor)).rejects.toThrow('disagree about block 155');
});

test('a block is on the chain if hashes lead down to it, and where they do not, or it is far, if all have it', async () => {
  const agreed = await findAgreedBlock(context(true), providers, 155, anchor);
  const own = { ...agreed, isAll: false };
  const far = { number: 1156, hash: anchor.hash };
  expect(await isOnChain(context(true), own, anchor)).toBe(true);
  for (const [isProven, from] of [
    [true, far],
    [false, anchor],
  ] as const) {
    expect(await isOnChain(context(isProven), own, from)).toBe(false);
    expect(await isOnChain(context(isProven), { ...own, isAll: true }, from)).toBe(true);
  }
  const other = { ...own, header: { ...own.header, hash: branch[55]?.hash as never } };
  expect(await isOnChain(context(true), other, anchor)).toBe(false);
  nodes[0].chain = branch;
  expect(await isOnChain(context(true), other, anchor)).toBe(false);
});

test('headers in between that do not hash to their hashes lead nowhere', async () => {
  const made = branch[55] as FakeBlock;
  const agreed = await findAgreedBlock(context(true), providers, 155, anchor);
  nodes[0].fault = on('eth_getBlockByNumber', (honest, [tag]) =>
    Number(tag) === 156 ? { ...(honest() as object), parentHash: made.hash } : honest(),
  );
  const forged = { ...agreed, header: { ...agreed.header, hash: made.hash }, isAll: true };
  expect(await isOnChain(context(true), forged, anchor)).toBe(false);
});
