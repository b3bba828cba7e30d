// Answers /developers/nonce, /session and /test-wallet: a wallet signs in and out.

import { NONCE_SECONDS, SESSION_SECONDS } from '../../accounts/sessions.ts';
import { SignInError } from '../../accounts/sign-in.ts';
import { Fault, readAddress } from '../../api/params.ts';
import { Problem } from '../../api/problems.ts';
import { checksummed } from '../../registry/checksum.ts';
import type { Address } from '../../registry/delegation.ts';
import type { SessionJson } from '../../web/developers/developers.ts';
import { type Asked, bodyOf, type DeveloperPaths, type Developers, json } from './developers.ts';

export const SESSION_PATHS: DeveloperPaths = [
  ['/developers/nonce', { POST: createNonce }],
  ['/developers/session', { GET: readSession, POST: openSession, DELETE: closeSession }],
  ['/developers/test-wallet', { POST: signAsTestWallet }],
];

const COOKIE = 'delegations_session';
const isSecure = ({ origins }: Developers) => origins()[0]?.startsWith('https:') === true;
/** With this prefix, browsers take the cookie over HTTPS only: nobody on the network can set another. */
const cookieName = (developers: Developers) => (isSecure(developers) ? `__Secure-${COOKIE}` : COOKIE);

function tokenOf(request: Request, developers: Developers): string | null {
  const token = new RegExp(`(?:^|; )${cookieName(developers)}=([0-9a-f]{64})(?:;|$)`);
  return token.exec(request.headers.get('cookie') ?? '')?.[1] ?? null;
}

type Visit = Pick<Asked, 'request' | 'developers' | 'now'>;

async function walletOf({ request, developers, now }: Visit): Promise<string | null> {
  const token = tokenOf(request, developers);
  return token === null ? null : developers.accounts.sessions.walletOf(token, now);
}

export async function requireWallet(visit: Visit): Promise<string> {
  const wallet = await walletOf(visit);
  if (wallet === null) throw new Problem('signed-out', 'Sign in with your wallet first.');
  return wallet;
}

/** The account of a contract wallet is `eip155:<chain>:<address>`. */
function sessionJson(wallet: string | null): SessionJson {
  if (wallet === null) return { wallet: null, chainId: null };
  const [, chainId = null, address = wallet] = /^eip155:(\d+):(.+)$/.exec(wallet) ?? [];
  return { wallet: checksummed(address as Address), chainId: chainId === null ? null : Number(chainId) };
}

export const sessionOf = async (visit: Visit): Promise<SessionJson> => sessionJson(await walletOf(visit));

function cookie(developers: Developers, value: string, seconds: number): string {
  const secure = isSecure(developers) ? '; Secure' : '';
  return `${cookieName(developers)}=${value}; Path=/developers; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
}

async function createNonce({ request, developers: { accounts }, now }: Asked): Promise<Response> {
  const { wallet } = await bodyOf(request);
  const address = readAddress(typeof wallet === 'string' ? wallet.toLowerCase() : '');
  if (address instanceof Fault) throw new Problem('bad-request', `wallet ${address.detail}`);
  // By the clock of the service: that of the browser may be wrong.
  const timeOf = (seconds: number) => new Date(1000 * seconds).toISOString();
  return json({
    nonce: accounts.sessions.createNonce(now),
    wallet: checksummed(address),
    issuedAt: timeOf(now),
    expiresAt: timeOf(now + NONCE_SECONDS),
  });
}

async function readSession(asked: Asked): Promise<Response> {
  return json(await sessionOf(asked));
}

async function openSession({ request, developers, now, client }: Asked): Promise<Response> {
  const { message, signature } = await bodyOf(request);
  if (typeof message !== 'string' || typeof signature !== 'string')
    throw new Problem('bad-request', 'message and signature must be strings.');
  const wallet = await developers.signIn.verify(message, signature, client()).catch((error) => {
    if (!(error instanceof SignInError)) throw error;
    if (error.isTemporary) throw new Problem('not-ready', error.message, { retryAfter: 5 });
    throw new Problem('sign-in-refused', error.message);
  });
  const token = await developers.accounts.sessions.open(wallet, now);
  return json(sessionJson(wallet), 200, { 'set-cookie': cookie(developers, token, SESSION_SECONDS) });
}

async function closeSession({ request, developers }: Asked): Promise<Response> {
  const token = tokenOf(request, developers);
  if (token !== null) await developers.accounts.sessions.close(token);
  return json(sessionJson(null), 200, { 'set-cookie': cookie(developers, '', 0) });
}

/** Outside a sandbox, this is a path like any other that does not exist. */
async function signAsTestWallet({ request, developers: { testWallet } }: Asked): Promise<Response> {
  if (testWallet === undefined) throw new Problem('not-found', 'No such path. See /docs for all paths.');
  const { bytes } = await bodyOf(request);
  if (typeof bytes !== 'string' || !/^0x([0-9a-f]{2})*$/.test(bytes))
    throw new Problem('bad-request', 'bytes must be 0x and pairs of hex digits.');
  return json({ signature: await testWallet.sign(bytes as `0x${string}`) });
}
