// Answers /developers/*: wallets sign in and manage their own API keys. Requests that change something must come from our own pages.

import { type Accounts, isActive, KEYS_PER_PAGE, type KeyRecord } from '../accounts/accounts.ts';
import { LABEL_RULE, readLabel } from '../accounts/label.ts';
import { SESSION_SECONDS } from '../accounts/sessions.ts';
import { type SignIn, SignInError } from '../accounts/sign-in.ts';
import { Fault, readAddress } from '../api/params.ts';
import { Problem } from '../api/problems.ts';
import { parseQuery, splitUrl } from '../api/query.ts';
import { textResponse } from '../api/sized-response.ts';
import { checksummed } from '../registry/checksum.ts';
import type { TargetRules } from '../webhooks/target.ts';
import { MAX_PLAIN_BYTES, readBody } from './body.ts';
import { JSON_TYPE } from './headers.ts';

export interface Developers {
  readonly accounts: Accounts;
  readonly signIn: SignIn;
  /** The origins under which the service's pages are served, the main one first. */
  readonly origins: () => readonly string[];
  /** How many active keys a wallet may have. */
  readonly quota: number;
  /** The client's address, behind trusted proxies too. */
  readonly clientOf: (request: Request, socket: () => string) => string;
  readonly onKeyChange?: (change: KeyChange) => void;
  /** How many webhooks a wallet may have, and where they may deliver to; absent if webhooks are off. */
  readonly webhooks?: { readonly quota: number; readonly rules: TargetRules };
  readonly onWebhookChange?: (change: WebhookChange) => void;
}

/** A wallet created, rotated or revoked one of its keys. */
export interface KeyChange {
  readonly type: 'created' | 'rotated' | 'revoked';
  readonly keyId: number;
  /** The key that replaces it. */
  readonly newKeyId?: number;
}

/** A wallet changed one of its webhooks. */
export interface WebhookChange {
  readonly type: 'created' | 'paused' | 'resumed' | 'rotated' | 'tested' | 'replayed' | 'removed';
  readonly webhookId: number;
}

type Handler = (request: Request, developers: Developers, now: number, socket: () => string) => Promise<Response>;

/** By path and method. */
export const DEVELOPER_PATHS: ReadonlyMap<string, Readonly<Record<string, Handler>>> = new Map<
  string,
  Record<string, Handler>
>([
  ['/developers/nonce', { POST: createNonce }],
  ['/developers/session', { GET: readSession, POST: openSession, DELETE: closeSession }],
  ['/developers/keys', { GET: listKeys, POST: createKey }],
  ['/developers/keys/rotate', { POST: rotateKey }],
  ['/developers/keys/revoke', { POST: revokeKey }],
]);

const COOKIE = 'delegations_session';
const USES_DAYS = 30;
const DAY_SECONDS = 86_400;
const OVERLAP_SECONDS = DAY_SECONDS;
const MAX_DAYS = 3650;
const NO_ACTIVE_KEY = 'You have no active key with this id.';

