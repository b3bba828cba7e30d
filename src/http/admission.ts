// Decides whether a request is admitted: rate-limited by client address without a key, and with an active key by the key's limit,
// if it has one.

import type { KeyRecord } from '../accounts/accounts.ts';
import type { KeyCache } from '../accounts/key-cache.ts';
import type { Budget } from '../api/operation.ts';
import { Problem } from '../api/problems.ts';
import type { Awaitable } from '../store/awaitable.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import { apiKeyOf } from './headers.ts';
import type { Limiter, LimitResult } from './limiter.ts';
import type { Caller } from './long-lists.ts';

export interface AdmissionOptions {
  /** For requests without a key, and the explorer; null means no limit. */
  readonly anonymous: Limiter | null;
  /** For pages, `/networks` and unknown paths. */
  readonly pages: Limiter;
  /** For requests that cost more than a page: sign-ins and lookups of unknown keys. */
  readonly lookups: Limiter;
  /** For requests with a key whose stored limit is this; null means no limit. */
  readonly limiterOfKey: (rateLimit: string | null) => Limiter | null;
  readonly keys: Pick<KeyCache, 'known' | 'isFamiliar' | 'lookUp'>;
  /** Whether a request with a key that is not active is a 401, or counts as one without a key. */
  readonly unknownKeys?: UnknownKeys;
  readonly proxies: TrustedProxies;
}

export const UNKNOWN_KEYS = ['refuse', 'anonymous'] as const;
export type UnknownKeys = (typeof UNKNOWN_KEYS)[number];

/** Whether a request is admitted, and the rate limit headers of its response. */
export interface AdmissionDecision {
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the request is admitted. */
  readonly refusal: Problem | null;
}

export interface Admission {
  /** `socket` returns the peer address; it is only called if needed. */
  admit(request: Request, budget: Budget, socket: () => string): Awaitable<AdmissionDecision>;
  /** The client's address, behind trusted proxies too. */
  addressOf(request: Request, socket: () => string): string;
  /** Who sent an admitted request. */
  callerOf(request: Request, budget: Budget, socket: () => string): Caller;
}

export const UNLIMITED: AdmissionDecision = { headers: {}, refusal: null };
/** What a limit covers, by the name of its policy. */
const SCOPES: Readonly<Record<string, string>> = {
  key: ' with this API key',
  owner: ' for all API keys of this wallet together',
};
const BAD_KEY = 'The API key is unknown, malformed, expired or revoked.';
const CHALLENGE = { 'www-authenticate': 'ApiKey realm="registry", header="X-API-KEY"' };

