import { expect, test } from 'bun:test';
import { MAINNET } from '../../../test/support/vectors.ts';
import type { Finality } from '../../registry/network.ts';
import type { Header, Node } from '../rpc/node.ts';
import { RpcError } from '../rpc/rpc.ts';
import { finalizedNumber } from './finality.ts';

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
