import { expect, test } from 'bun:test';
import { toHex } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { TEST_ACCOUNTS } from './test-accounts.ts';

test('are those of the mnemonic that Hardhat and Anvil use', () => {
  const derived = TEST_ACCOUNTS.map((_, addressIndex) => {
    const account = mnemonicToAccount('test test test test test test test test test test test junk', { addressIndex });
    return { address: account.address, privateKey: toHex(account.getHdKey().privateKey as Uint8Array) };
  });
  expect(TEST_ACCOUNTS).toHaveLength(10);
  expect(derived).toEqual([...TEST_ACCOUNTS]);
});
