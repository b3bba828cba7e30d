// The delegate that a revocation's transaction names, where only providers say which transaction it is.

import { afterAll, afterEach, expect, test } from 'bun:test';
import { createChainMaker, startFakeNode } from '../../../test/support/fake-node.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { WALLETS } from '../../../test/support/wallets.ts';
import type { LogRecord } from '../../store/store.ts';
import type { Context } from '../compare/context.ts';
import { createProviderPool, type Provider, type Providers } from '../rpc/provider-pool.ts';
import { ifKnown, readInputs } from './words.ts';

const [V, D, E] = WALLETS;
const maker = createChainMaker(100, 12, 1_700_000_000, { isProvable: false });
const revokes = (from: string, to: string) => ({ call: ['v1', from, 'revokeDelegate', [to]], direct: true }) as const;
const block = maker.block(null, [revokes(E, V), revokes(V, D)]);
const nodes = [startFakeNode([block], 'process'), startFakeNode([block], 'process')] as const;
const [first, second] = createProviderPool(
  MAINNET,
  nodes.map(({ url }) => url),
).all as Providers as [Provider, Provider];
const context = { network: MAINNET, providerCount: 2, proof: { isProven: false } } as unknown as Context;
const stored = [E, V].map((from) => ({ event: { type: 'unknownRevoked', from } })) as unknown as LogRecord[];
const read = (logs = stored) => readInputs(context, [first, second], block, logs);
afterEach(() => {
  for (const node of nodes) node.fault = null;
});
afterAll(async () => {
  for (const node of nodes) await node.stop();
});

test('is believed if all providers have the logs of the index and name the same', async () => {
  expect(await read()).toEqual([V, D]);
});

test('is unknown if their logs are others than those of the index, or one has not the transaction', async () => {
  expect(await ifKnown(read(stored.slice(1)))).toBeUndefined();
  nodes[1].fault = on('eth_getTransactionByHash', () => null);
  expect(await ifKnown(read())).toBeUndefined();
  nodes[0].fault = nodes[1].fault;
  expect(await ifKnown(read())).toBeUndefined();
});

test('is disputed if they name different ones', async () => {
  nodes[1].fault = on('eth_getTransactionByHash', (honest) => ({ ...(honest() as object), input: '0x' }));
  await expect(read()).rejects.toMatchObject({ isDisputed: true });
});
