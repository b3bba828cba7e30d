// Sign-In with Ethereum (EIP-4361): a wallet signs a message that only this service, now, and once, takes for a sign-in.

import type { Address, Hex } from 'viem';
import type { Sessions } from './sessions.ts';

export interface SignInOptions {
  readonly sessions: Sessions;
  /** How people reach the service: `https://delegations.example`. Never what a request says of itself. */
  readonly origins: () => readonly string[];
  /** Nodes by chain, for wallets that are contracts: they are asked whether a signature is theirs. */
  readonly nodes: ReadonlyMap<number, readonly string[]>;
  /** Unix seconds. */
  readonly now: () => number;
}

/** Why somebody is not signed in, for them to read. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
}

export interface SignIn {
  /** The wallet that signed, in lower case. */
  verify(message: string, signature: string): Promise<string>;
}

/** A message may be this much older or newer than our clock says, in seconds. */
const CLOCK_SECONDS = 600;
const LONGEST_MESSAGE = 4000;
const LONGEST_SIGNATURE = 8000;
const NODE_MS = 5000;
/** So many wallets that are contracts are asked about at a time: the nodes are there for the follower. */
const MOST_AT_ONCE = 4;

/** Loads viem, which takes longer than all the rest of a command that does without it. */
export async function createSignIn({ sessions, origins, nodes, now }: SignInOptions): Promise<SignIn> {
  const { createPublicClient, http, isHex, recoverMessageAddress } = await import('viem');
  const { createSiweMessage, parseSiweMessage } = await import('viem/siwe');
  let asking = 0;

  /** Whether the message is what its fields make, and nothing else. */
  function isExactly(message: string, fields: ReturnType<typeof parseSiweMessage>): boolean {
    try {
      return createSiweMessage(fields as Parameters<typeof createSiweMessage>[0]) === message;
    } catch {
      return false;
    }
  }

  /** Each of them checked, and the nonce used up last: a message that is wrong anyway does not cost it. */
  async function requireMessage(message: string): Promise<{ address: Address; chainId: number }> {
    const fields = parseSiweMessage(message);
    const { address, chainId, domain, uri, version, nonce, scheme, issuedAt, expirationTime, notBefore } = fields;
    const refuse = (why: string): never => {
      throw new SignInError(why);
    };
    if (address === undefined || version !== '1' || nonce === undefined) return refuse('This is no sign-in message.');
    // To the letter: what a wallet would not take for a sign-in, and show as one, is none.
    if (!isExactly(message, fields)) return refuse('This is no sign-in message.');
    const origin = origins().find((one) => new URL(one).host === domain);
    if (origin === undefined || (scheme !== undefined && `${scheme}:` !== new URL(origin).protocol))
      return refuse(`The message is for ${domain ?? 'nobody'}, not for this service.`);
    if (uri === undefined || !URL.canParse(uri) || new URL(uri).origin !== origin)
      return refuse('The message names another address than this service.');
    if (chainId === undefined || (chainId !== 1 && !nodes.has(chainId)))
      return refuse(`The message is for chain ${chainId}, which is not followed here.`);
    const seconds = (date: Date) => date.getTime() / 1000;
    // A time that is none compares as false with everything.
    if (issuedAt === undefined || !(Math.abs(seconds(issuedAt) - now()) <= CLOCK_SECONDS))
      return refuse('The message was not made just now.');
    if (expirationTime === undefined || !(seconds(expirationTime) > now())) return refuse('The message has expired.');
    if (notBefore !== undefined && !(seconds(notBefore) <= now())) return refuse('The message is not valid yet.');
    if (!(await sessions.useNonce(nonce, Math.floor(now()))))
      return refuse('This sign-in was used before, or took too long.');
    return { address, chainId };
  }

  /** Signed by the wallet's own key, or by what a wallet that is a contract says is its signature (EIP-1271, EIP-6492). */
  async function isSigned(address: Address, chainId: number, message: string, signature: Hex): Promise<boolean> {
    const signer = await recoverMessageAddress({ message, signature }).catch(() => null);
    if (signer?.toLowerCase() === address.toLowerCase()) return true;
    if (asking >= MOST_AT_ONCE)
      throw new SignInError('Too many wallets are signing in just now: try again in a moment.');
    asking++;
    try {
      return await isContractSigned(address, chainId, message, signature);
    } finally {
      asking--;
    }
  }

  async function isContractSigned(
    address: Address,
    chainId: number,
    message: string,
    signature: Hex,
  ): Promise<boolean> {
    for (const url of nodes.get(chainId) ?? []) {
      // What a wallet's code answers must not make us fetch anything from anywhere.
      const client = createPublicClient({ ccipRead: false, transport: http(url, { timeout: NODE_MS, retryCount: 0 }) });
      const said = await client.verifyMessage({ address, message, signature }).catch(() => null);
      if (said !== null) return said;
    }
    return false;
  }

  return {
    async verify(message, signature) {
      if (message.length > LONGEST_MESSAGE || signature.length > LONGEST_SIGNATURE || !isHex(signature))
        throw new SignInError('This is no signed sign-in message.');
      const { address, chainId } = await requireMessage(message);
      if (!(await isSigned(address, chainId, message, signature)))
        throw new SignInError('The signature is not that of the wallet in the message.');
      return address.toLowerCase();
    },
  };
}
