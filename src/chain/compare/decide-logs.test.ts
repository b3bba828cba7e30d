// Which logs a block has, where providers disagree: by proof, and where no hash proves it.

import { afterEach, expect, test } from 'bun:test';
import {
  createChainMaker,
  type FakeBlock,
  type FakeNode,
  logsJson,
  Refusal,
  receiptsJson,
  startFakeNode,
} from '../../../test/support/fake-node.ts';
import { on } from '../../../test/support/node-quirks.ts';
import { MAINNET } from '../../../test/support/vectors.ts';
import { WALLETS } from '../../../test/support/wallets.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { parseLogs } from '../rpc/node.ts';
import { createProviderPool } from '../rpc/provider-pool.ts';
import type { Context } from './context.ts';
import { decideLogs, findDisputes, proveByAny, refute } from './decide-logs.ts';
import { onlyComparable, toProviderLogs } from './provider-logs.ts';

const grant = { call: ['v2', WALLETS[0], 'delegateAll', [WALLETS[1], NO_RIGHTS, true]], direct: true } as const;
const maker = createChainMaker(100, 12, 1_700_000_000, { isProvable: false });
const parent = maker.block(null, []);
const block = maker.block(parent, [grant]);
const logs = parseLogs(logsJson(block, {}));
const nodes = [startFakeNode([parent, block], 'process'), startFakeNode([parent, block], 'process')] as const;
const [first, second] = createProviderPool(
  MAINNET,
  nodes.map(({ url }) => url),
).all as [never, never];
/** The first provider has the log, the second has none. */
const reports = [toProviderLogs(MAINNET, first, logs), toProviderLogs(MAINNET, second, [])];
const blamed: string[] = [];
const context = {
  network: MAINNET,
  proof: { isProven: false },
  providerCount: 2,
  blame: ({ name }: { name: string }) => blamed.push(name),
} as unknown as Context;
const fails = () => {
  throw new Refusal(-32_000, 'not found');
};
afterEach(() => {
  blamed.length = 0;
  for (const node of nodes) [node.chain, node.fault] = [[parent, block], null];
});
const setFaults = (...faults: FakeNode['fault'][]) => {
  for (const [at, node] of nodes.entries()) node.fault = faults[at] ?? null;
};

test('receipts that both have decide, and whoever returned other logs is blamed', async () => {
  expect(await decideLogs(context, reports, block)).toMatchObject({ logs: [{ logIndex: 0 }], isProven: false });
  expect(blamed).toEqual(['1/2']);
});

test('the receipt of a transaction on another branch decides nothing', async () => {
  setFaults(
    on('eth_getTransactionReceipt', fails),
    on('eth_getTransactionReceipt', (honest) => ({ ...(honest() as object), blockHash: parent.hash, logs: [] })),
  );
  await expect(decideLogs(context, reports, block)).rejects.toThrow('the providers disagree about the logs');
  expect(blamed).toEqual([]);
});

test('different receipts, or a transaction that only one lists, decide nothing', async () => {
  setFaults(
    null,
    on('eth_getTransactionReceipt', (honest) => ({ ...(honest() as object), logs: [] })),
  );
  await expect(decideLogs(context, reports, block)).rejects.toThrow('the providers disagree about the logs');
  setFaults(
    null,
    on('eth_getBlockByHash', (honest) => ({ ...(honest() as object), transactions: [] })),
  );
  await expect(decideLogs(context, reports, block)).rejects.toThrow('the providers disagree about the logs');
});

test('a provider that may not have the block yet is neither compared nor blamed', async () => {
  setFaults(null, on('eth_getBlockByNumber', fails));
  expect(await onlyComparable(context, reports, block)).toEqual([reports[0] as never]);
  await refute(context, reports, block, logs);
  setFaults(
    null,
    on('eth_getBlockByNumber', () => null),
  );
  expect(await onlyComparable(context, reports, block)).toEqual([reports[0] as never]);
  await refute(context, reports, block, logs);
  expect(blamed).toEqual([]);
  setFaults();
  expect(await onlyComparable(context, reports, block)).toHaveLength(2);
  await refute(context, reports, block, logs);
  expect(blamed).toEqual(['1/2']);
});

test('the first receipts that give the root decide, and only if those of all give another one can nothing be proven', async () => {
  const sealed = createChainMaker(100);
  const [proven, sibling] = [sealed.block(null, [grant]), sealed.block(null, [grant, grant])] as [FakeBlock, FakeBlock];
  for (const node of nodes) node.chain = [proven];
  let failures = 0;
  const failed = () => {
    failures++;
  };
  const proving = {
    ...context,
    proof: { isProven: true, failed },
    isBlamed: () => false,
  } as unknown as Context;
  const prove = () => proveByAny(proving, [first, second], proven);
  const forged = on('eth_getBlockReceipts', () =>
    receiptsJson(sibling).map((one) => ({ ...one, blockHash: proven.hash })),
  );
  setFaults(forged);
  expect((await prove()).logs).toHaveLength(1);
  expect([failures, blamed]).toEqual([0, ['1/1']]);
  setFaults(forged, fails);
  await expect(prove()).rejects.toThrow('not found');
  expect(failures).toBe(0);
  setFaults(forged, forged);
  await expect(prove()).rejects.toThrow('do not hash to the root');
  expect(failures).toBe(1);
  // Receipts of another block are a reorg, not a lie.
  blamed.length = 0;
  const moved = on('eth_getBlockReceipts', () => receiptsJson(sibling));
  setFaults(moved, moved);
  await expect(prove()).rejects.toThrow('changed while its receipts were read');
  expect([failures, blamed]).toEqual([1, []]);
});

test('a dispute about a log that not all have names its wallets, its block, and the time in seconds', async () => {
  const [vault, delegate] = WALLETS;
  const at = { ...context, store: {}, now: () => 5999 } as unknown as Context;
  expect(await findDisputes(at, 101, [logs, logs])).toEqual([]);
  expect(await findDisputes(at, 101, [logs, []])).toEqual([{ vault, delegate, since: 5, block: 101, statement: null }]);
});
