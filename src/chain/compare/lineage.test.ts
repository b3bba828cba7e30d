import { afterAll, expect, test } from 'bun:test';
import { createChainMaker, type FakeBlock, startFakeNode } from '../../../test/support/fake-node.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import type { Header, Node } from '../rpc/node.ts';
import { createProviderPool } from '../rpc/provider-pool.ts';
import { createLineage, numbersFrom } from './lineage.ts';

const maker = createChainMaker(100);
const chain: FakeBlock[] = [];
while (chain.length < 300) chain.push(maker.block(chain.at(-1) ?? null, []));
const at = (number: number) => chain[number - 100] as FakeBlock;
const fake = startFakeNode(chain, 'process');
afterAll(() => fake.stop());
const [provider] = createProviderPool(MAINNET, [fake.url]).all;
const honest = provider?.node as Node;

/** A node, and the numbers of the headers that it is asked for. */
function counting(change: (headers: Header[]) => Header[] = (headers) => headers) {
  const asked: number[] = [];
  const headers = async (numbers: readonly number[]) => {
    asked.push(...numbers);
    return change(await honest.headers(numbers));
  };
  return { node: { ...honest, headers } as Node, asked };
}

test('many blocks below one anchor are found with each header once', async () => {
  const { node, asked } = counting();
  const { ancestorAt } = createLineage();
  const numbers = [110, 390, 250, 111, 380, 399];
  const found = await Promise.all(numbers.map((number) => ancestorAt(node, at(399), number)));
  expect(found).toEqual(numbers.map((number) => at(number).hash));
  expect(asked.toSorted((a, b) => a - b)).toEqual(numbersFrom(111, 399));
  expect(await ancestorAt(node, at(399), 200)).toBe(at(200).hash);
  expect(asked).toHaveLength(289);
});

test('below the next anchor, only the headers down to the last one are read', async () => {
  const { node, asked } = counting();
  const { ancestorAt } = createLineage();
  await ancestorAt(node, at(380), 150);
  asked.length = 0;
  expect(await ancestorAt(node, at(385), 200)).toBe(at(200).hash);
  // As many as are read at once.
  expect(Math.min(...asked)).toBeGreaterThan(280);
  expect(await ancestorAt(node, at(385), 150)).toBe(at(150).hash);
  expect(asked).toHaveLength(new Set(asked).size);
  expect(Math.min(...asked)).toBeGreaterThan(280);
});

test('what the headers of one node do not show, those of another do', async () => {
  const forged = counting((headers) =>
    headers.map((header) => (header.number === 350 ? { ...header, json: { ...header.json, gasUsed: '0x1' } } : header)),
  );
  const silent = counting(() => {
    throw new Error('no headers');
  });
  const { ancestorAt } = createLineage();
  const [wrong, none, right] = await Promise.allSettled([
    ancestorAt(forged.node, at(399), 200),
    ancestorAt(silent.node, at(399), 200),
    ancestorAt(honest, at(399), 200),
  ]);
  expect([wrong, none.status, right]).toEqual([
    { status: 'fulfilled', value: null },
    'rejected',
    { status: 'fulfilled', value: at(200).hash },
  ]);
});

test('an anchor that is not on the chain leads nowhere, and does not change what others lead to', async () => {
  const { node } = counting();
  const { ancestorAt } = createLineage();
  expect(await ancestorAt(node, { number: 399, hash: at(200).hash }, 300)).toBeNull();
  expect(await ancestorAt(node, at(399), 300)).toBe(at(300).hash);
  expect(await ancestorAt(node, at(399), 400)).toBeNull();
});

test('four anchors are kept', async () => {
  const { node, asked } = counting();
  const { ancestorAt } = createLineage();
  for (const number of [399, 299, 199, 159]) await ancestorAt(node, at(number), number - 1);
  asked.length = 0;
  await ancestorAt(node, at(399), 398);
  expect(asked).toEqual([]);
  await ancestorAt(node, at(139), 138);
  asked.length = 0;
  await ancestorAt(node, at(299), 298);
  expect(asked).toEqual([299]);
});
