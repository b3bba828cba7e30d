// What clients of the local chain rely on: its accounts, its errors, batches, and requests from pages.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { mainnet } from 'viem/chains';
import { type Evm, startEvm } from './evm.ts';
import { TEST_ACCOUNTS } from './test-accounts.ts';

const SINCE = new Date('2024-05-06T07:08:09Z');
const REVERTS = `0x${'11'.repeat(20)}`;
/** What that contract reverts with: 0x42 in 32 bytes. */
const REVERT_DATA = `0x${'42'.padStart(64, '0')}`;

let evm: Evm;
beforeAll(async () => {
  evm = await startEvm({ since: SINCE });
  await evm.rpc.call('hardhat_setCode', [REVERTS, '0x604260005260206000fd']);
});
afterAll(() => evm.stop());

const post = async (body: unknown) => {
  const response = await fetch(evm.url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return (await response.json()) as unknown;
};
const request = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: '2.0', id, method, params });

test('the chain starts at the given time, and every block is final', async () => {
  const [first, latest, finalized] = (await evm.rpc.batch(
    ['0x0', 'latest', 'finalized'].map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  )) as { timestamp: string; hash: string }[];
  expect(Number(first?.timestamp)).toBe(SINCE.getTime() / 1000);
  expect(finalized?.hash).toBe(String(latest?.hash));
});

test('the test accounts are those of their keys, funded, and the chain signs for them', async () => {
  for (const { address, privateKey: key } of TEST_ACCOUNTS) {
    expect(privateKeyToAccount(key).address).toBe(address as `0x${string}`);
    expect(BigInt(String(await evm.rpc.call('eth_getBalance', [address, 'latest'])))).toBe(10_000n * 10n ** 18n);
  }
  const known = (await evm.rpc.call('eth_accounts', [])) as string[];
  expect(known).toEqual(TEST_ACCOUNTS.map(({ address }) => address.toLowerCase()));
});

test('viem reads and writes: it estimates, signs, sends and waits', async () => {
  const key = TEST_ACCOUNTS[0]?.privateKey;
  const transport = http(evm.url);
  const wallet = createWalletClient({ chain: mainnet, transport, account: privateKeyToAccount(key as `0x${string}`) });
  const client = createPublicClient({ chain: mainnet, transport });
  const hash = await wallet.sendTransaction({ to: '0x00000000000000000000000000000000000000aa', value: 5n });
  expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success');
  expect(await client.getBalance({ address: '0x00000000000000000000000000000000000000aa' })).toBe(5n);
});

describe('answers', () => {
  test('to a batch are in its order, each with its id, errors included', async () => {
    expect(
      await post([request('a', 'eth_chainId'), request(2, 'eth_nothing'), 3, request(null, 'net_version')]),
    ).toEqual([
      { jsonrpc: '2.0', id: 'a', result: '0x1' },
      { jsonrpc: '2.0', id: 2, error: { code: -32004, message: 'Method eth_nothing is not supported' } },
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid request' } },
      { jsonrpc: '2.0', id: null, result: '1' },
    ]);
  });

  for (const method of ['eth_call', 'eth_estimateGas', 'eth_sendTransaction'])
    test(`to a reverted ${method} have code 3 and the returned bytes`, async () => {
      const from = TEST_ACCOUNTS[0]?.address;
      expect(await post(request(1, method, [{ from, to: REVERTS }]))).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: 3, message: expect.stringContaining('reverted'), data: REVERT_DATA },
      });
    });

  test('to what is no request are errors', async () => {
    expect(await post('{')).toMatchObject({ id: null, error: { code: -32700 } });
    for (const body of ['3', 'null', '[]', '{"id":1}'])
      expect(await post(body)).toMatchObject({ error: { code: -32600 } });
    expect(await post(request(1, 'eth_call', []))).toMatchObject({ id: 1, error: { code: -32602 } });
  });

  test('may be read by pages of any origin', async () => {
    const preflight = await fetch(evm.url, { method: 'OPTIONS' });
    const answer = await fetch(evm.url, { method: 'POST', body: JSON.stringify(request(1, 'eth_chainId')) });
    for (const { headers } of [preflight, answer]) expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('*');
  });
});

test('a port that is taken is an error, and nothing is left running', async () => {
  const error = await startEvm({ port: Number(new URL(evm.url).port) }).catch((cause: unknown) => cause as Error);
  expect(String(error)).toContain('The local chain did not start');
  expect(String(error)).toContain('in use');
});
