// Verifies the signature of a contract wallet (EIP-1271, EIP-6492) with every provider of its chain.

import type { Address, Hex } from 'viem';
import { isCallFailure, malformed, parseHex, parseQuantity } from '../chain/rpc/node.ts';
import { createRpc, type Rpc, RpcError } from '../chain/rpc/rpc.ts';
import { withTimeout } from '../store/with-timeout.ts';

export interface ContractSignature {
  readonly chainId: number;
  readonly address: Address;
  readonly message: string;
  readonly signature: Hex;
}

/** `unanswered`: no provider answered. `disputed`: their answers differ. */
export type Verdict = 'valid' | 'invalid' | 'unanswered' | 'disputed';

export type VerifyContractSignature = (signed: ContractSignature) => Promise<Verdict>;

/** For all calls to one provider together. */
const TIMEOUT_MS = 5000;
/** The largest response is the wallet's code. */
const MAX_BYTES = 256 * 1024;
/** For the validator and the wallet's own code: several times what wallets need, with their deployment. */
const GAS = '0x4c4b40';

/** `nodes`: provider URLs by chain. */
export async function createContractVerifier(
  nodes: ReadonlyMap<number, readonly string[]>,
): Promise<VerifyContractSignature> {
  const viem = await import('viem');
  const providers = new Map(
    [...nodes].map(([chainId, urls]) => [
      chainId,
      urls.map((url) => createRpc(url, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })),
    ]),
  );

  return async ({ chainId, address, message, signature }) => {
    const data = viem.encodeDeployData({
      abi: viem.erc6492SignatureValidatorAbi,
      args: [address, viem.hashMessage(message), signature],
      bytecode: viem.erc6492SignatureValidatorByteCode,
    });
    // A wallet that is not deployed yet comes with the call that deploys it.
    const needsCode = !viem.isErc6492Signature(signature);
    const ask = (rpc: Rpc) => withTimeout(TIMEOUT_MS, isValid(rpc, chainId, address, data, needsCode));
    const answers = await Promise.allSettled((providers.get(chainId) ?? []).map(ask));
    const verdicts = new Set(answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
    if (verdicts.size > 1) return 'disputed';
    const [verdict] = verdicts;
    return verdict === undefined ? 'unanswered' : verdict ? 'valid' : 'invalid';
  };
}

/** Rejects if the provider gives no usable answer. The call runs the validator's code, which calls the wallet. */
async function isValid(rpc: Rpc, chainId: number, address: Address, data: Hex, needsCode: boolean): Promise<boolean> {
  const [id, code] = await Promise.all([rpc.call('eth_chainId', []), rpc.call('eth_getCode', [address, 'latest'])]);
  if (parseQuantity('chain id', id) !== chainId) throw malformed('chain id', id);
  // Without code, the validator would recover the signer from the signature, and an error of that yields the zero address.
  if (needsCode && parseHex('code', code) === '0x') return false;
  try {
    const result = await rpc.call('eth_call', [{ data, gas: GAS }, 'latest']);
    const value = parseHex('return data', result);
    if (!/^0x(00)*0[01]$/.test(value)) throw malformed('return data', result);
    return value.endsWith('1');
  } catch (error) {
    if (error instanceof RpcError && error.fault === 'refused' && isCallFailure(error)) return false;
    throw error;
  }
}
