// What the endpoints of /developers have in common: what they are given, who may call them, and how they read and answer.

import type { Accounts } from '../../accounts/accounts.ts';
import type { SignIn } from '../../accounts/sign-in.ts';
import { Problem } from '../../api/problems.ts';
import { parseQuery, splitUrl } from '../../api/query.ts';
import { textResponse } from '../../api/sized-response.ts';
import type { Store } from '../../store/store.ts';
import type { TargetRules } from '../../webhooks/target.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Sent } from '../limits/admission.ts';
import type { Limiter } from '../limits/limiter.ts';
import { JSON_TYPE } from '../wire/answer.ts';
import { MAX_PLAIN_BYTES, parseJson, readBody } from '../wire/body.ts';

export interface Developers {
  readonly accounts: Accounts;
  readonly signIn: SignIn;
  /** The origins under which the service's pages are served, the main one first. */
  readonly origins: () => readonly string[];
  /** How many active keys a wallet may have. */
  readonly quota: number;
  /** The client's address, behind trusted proxies too. */
  readonly clientOf: (sent: Pick<Sent, 'request' | 'socket'>) => string;
  /** Stores the uses of keys that this process has counted so far. */
  readonly storeUses?: () => Promise<unknown>;
  readonly onKeyChange?: (change: KeyChange) => void;
  /** Absent if webhooks are off. */
  readonly webhooks?: WebhookRules;
  readonly onWebhookChange?: (change: WebhookChange) => void;
  /** Signs for everybody who asks: in a sandbox only. */
  readonly testWallet?: TestWallet;
}

export interface WebhookRules {
  readonly store: Webhooks;
  /** How many webhooks a wallet may have. */
  readonly quota: number;
  /** Where they may deliver to. */
  readonly rules: TargetRules;
  /** How often an owner can have something sent: the least time between, in milliseconds. */
  readonly askMs: number;
  /** Limits how many are created from one address. */
  readonly registrations: Limiter;
}

/** A wallet whose private key is public. */
export interface TestWallet {
  readonly address: string;
  /** Signs like `personal_sign`. */
  sign(bytes: `0x${string}`): Promise<string>;
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

/** A request to an endpoint of /developers. */
export interface Asked {
  readonly request: Request;
  readonly developers: Developers;
  readonly service: { readonly store: Store; readonly chainIds: ReadonlySet<number>; readonly now: () => number };
  /** Unix seconds. */
  readonly now: number;
  /** The client's address. */
  readonly client: () => string;
}

/** Handlers by path and method. */
export type DeveloperPaths = readonly (readonly [
  path: string,
  handlers: Readonly<Record<string, (asked: Asked) => Promise<Response>>>,
])[];

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
    headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store', ...headers },
  });

export async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const body = parseJson(await readBody(request, MAX_PLAIN_BYTES)) ?? null;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Problem('bad-request', 'The body must be a JSON object.');
  return body as Record<string, unknown>;
}

const LIST_FIELDS = new Set(['after']);

/** A page, newest first, and where the next one starts. */
export async function readListPage<Row extends { readonly id: number }>(
  request: Request,
  size: number,
  list: (page: { readonly limit: number; readonly after?: number }) => Promise<Row[]>,
) {
  const { values, faults } = parseQuery(splitUrl(request.url).query, LIST_FIELDS);
  const after = values.get('after');
  if (faults.length > 0 || (after !== undefined && !/^\d{1,15}$/.test(after)))
    throw new Problem('bad-request', 'after must be the next of the page before. There are no other parameters.');
  // One more than a page, to see whether another page follows.
  const found = await list({ limit: size + 1, ...(after !== undefined && { after: Number(after) }) });
  const page = found.slice(0, size);
  return { page, next: found.length > page.length ? (page.at(-1)?.id ?? null) : null };
}

/** The row that the body names by its id; null if there is none. */
export const namedBy = async <Row>({ id }: Record<string, unknown>, byId: (id: number) => Promise<Row | null>) =>
  typeof id === 'number' && Number.isSafeInteger(id) ? byId(id) : null;
