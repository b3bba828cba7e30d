// Names on the command line, against a real EVM: in place of addresses, and beside them.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { temporaryPath } from '../../test/support/engines.ts';
import { deployEns, setForward, setPrimary } from '../../test/support/evm-names.ts';
import { address, block, granted, timeOf } from '../../test/support/fixtures.ts';
import { runCommand } from '../../test/support/serve-process.ts';
import { serving } from '../../test/support/serving.ts';
import { checksummed } from '../registry/checksum.ts';
import { type Evm, startEvm } from '../sandbox/evm.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

const [COLD, HOT, CONTRACT] = [address(0xabc), address(0xdef), address(0xcc)];
let evm: Evm;
let store: Store;
let server: ReturnType<typeof serving>;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('wallet-names.db')}`);
  const { epoch } = await store.claim(1, 100);
  const grants = [granted('ALL', { from: COLD, to: HOT })];
  await store.apply({ chainId: 1, epoch, after: null, blocks: [block(101, grants)], head: block(101) });
  server = serving(store, timeOf(101));
  evm = await startEvm();
  await deployEns(evm.rpc);
  await setPrimary(evm.rpc, COLD, 'cold.eth');
  await setForward(evm.rpc, 'hot.eth', HOT);
});
afterAll(async () => {
  await server.stop();
  await evm.stop();
  await store.close();
});

const run = (args: string[], rpcUrl = evm.url) =>
  runCommand([...args, '--url', server.url], rpcUrl === '' ? {} : { RPC_URL_1: rpcUrl });
const IS_COLD = `cold.eth is ${checksummed(COLD)}\n`;
const IS_HOT = `hot.eth is ${checksummed(HOT)}\n`;

test.each([
  [['list', 'cold.eth'], `${checksummed(HOT)}`],
  [['delegates', 'cold.eth'], `${checksummed(HOT)}`],
  [['history', 'Cold.eth', '--json'], `"${checksummed(HOT)}"`],
])('%p is about the address of the name, which is printed', async (args, found) => {
  const { code, stdout, stderr } = await run(args);
  expect([code, stderr.toLowerCase()]).toEqual([0, IS_COLD.toLowerCase()]);
  expect(stdout).toContain(found);
});

test('both wallets of a check can be named', async () => {
  const { code, stdout, stderr } = await run(['check', '--from', 'cold.eth', '--to', 'hot.eth']);
  expect([code, stdout.split(' ')[0], stderr.split('\n').sort().join('\n')]).toEqual([
    0,
    'yes',
    `\n${IS_COLD}${IS_HOT}`.trimEnd(),
  ]);
});

test('the name of an address is printed if it leads back, and never into JSON', async () => {
  expect((await run(['list', COLD])).stderr).toBe(`${checksummed(COLD)} is cold.eth\n`);
  for (const args of [
    ['list', COLD, '--json'],
    ['vaults', HOT],
  ])
    expect((await run(args)).stderr).toBe('');
});

test('what cannot be looked up is an error, and an address needs no provider', async () => {
  for (const [name, rpcUrl, message] of [
    ['nobody.eth', evm.url, 'nobody.eth has no address.'],
    ['a_b.eth', evm.url, 'a_b.eth is not a name that anybody can have.'],
    ['cold.eth', 'http://127.0.0.1:1', 'cold.eth could not be looked up: the provider of RPC_URL_1 did not answer'],
    ['cold.eth', '', 'cold.eth is a name. Set RPC_URL_1 to a provider of Ethereum'],
    ['0x12', '', 'wallet must be an address'],
  ] as const) {
    const { code, stdout, stderr } = await run(['list', name], rpcUrl);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
  }
  for (const rpcUrl of ['', 'http://127.0.0.1:1', 'no url']) {
    const { code, stderr } = await run(['list', COLD], rpcUrl);
    expect([code, stderr]).toEqual([0, '']);
  }
  // It is no name of a contract.
  expect((await run(['delegates', COLD, '--contract', 'cold.eth'])).stderr).toContain('--contract must be an address');
  expect((await run(['delegates', COLD, '--contract', CONTRACT])).code).toBe(0);
});
