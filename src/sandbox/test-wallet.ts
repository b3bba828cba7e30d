// The wallet with which somebody without one signs in to a sandbox: the first test account, whose private key is public.

import type { ServiceOptions } from '../service/run-service.ts';
import { TEST_ACCOUNTS, type TestAccount } from './test-accounts.ts';

/** Loads viem here, because it takes longer to load than the rest of most commands. */
export async function createTestWallet(): Promise<NonNullable<ServiceOptions['testWallet']>> {
  const { privateKeyToAccount } = await import('viem/accounts');
  const { privateKey } = TEST_ACCOUNTS[0] as TestAccount;
  const account = privateKeyToAccount(privateKey);
  return { address: account.address, sign: (raw) => account.signMessage({ message: { raw } }) };
}
