// Verifies Sign-In with Ethereum messages (EIP-4361). A message is valid for this service only, for a short time, and once. The
// signature of a contract wallet (EIP-1271, EIP-6492) is verified with every provider of its chain.

import type { Address, Hex } from 'viem';
import { isCallFailure, malformed, parseHex, parseQuantity } from '../chain/rpc/node.ts';
import { createRpc, type Rpc, RpcError } from '../chain/rpc/rpc.ts';
import { ZERO_ADDRESS } from '../registry/delegation.ts';
import { withTimeout } from '../store/with-timeout.ts';
import type { Sessions } from './sessions.ts';

export interface SignInOptions {
  readonly sessions: Sessions;
  /** The public origins of the service, such as `https://delegations.example`. Never taken from a request. */
  readonly origins: () => readonly string[];
  /** Provider URLs by chain, to verify the signatures of contract wallets. */
  readonly nodes: ReadonlyMap<number, readonly string[]>;
  /** Unix seconds. */
  readonly now: () => number;
  /** Told when the providers of a chain disagree about a signature: one of them lies, or is behind. */
  readonly onDispute?: (chainId: number) => void;
}

/** Why a sign-in failed, shown to the user. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  /** Whether the same wallet may succeed a moment later. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary = false) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

export type SignIn = Awaited<ReturnType<typeof createSignIn>>;

/** How far `issuedAt` may be from our clock. */
const CLOCK_SKEW_SECONDS = 600;
const MAX_MESSAGE_LENGTH = 4000;
const MAX_SIGNATURE_LENGTH = 8000;
/** Limits concurrent checks by providers, because the follower needs them. One caller gets only a share of a chain's. */
const MAX_PER_CHAIN = 16;
const MAX_PER_CALLER = 2;
/** For all calls to one provider together. */
const TIMEOUT_MS = 5000;
/** The largest response is the wallet's code. */
const MAX_BYTES = 256 * 1024;
/** For the validator and the wallet's own code: several times what wallets need, with their deployment. */
const GAS = '0x4c4b40';

/** Loads viem here, because it takes longer to load than the rest of most commands. */
export async function createSignIn({ sessions, origins, nodes, now, onDispute }: SignInOptions) {
  const viem = await import('viem');
  const { createSiweMessage, parseSiweMessage } = await import('viem/siwe');
  const openRpc = (url: string) => createRpc(url, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  const providers = new Map([...nodes].map(([chainId, urls]) => [chainId, urls.map(openRpc)]));
  /** Checks in progress, by chain and by caller. */
  const running = new Map<number | string, number>();

  /** Whether the message is exactly what its fields produce. */
  function isExactly(message: string, fields: ReturnType<typeof parseSiweMessage>): boolean {
    try {
      return createSiweMessage(fields as Parameters<typeof createSiweMessage>[0]) === message;
    } catch {
      return false;
    }
  }

  /** Checks everything but the signature and the nonce. */
  function requireMessage(message: string): { address: Address; chainId: number; nonce: string } {
    const fields = parseSiweMessage(message);
    const { address, chainId, domain, uri, version, nonce, scheme, issuedAt, expirationTime, notBefore } = fields;
    const reject = (why: string): never => {
      throw new SignInError(why);
    };
    if (address === undefined || version !== '1' || nonce === undefined) return reject('Invalid sign-in message.');
    if (address === ZERO_ADDRESS) return reject('The zero address cannot sign in.');
    // Exactly the standard's text, because wallets warn about sign-ins only if they recognize the message.
    if (!isExactly(message, fields)) return reject('Invalid sign-in message.');
    const origin = origins().find((one) => new URL(one).host === domain);
    if (origin === undefined || (scheme !== undefined && `${scheme}:` !== new URL(origin).protocol))
      return reject(`The message is for ${domain}, not for this service.`);
    if (uri === undefined || !URL.canParse(uri) || new URL(uri).origin !== origin)
      return reject('The URI of the message is not an address of this service.');
    if (chainId === undefined || (chainId !== 1 && !nodes.has(chainId)))
      return reject(`The message is for chain ${chainId}, which this service does not follow.`);
    const seconds = (date: Date) => date.getTime() / 1000;
    // An invalid time compares as false.
    if (issuedAt === undefined || !(Math.abs(seconds(issuedAt) - now()) <= CLOCK_SKEW_SECONDS))
      return reject('The message is too old, or its time is in the future.');
    if (expirationTime === undefined || !(seconds(expirationTime) > now())) return reject('The message has expired.');
    if (notBefore !== undefined && !(seconds(notBefore) <= now())) return reject('The message is not valid yet.');
    return { address, chainId, nonce };
  }

  async function isContractSigned(chainId: number, address: Address, message: string, signature: Hex, caller: string) {
    const asked = providers.get(chainId) ?? [];
    if (asked.length === 0) return false;
    const runningOf = (name: number | string) => running.get(name) ?? 0;
    if (runningOf(chainId) >= MAX_PER_CHAIN || runningOf(caller) >= MAX_PER_CALLER)
      throw retryLater('Too many sign-ins at once.');
    for (const name of [chainId, caller]) running.set(name, runningOf(name) + 1);
    try {
      const data = viem.encodeDeployData({
        abi: viem.erc6492SignatureValidatorAbi,
        args: [address, viem.hashMessage(message), signature],
        bytecode: viem.erc6492SignatureValidatorByteCode,
      });
      // A wallet that is not deployed yet comes with the call that deploys it.
      const needsCode = !viem.isErc6492Signature(signature);
      const ask = (rpc: Rpc) => withTimeout(TIMEOUT_MS, isValid(rpc, chainId, address, data, needsCode));
      const answers = await Promise.allSettled(asked.map(ask));
      const [verdict, other] = new Set(answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
      if (verdict === undefined) throw retryLater(`No provider of chain ${chainId} answered.`);
      if (other === undefined) return verdict;
      onDispute?.(chainId);
      throw retryLater(`The providers of chain ${chainId} disagree about this signature.`);
    } finally {
      for (const name of [chainId, caller]) {
        if (runningOf(name) > 1) running.set(name, runningOf(name) - 1);
        else running.delete(name);
      }
    }
  }

  return {
    /**
     * The account that signed. A wallet with a key of its own: its address in lower case, the same on every chain. A
     * contract wallet: `eip155:<chain>:<address>`, because the same address can be another contract on another chain.
     * `caller` is the client's address.
     */
    async verify(message: string, signature: string, caller: string): Promise<string> {
      if (message.length > MAX_MESSAGE_LENGTH || signature.length > MAX_SIGNATURE_LENGTH || !viem.isHex(signature))
        throw new SignInError('Invalid sign-in message or signature.');
      const { address, chainId, nonce } = requireMessage(message);
      const wallet = address.toLowerCase();
      // The signature of a wallet's own key proves itself: no provider is asked.
      const signer = await viem.recoverMessageAddress({ message, signature }).catch(() => null);
      const isOwn = signer?.toLowerCase() === wallet;
      if (!isOwn && !(await isContractSigned(chainId, address, message, signature, caller)))
        throw new SignInError('The signature is not from the wallet in the message.');
      // Used up last, so that whoever pasted a wrong signature can paste the right one.
      if (!(await sessions.useNonce(nonce, Math.floor(now()))))
        throw new SignInError('The nonce was used before, or has expired. Sign in again.');
      return isOwn ? wallet : `eip155:${chainId}:${wallet}`;
    },
  };
}

const retryLater = (why: string) => new SignInError(`${why} Try again in a moment.`, true);

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
