// Verifies Sign-In with Ethereum messages (EIP-4361). A message is valid for this service only, for a short time, and once.

import type { Address, Hex } from 'viem';
import type { Sessions } from './sessions.ts';

export interface SignInOptions {
  readonly sessions: Sessions;
  /** The public origins of the service, such as `https://delegations.example`. Never taken from a request. */
  readonly origins: () => readonly string[];
  /** Node URLs by chain, to verify the signatures of contract wallets. */
  readonly nodes: ReadonlyMap<number, readonly string[]>;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Why a sign-in failed, shown to the user. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
}

export interface SignIn {
  /** The wallet that signed, in lower case. */
  verify(message: string, signature: string): Promise<string>;
}

/** How far `issuedAt` may be from our clock. */
const CLOCK_SKEW_SECONDS = 600;
const MAX_MESSAGE_LENGTH = 4000;
const MAX_SIGNATURE_LENGTH = 8000;
const NODE_TIMEOUT_MS = 5000;
/** Limits concurrent signature checks by nodes, because the follower needs them. */
const MAX_CONCURRENT = 4;

/** Loads viem here, because it takes longer to load than the rest of most commands. */
export async function createSignIn({ sessions, origins, nodes, now }: SignInOptions): Promise<SignIn> {
  const { createPublicClient, http, isHex, recoverMessageAddress } = await import('viem');
  const { createSiweMessage, parseSiweMessage } = await import('viem/siwe');
  let verifying = 0;

  /** Whether the message is exactly what its fields produce. */
  function isExactly(message: string, fields: ReturnType<typeof parseSiweMessage>): boolean {
    try {
      return createSiweMessage(fields as Parameters<typeof createSiweMessage>[0]) === message;
    } catch {
      return false;
    }
  }

  /** The nonce is used up last, so that an invalid message does not consume it. */
  async function requireMessage(message: string): Promise<{ address: Address; chainId: number }> {
    const fields = parseSiweMessage(message);
    const { address, chainId, domain, uri, version, nonce, scheme, issuedAt, expirationTime, notBefore } = fields;
    const reject = (why: string): never => {
      throw new SignInError(why);
    };
    if (address === undefined || version !== '1' || nonce === undefined) return reject('Invalid sign-in message.');
    // Exactly the standard's text, because wallets warn about sign-ins only if they recognize the message.
    if (!isExactly(message, fields)) return reject('Invalid sign-in message.');
    const origin = origins().find((one) => new URL(one).host === domain);
    if (origin === undefined || (scheme !== undefined && `${scheme}:` !== new URL(origin).protocol))
      return reject(`The message is for ${domain ?? 'no domain'}, not for this service.`);
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
    if (!(await sessions.useNonce(nonce, Math.floor(now()))))
      return reject('The nonce was used before, or has expired. Sign in again.');
    return { address, chainId };
  }

  /** Signed by the wallet's own key, or accepted by the wallet's contract (EIP-1271, EIP-6492). */
  async function isSigned(address: Address, chainId: number, message: string, signature: Hex): Promise<boolean> {
    const signer = await recoverMessageAddress({ message, signature }).catch(() => null);
    if (signer?.toLowerCase() === address.toLowerCase()) return true;
    if (verifying >= MAX_CONCURRENT) throw new SignInError('Too many sign-ins at once. Try again in a moment.');
    verifying++;
    try {
      return await isContractSigned(address, chainId, message, signature);
    } finally {
      verifying--;
    }
  }

  async function isContractSigned(
    address: Address,
    chainId: number,
    message: string,
    signature: Hex,
  ): Promise<boolean> {
    for (const url of nodes.get(chainId) ?? []) {
      // The wallet's contract must not make us fetch URLs.
      const client = createPublicClient({
        ccipRead: false,
        transport: http(url, { timeout: NODE_TIMEOUT_MS, retryCount: 0 }),
      });
      const isValid = await client.verifyMessage({ address, message, signature }).catch(() => null);
      if (isValid !== null) return isValid;
    }
    return false;
  }

  return {
    async verify(message, signature) {
      if (message.length > MAX_MESSAGE_LENGTH || signature.length > MAX_SIGNATURE_LENGTH || !isHex(signature))
        throw new SignInError('Invalid sign-in message or signature.');
      const { address, chainId } = await requireMessage(message);
      if (!(await isSigned(address, chainId, message, signature)))
        throw new SignInError('The signature is not from the wallet in the message.');
      return address.toLowerCase();
    },
  };
}
