import { expect, test } from 'bun:test';
import { createChainMaker, headerJson, sealedHeader, startFakeNode } from '../../../test/support/fake-node.ts';
import { invented } from '../../../test/support/lies.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { createNode } from '../rpc/node.ts';
import { createRpc } from '../rpc/rpc.ts';
import { fetchProven, proveLogs } from './block.ts';

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

test('logs of other contracts are proven with the block and left out, though their event is ours', async () => {
  const [V, D] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];
  const ours = invented(['v1', V, 'delegateForAll', [D, true]]);
  const others = ours.logs.map((log) => ({ ...log, address: `0x${'3'.repeat(40)}` as const }));
  const empty = createChainMaker(100).block(null, []);
  const content = { ...empty, transactions: [{ ...ours, logs: [...others, ...ours.logs] }] };
  const block = { ...content, ...sealedHeader(content, `0x${'0'.repeat(64)}`) };
  const fake = startFakeNode([block], 'process');
  const node = createNode(createRpc(fake.url));
  const header = await fetchProven(node, block.hash);
  const logs = await proveLogs(MAINNET, node, header as NonNullable<typeof header>);
  expect(logs).toMatchObject([{ address: MAINNET.registries[1], logIndex: 1 }]);
  await fake.stop();
});
