import { expect, test } from 'bun:test';
import { createChainMaker, headerJson, startFakeNode } from '../../../test/support/fake-node.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { createNode } from '../rpc/node.ts';
import { createRpc } from '../rpc/rpc.ts';
import { fetchProven } from './block.ts';

test('a header that does not hash to its hash is rejected, and one that does is asked for once', async () => {
  const block = createChainMaker(100).block(null, []);
  const fake = startFakeNode([block], 'process');
  const node = createNode(createRpc(fake.url));
  fake.fault = on('eth_getBlockByHash', () => ({ ...headerJson(block), parentHash: `0x${'9'.repeat(64)}` }));
  await expect(fetchProven(node, block.hash)).rejects.toThrow('does not hash to');
  fake.fault = null;
  for (let turn = 0; turn < 2; turn++) expect((await fetchProven(node, block.hash))?.hash).toBe(block.hash);
  expect(fake.calls.get('eth_getBlockByHash')).toBe(2);
  expect(await fetchProven(node, `0x${'8'.repeat(64)}`)).toBeNull();
  await fake.stop();
});
