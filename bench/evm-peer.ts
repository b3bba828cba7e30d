// Starts the alternative without this service: eth_call to the registry's own check, on a development node.

import { encodeCheck } from '../src/chain/audit/registry-answers.ts';
import { grantingKeys } from '../src/registry/check.ts';
import { type Delegation, delegationId } from '../src/registry/delegation.ts';
import { NETWORKS } from '../src/registry/network.ts';
import { encodeCall, type RegistryCall } from '../src/registry/registry-call.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import type { BenchRequest, Server } from './load.ts';
import type { ContractQuestion } from './questions.ts';

const REGISTRY = NETWORKS.get(1)?.registries[2] ?? '';
const GAS = '0x2dc6c0';
const BALANCE = `0x${(10n ** 24n).toString(16)}`;

/** Starts a chain on which the owners have granted every delegation that the questions ask about. */
export async function startEvmPeer(
  held: ReadonlyMap<string, Delegation>,
  questions: readonly ContractQuestion[],
): Promise<Server> {
  const evm = await startEvm();
  const granting = questions.flatMap(grantingKeys).map((key) => held.get(delegationId(key)));
  const asked = new Map(granting.filter((one) => one !== undefined).map((one) => [delegationId(one), one]));
  for (const delegation of asked.values()) await grant(evm, delegation);
  return { url: evm.url, pid: evm.pid, [Symbol.asyncDispose]: evm.stop };
}

async function grant({ rpc }: Evm, { kind, from, to, contract, rights }: Delegation): Promise<void> {
  const name = kind === 'ALL' ? 'delegateAll' : 'delegateContract';
  const call: RegistryCall = ['v2', from, name, [to, ...(contract === null ? [] : [contract]), rights ?? '', true]];
  await rpc.call('hardhat_impersonateAccount', [from]);
  await rpc.call('hardhat_setBalance', [from, BALANCE]);
  await rpc.call('eth_sendTransaction', [{ from, to: REGISTRY, data: encodeCall(call), gas: GAS }]);
}

export const evmRequest = (question: ContractQuestion): BenchRequest => ({
  path: '/',
  headers: { 'content-type': 'application/json' },
  body: `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"${REGISTRY}","data":"${encodeCheck(question)}"},"latest"]}`,
});

/** Converts the node's response into the text that the other servers return. */
export const evmAnswer = (text: string) => String(BigInt((JSON.parse(text) as { result: string }).result) === 1n);