/** Keeps pages of other sites from changing anything through a visitor's browser. */
export function requireOwnPage(request: Request, { origins }: Developers): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const origin = request.headers.get('origin');
  if (origin === null || !origins().includes(origin))
    throw new Problem(
      'forbidden',
      `Only pages of ${origins()[0]} may do this. If the service has another URL, set PUBLIC_URL.`,
    );
  if (!request.headers.get('content-type')?.startsWith('application/json'))
    throw new Problem('forbidden', 'The body must be JSON: send content-type application/json.');
}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  textResponse(JSON.stringify(value), {
    status,
    headers: {
      'content-type': JSON_TYPE,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
  });

function tokenOf(request: Request): string | null {
  return new RegExp(`(?:^|; )${COOKIE}=([0-9a-f]{64})(?:;|$)`).exec(request.headers.get('cookie') ?? '')?.[1] ?? null;
}

async function walletOf(request: Request, { accounts }: Developers, now: number): Promise<string | null> {
  const token = tokenOf(request);
  return token === null ? null : accounts.sessions.walletOf(token, now);
}

export async function requireWallet(request: Request, developers: Developers, now: number): Promise<string> {
  const wallet = await walletOf(request, developers, now);
  if (wallet === null) throw new Problem('signed-out', 'Sign in with your wallet first.');
  return wallet;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const text = await readBody(request, MAX_PLAIN_BYTES);
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Problem('bad-request', 'The body must be a JSON object.');
  return body as Record<string, unknown>;
}

function cookie({ origins }: Developers, value: string, seconds: number): string {
  const secure = origins()[0]?.startsWith('https:') ? '; Secure' : '';
  return `${COOKIE}=${value}; Path=/developers; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
}

/** Returns the wallet in its checksummed form too, which the message must use. */
async function createNonce(request: Request, { accounts }: Developers, now: number): Promise<Response> {
  const { wallet } = await bodyOf(request);
  const address = readAddress(typeof wallet === 'string' ? wallet.toLowerCase() : '');
  if (address instanceof Fault) throw new Problem('bad-request', `wallet ${address.detail}`);
  return json({ nonce: accounts.sessions.createNonce(now), wallet: checksummed(address) });
}

async function readSession(request: Request, developers: Developers, now: number): Promise<Response> {
  return json({ wallet: await walletOf(request, developers, now) });
}

async function openSession(
  request: Request,
  developers: Developers,
  now: number,
  socket: () => string,
): Promise<Response> {
  const { message, signature } = await bodyOf(request);
  if (typeof message !== 'string' || typeof signature !== 'string')
    throw new Problem('bad-request', 'message and signature must be strings.');
  const caller = developers.clientOf(request, socket);
  const wallet = await developers.signIn.verify(message, signature, caller).catch((error) => {
    if (!(error instanceof SignInError)) throw error;
    if (error.isTemporary) throw new Problem('not-ready', error.message, { retryAfter: 5 });
    throw new Problem('sign-in-refused', error.message);
  });
  const token = await developers.accounts.sessions.open(wallet, now);
  return json({ wallet }, 200, { 'set-cookie': cookie(developers, token, SESSION_SECONDS) });
}

async function closeSession(request: Request, developers: Developers): Promise<Response> {
  const token = tokenOf(request);
  if (token !== null) await developers.accounts.sessions.close(token);
  return json({ wallet: null }, 200, { 'set-cookie': cookie(developers, '', 0) });
}

const LIST_FIELDS = new Set(['after']);

/** The `next` of the page before; null for the first page. */
export function readAfter({ url }: Request): number | null {
  const { values, faults } = parseQuery(splitUrl(url).query, LIST_FIELDS);
  const after = values.get('after') ?? null;
  if (faults.length > 0 || (after !== null && !/^\d{1,15}$/.test(after)))
    throw new Problem('bad-request', 'after must be the next of the page before. There are no other parameters.');
  return after === null ? null : Number(after);
}

const shown = (record: KeyRecord, now: number) => ({ ...record, good: isActive(record, now) });

async function listKeys(request: Request, developers: Developers, now: number): Promise<Response> {
  const { accounts, quota } = developers;
  const wallet = await requireWallet(request, developers, now);
  const after = readAfter(request);
  const sinceDay = Math.floor(now / DAY_SECONDS) - USES_DAYS + 1;
  // One more than a page, to see whether another page follows.
  const found = await accounts.list({ owner: wallet, limit: KEYS_PER_PAGE + 1, ...(after === null ? {} : { after }) });
  const page = found.slice(0, KEYS_PER_PAGE);
  const uses = await accounts.uses(page, sinceDay);
  const next = found.length > page.length ? (page.at(-1)?.id ?? null) : null;
  return json({ wallet, quota, sinceDay, keys: page.map((one) => shown(one, now)), uses, next });
}

async function createKey(request: Request, developers: Developers, now: number): Promise<Response> {
  const { accounts, quota } = developers;
  const owner = await requireWallet(request, developers, now);
  const { label, days = null } = await bodyOf(request);
  const text = readLabel(label);
  if (text === null) throw new Problem('bad-request', `label is required: ${LABEL_RULE}.`);
  if (days !== null && !(typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= MAX_DAYS))
    throw new Problem('bad-request', `days must be an integer from 1 to ${MAX_DAYS}.`);
  const expiresAt = typeof days === 'number' ? now + days * DAY_SECONDS : null;
  const created = await accounts.create({ label: text, owner, expiresAt, now, quota });
  if (created === null)
    throw new Problem(
      'too-many-keys',
      `A wallet can have ${quota} active keys, rotated keys that still work included. Revoke one first.`,
    );
  developers.onKeyChange?.({ type: 'created', keyId: created.record.id });
  return json({ key: created.text, record: shown(created.record, now) }, 201);
}

/** The id of the signed-in wallet's own active key that the request names, and the whole body. */
async function ownKey(request: Request, developers: Developers, now: number) {
  const wallet = await requireWallet(request, developers, now);
  const body = await bodyOf(request);
  const { id } = body;
  const record = typeof id === 'number' && Number.isSafeInteger(id) ? await developers.accounts.byId(id) : null;
  if (record === null || record.owner !== wallet || !isActive(record, now))
    throw new Problem('not-found', NO_ACTIVE_KEY);
  return { id: record.id, body };
}

async function rotateKey(request: Request, developers: Developers, now: number): Promise<Response> {
  const { accounts, quota } = developers;
  const { id, body } = await ownKey(request, developers, now);
  const { overlap = true } = body;
  if (typeof overlap !== 'boolean') throw new Problem('bad-request', 'overlap must be true or false.');
  const created = await accounts.rotate({ id, now, overlapSeconds: overlap ? OVERLAP_SECONDS : 0, quota });
  if (created === 'over-quota')
    throw new Problem(
      'too-many-keys',
      `A wallet can have ${quota} active keys, and the old key would stay active for a day. Revoke a key first, or rotate without an overlap.`,
    );
  if (created === 'inactive') throw new Problem('not-found', NO_ACTIVE_KEY);
  developers.onKeyChange?.({ type: 'rotated', keyId: id, newKeyId: created.record.id });
  return json({ key: created.text, record: shown(created.record, now) }, 201);
}

async function revokeKey(request: Request, developers: Developers, now: number): Promise<Response> {
  const { id } = await ownKey(request, developers, now);
  await developers.accounts.revoke(id, now);
  developers.onKeyChange?.({ type: 'revoked', keyId: id });
  return json({ id, revoked: true });
}