export function createAdmission(options: AdmissionOptions): Admission {
  const { anonymous, pages, lookups, limiterOfKey, keys, unknownKeys = 'refuse', proxies } = options;
  const keysAre =
    limiterOfKey(null) === null ? 'with an API key are not limited' : 'with an API key have their own limit';
  /** What a caller over the anonymous limit can do. */
  const help = {
    noKey: ` Requests ${keysAre}: see /developers.`,
    noKeyOnV1: ` On v2, requests ${keysAre}: see /developers.`,
    ignoredKey: ' The API key is ignored here: v1 and the explorer do not take keys.',
    badKey: ` ${BAD_KEY} See /developers.`,
  };
  /** Requests whose key is not active but counts as none. */
  const withIgnoredKey = new WeakSet<Request>();
  const addressOf = (request: Request, socket: () => string) =>
    clientAddress(socket(), request.headers.get('x-forwarded-for'), proxies);

  async function limited(
    name: string,
    limiter: Limiter | null,
    request: Request,
    socket: () => string,
    helpText = '',
  ): Promise<AdmissionDecision> {
    if (limiter === null) return UNLIMITED;
    return decide(name, limiter, await limiter.consume(addressOf(request, socket), performance.now()), helpText);
  }

  /** The keys of one wallet share a window. A key with a limit of its own has its own window, shared with the keys it replaced. */
  function limitKey({ id, windowId, owner, rateLimit }: KeyRecord): Awaitable<AdmissionDecision> {
    const limiter = limiterOfKey(rateLimit);
    if (limiter === null) return UNLIMITED;
    const isShared = owner !== null && rateLimit === null;
    const name = isShared ? 'owner' : 'key';
    const result = limiter.consume(isShared ? owner : `#${windowId ?? id}`, performance.now());
    return result instanceof Promise ? result.then((one) => decide(name, limiter, one)) : decide(name, limiter, result);
  }

  /** Decisions in progress by key: concurrent requests with the same key share one lookup. */
  const pending = new Map<string, Promise<AdmissionDecision>>();

  async function mayLookUp(key: string, request: Request, socket: () => string): Promise<AdmissionDecision> {
    if (keys.isFamiliar(key)) return UNLIMITED;
    const decision = pending.get(key) ?? limited('keys', lookups, request, socket);
    pending.set(key, decision);
    try {
      return await decision;
    } finally {
      pending.delete(key);
    }
  }

  /** A key that is not cached must be looked up. Lookups are rate-limited, so that random keys cannot load the database. */
  async function withKey(
    key: string,
    known: false | null,
    request: Request,
    socket: () => string,
  ): Promise<AdmissionDecision> {
    const anon = (helpText?: string) => limited('anon', anonymous, request, socket, helpText);
    if (known === null) {
      const lookup = await mayLookUp(key, request, socket);
      if (lookup.refusal !== null) return lookup;
      let found: KeyRecord | false;
      try {
        found = await keys.lookUp(key);
      } catch {
        const { headers, refusal } = await anon();
        const problem = new Problem('not-ready', 'The API key cannot be verified now.', { retryAfter: 5 });
        return { headers, refusal: refusal ?? problem };
      }
      if (found !== false) return limitKey(found);
    }
    if (unknownKeys === 'anonymous') {
      withIgnoredKey.add(request);
      return anon(help.badKey);
    }
    const { headers, refusal } = await anon(help.badKey);
    const problem = new Problem('bad-key', BAD_KEY, { headers: CHALLENGE });
    return { headers, refusal: refusal ?? problem };
  }

  return {
    addressOf,
    callerOf(request, budget, socket) {
      const key = withIgnoredKey.has(request) ? null : keyOf(request, budget);
      return { id: key ?? addressOf(request, socket), hasKey: key !== null };
    },
    admit(request, budget, socket) {
      if (budget === 'free') return UNLIMITED;
      if (budget === 'page') return limited('pages', pages, request, socket);
      if (budget === 'lookup') return limited('lookups', lookups, request, socket);
      if (budget === 'anonymous') {
        const helpText = apiKeyOf(request) === null ? help.noKeyOnV1 : help.ignoredKey;
        return limited('anon', anonymous, request, socket, helpText);
      }
      const key = apiKeyOf(request);
      if (key === null) return limited('anon', anonymous, request, socket, help.noKey);
      const known = keys.known(key);
      return known ? limitKey(known) : withKey(key, known, request, socket);
    },
  };
}

const keyOf = (request: Request, budget: Budget) => (budget === 'keyed' ? apiKeyOf(request) : null);

function decide(
  name: string,
  { limit }: Limiter,
  { accepted, remaining, seconds }: LimitResult,
  help = '',
): AdmissionDecision {
  // Rounded up, but not for clock noise below a millisecond.
  const wait = Math.min(limit.seconds, Math.max(1, Math.ceil(seconds - 0.001)));
  const headers = {
    'ratelimit-policy': `"${name}";q=${limit.most};w=${limit.seconds}`,
    ratelimit: `"${name}";r=${remaining};t=${wait}`,
  };
  if (accepted) return { headers, refusal: null };
  const detail = `Rate limit exceeded: at most ${limit.most} requests in any ${limit.seconds} seconds${SCOPES[name] ?? ''}.${help}`;
  return { headers, refusal: new Problem('too-many-requests', detail, { retryAfter: wait }) };
}
