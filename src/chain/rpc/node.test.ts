import { expect, test } from 'bun:test';
import { createChainMaker, type Fault, Refusal, startFakeNode } from '../../../test/support/fake-node.ts';
import { hash } from '../../../test/support/fixtures.ts';
import { createNode, isBytes32, parseLogs } from './node.ts';
import { createRpc } from './rpc.ts';

test('a log without a transaction has the hash of none', () => {
  const log = { address: `0x${'1'.repeat(40)}`, topics: [], data: '0x', blockNumber: '0x1', logIndex: '0x0' };
  const [parsed] = parseLogs([{ ...log, blockHash: hash(1), removed: false }]);
  expect(parsed).toMatchObject({ transactionHash: hash(0), transactionIndex: 0 });
  expect(isBytes32(parsed?.transactionHash)).toBe(true);
});

test('a node that refuses a block hash is asked by number, and one that fails or whose call fails is not', async () => {
  const block = createChainMaker(100).block(null, []);
  const refusing =
    (code: number, message: string): Fault =>
    ({ params }) => {
      if (typeof params[1] === 'object') throw new Refusal(code, message);
      return '0x1';
    };
  for (const [fault, asked] of [
    [refusing(-32_602, 'invalid argument 1: cannot unmarshal object'), 2],
    [refusing(3, 'execution reverted'), 1],
    [() => new Response('<html>'), 1],
  ] as const) {
    const fake = startFakeNode([block], 'process');
    const node = createNode(createRpc(fake.url));
    fake.fault = (question, honest) => (question.method === 'eth_call' ? fault(question, honest) : honest());
    await node.ethCall(`0x${'1'.repeat(40)}`, ['0x'], block).catch(() => {});
    expect(fake.calls.get('eth_call')).toBe(asked);
    await fake.stop();
  }
});

test('a call by number counts only if the number is the block both before and after', async () => {
  const maker = createChainMaker(100);
  const [block, other] = [maker.block(null, []), maker.block(null, [])];
  for (const [before, after] of [
    [other, block],
    [block, other],
  ] as const) {
    const fake = startFakeNode([before], 'process');
    const node = createNode(createRpc(fake.url));
    fake.fault = ({ method, params }, honest) => {
      if (method !== 'eth_call') return honest();
      if (typeof params[1] === 'object') throw new Refusal(-32_602, 'invalid argument 1: cannot unmarshal object');
      fake.chain = [after];
      return '0x1';
    };
    await expect(node.ethCall(`0x${'1'.repeat(40)}`, ['0x'], block)).rejects.toThrow('hash of block 100');
    await fake.stop();
  }
});
