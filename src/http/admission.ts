// Decides whether a request is admitted: unlimited with an active key, rate-limited by client address without one.

import type { KeyCache } from '../accounts/key-cache.ts';
import type { Budget } from '../api/operation.ts';
import { Problem } from '../api/problems.ts';
import type { Awaitable } from '../store/awaitable.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import type { Limiter, LimitResult } from './limiter.ts';
import type { Caller } from './long-lists.ts';

export interface AdmissionOptions {
  /** For requests without a key, and the explorer; null means no limit. */
  readonly anonymous: Limiter | null;
  /** For pages, `/networks` and unknown paths. */
  readonly pages: Limiter;
  /** For requests that cost more than a page: sign-ins and lookups of unknown keys. */
  readonly lookups: Limiter;
  readonly keys: Pick<KeyCache, 'known' | 'isFamiliar' | 'lookUp'>;
  readonly proxies: TrustedProxies;
}

/** Whether a request is admitted, and the rate limit headers of its response. */
export interface AdmissionDecision {
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the request is admitted. */
  readonly refusal: Problem | null;
}

export interface Admission {
  /** `socket` returns the peer address; it is only called if needed. */
  admit(request: Request, budget: Budget, socket: () => string): Awaitable<AdmissionDecision>;
  /** Who sent an admitted request. */
  callerOf(request: Request, budget: Budget, socket: () => string): Caller;
}

export const UNLIMITED: AdmissionDecision = { headers: {}, refusal: null };
const CHALLENGE = { 'www-authenticate': 'ApiKey realm="registry", header="X-API-KEY"' };

export function createAdmission({ anonymous, pages, lookups, keys, proxies }: AdmissionOptions): Admission {
  const addressOf = (request: Request, socket: () => string) =>
    clientAddress(socket(), request.headers.get('x-forwarded-for'), proxies);

  async function limited(
    name: string,
    limiter: Limiter | null,
    request: Request,
    socket: () => string,
  ): Promise<AdmissionDecision> {
    if (limiter === null) return UNLIMITED;
    return toDecision(name, limiter, await limiter.consume(addressOf(request, socket), performance.now()));
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
    known: boolean | null,
    request: Request,
    socket: () => string,
  ): Promise<AdmissionDecision> {
    const anon = () => limited('anon', anonymous, request, socket);
    let isActive = known;
    if (isActive === null) {
      const lookup = await mayLookUp(key, request, socket);
      if (lookup.refusal !== null) return lookup;
      try {
        isActive = await keys.lookUp(key);
      } catch {
        const { headers, refusal } = await anon();
        const problem = new Problem('not-ready', 'The API key cannot be verified now.', { retryAfter: 5 });
        return { headers, refusal: refusal ?? problem };
      }
    }
    if (isActive) return UNLIMITED;
    const { headers, refusal } = await anon();
    const problem = new Problem('bad-key', 'The API key is unknown, malformed, expired or revoked.', {
      headers: CHALLENGE,
    });
    return { headers, refusal: refusal ?? problem };
  }

  return {
    callerOf(request, budget, socket) {
      const key = keyOf(request, budget);
      return { id: key ?? addressOf(request, socket), hasKey: key !== null };
    },
    admit(request, budget, socket) {
      if (budget === 'free') return UNLIMITED;
      if (budget === 'page') return limited('pages', pages, request, socket);
      if (budget === 'lookup') return limited('lookups', lookups, request, socket);
      const key = keyOf(request, budget);
      if (key === null) return limited('anon', anonymous, request, socket);
      const known = keys.known(key);
      return known === true ? UNLIMITED : withKey(key, known, request, socket);
    },
  };
}

const keyOf = (request: Request, budget: Budget) => (budget === 'keyed' ? request.headers.get('x-api-key') : null);

function toDecision(
  name: string,
  { limit }: Limiter,
  { accepted, remaining, seconds }: LimitResult,
): AdmissionDecision {
  // Rounded up, but not for clock noise below a millisecond.
  const wait = Math.min(limit.seconds, Math.max(1, Math.ceil(seconds - 0.001)));
  const headers = {
    'ratelimit-policy': `"${name}";q=${limit.most};w=${limit.seconds}`,
    ratelimit: `"${name}";r=${remaining};t=${wait}`,
  };
  if (accepted) return { headers, refusal: null };
  const help = name === 'anon' ? ' Requests with an API key are not limited: see /developers.' : '';
  const detail = `Rate limit exceeded: at most ${limit.most} requests in any ${limit.seconds} seconds.${help}`;
  return { headers, refusal: new Problem('too-many-requests', detail, { retryAfter: wait }) };
}
