// Sends registry calls from wallets on a real EVM, for which the node signs.

import { decodeAnswer, encodeCheck } from '../../src/chain/audit/registry-answers.ts';
import type { Rpc } from '../../src/chain/rpc/rpc.ts';
import type { Question } from '../../src/registry/check.ts';
import type { Address } from '../../src/registry/delegation.ts';
import { encodeCall, type RegistryCall, versionOf } from '../../src/registry/registry-call.ts';
import { deploySmartWallet, encodeExecute } from '../../src/sandbox/evm.ts';
import { MAINNET } from './vectors.ts';
import { WALLETS } from './wallets.ts';

/** The smart contract wallet. */
export const SMART = WALLETS[2];
/** The owner, who sends the smart account's transactions. */
export const OWNER: Address = `0x${'0e'.repeat(20)}`;

const registryOf = (call: RegistryCall) => MAINNET.registries[versionOf(call)] as Address;

const GAS = '0x2dc6c0';

/** Funds the wallets and lets the node sign for them. */
export async function fund(rpc: Rpc, wallets: readonly Address[]): Promise<void> {
  for (const who of wallets) {
    await rpc.call('hardhat_impersonateAccount', [who]);
    await rpc.call('hardhat_setBalance', [who, `0x${(10n ** 24n).toString(16)}`]);
  }
}

export async function prepareWallets(rpc: Rpc): Promise<void> {
  await fund(rpc, [...WALLETS, OWNER]);
  await deploySmartWallet(rpc, SMART);
}

const bodyOf = (call: RegistryCall) => ({ to: registryOf(call), data: encodeCall(call) });

/** Sends calls of one smart account in one transaction of its owner. */
export const execute = (rpc: Rpc, account: Address, calls: readonly RegistryCall[], gas = GAS) =>
  rpc.call('eth_sendTransaction', [{ from: OWNER, to: account, data: encodeExecute(calls.map(bodyOf)), gas }]);

/** Sends calls of one wallet: in one transaction for a smart account, otherwise in one each. */
export async function send(rpc: Rpc, calls: readonly RegistryCall[]): Promise<void> {
  const [[, caller]] = calls as [RegistryCall];
  if (caller === SMART) await execute(rpc, SMART, calls);
  else for (const call of calls) await rpc.call('eth_sendTransaction', [{ from: caller, ...bodyOf(call), gas: GAS }]);
}

/** The registries' own answers at a JSON-RPC block tag. */
export async function registryAnswers(
  rpc: Rpc,
  questions: readonly Question[],
  tag: string,
): Promise<(boolean | bigint | null)[]> {
  const calls = questions.map((question) => ({
    method: 'eth_call',
    params: [{ to: MAINNET.registries[question.version], data: encodeCheck(question) }, tag],
  }));
  const data = await rpc.batch(calls);
  return questions.map((question, position) => decodeAnswer(question, String(data[position])));
}
