import { expect, test } from 'bun:test';
import { startFakeNode } from '../../test/support/fake-node.ts';
import { MAINNET } from '../../test/support/vectors.ts';
import { WrongChain } from './errors.ts';
import { createProviderPool } from './provider-pool.ts';

test('a provider that changed to another chain is asked nothing until it is back', async () => {
  const nodes = [startFakeNode([], 'process'), startFakeNode([], 'process')] as const;
  const urls = nodes.map(({ url }) => url);
  const pool = createProviderPool(MAINNET, urls, {}, () => 0.5);
  const othersAt = async (ms: number) => {
    const first = await pool.pick(ms);
    return [first.name, (await pool.others(first, ms)).map(({ name }) => name)];
  };
  expect(await othersAt(0)).toEqual(['1/1', ['1/2']]);
  nodes[0].chainId = 5;
  pool.failed({ name: '1/1' }, new WrongChain(5), 0);
  expect(await othersAt(60_000)).toEqual(['1/2', []]);
  nodes[0].chainId = 1;
  expect(await othersAt(120_000)).toEqual(['1/2', ['1/1']]);
  for (const node of nodes) await node.stop();
});
