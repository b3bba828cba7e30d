// Who may ask how much: with a good key as much as they like, without one so many requests in any ten seconds.

import type { KeyRing } from '../accounts/key-ring.ts';
import type { Budget } from '../api/operation.ts';
import { Problem } from '../api/problems.ts';
import type { Awaitable } from '../store/store.ts';
import { clientOf, type TrustedProxies } from './client-address.ts';
import type { Limiter, Verdict } from './limiter.ts';

export interface GateOptions {
  /** Null where callers without a key are not limited. */
  readonly anonymous: Limiter | null;
  /** For pages, `/networks` and what is not there. */
  readonly pages: Limiter;
  /** For what costs more than a page: the explorer's lists, sign-ins, and keys that must be looked up. */
  readonly lookups: Limiter;
  readonly keys: Pick<KeyRing, 'known' | 'isFamiliar' | 'lookUp'>;
  readonly proxies: TrustedProxies;
}

/** Whether a request goes on, and what its answer says of the limit. */
export interface Admission {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Problem | null;
}

export interface Gate {
  /** `socket` gives the address of the caller's socket, where that matters. */
  admit(request: Request, budget: Budget, socket: () => string): Awaitable<Admission>;
}

export const UNLIMITED: Admission = { headers: {}, refusal: null };
const CHALLENGE = { 'www-authenticate': 'ApiKey realm="registry", header="X-API-KEY"' };

export function createGate({ anonymous, pages, lookups, keys, proxies }: GateOptions): Gate {
  async function limited(
    name: string,
    limiter: Limiter | null,
    request: Request,
    socket: () => string,
  ): Promise<Admission> {
    if (limiter === null) return UNLIMITED;
    const client = clientOf(socket(), request.headers.get('x-forwarded-for'), proxies);
    return admission(name, limiter, await limiter.take(client, performance.now()));
  }

  /** Whether keys may be looked up of which that is being judged just now: what holds for one holds for all who bring it. */
  const judged = new Map<string, Promise<Admission>>();

  async function mayLookUp(key: string, request: Request, socket: () => string): Promise<Admission> {
    if (keys.isFamiliar(key)) return UNLIMITED;
    const judging = judged.get(key) ?? limited('keys', lookups, request, socket);
    judged.set(key, judging);
    try {
      return await judging;
    } finally {
      judged.delete(key);
    }
  }

  /** A key that is not known now must be looked up, and nobody may have too much looked up. */
  async function withKey(
    key: string,
    known: boolean | null,
    request: Request,
    socket: () => string,
  ): Promise<Admission> {
    const anon = () => limited('anon', anonymous, request, socket);
    let isGood = known;
    if (isGood === null) {
      const lookup = await mayLookUp(key, request, socket);
      if (lookup.refusal !== null) return lookup;
      try {
        isGood = await keys.lookUp(key);
      } catch {
        const { headers, refusal } = await anon();
        const away = new Problem('not-ready', 'Whether the key is good cannot be told now.', { retryAfter: 5 });
        return { headers, refusal: refusal ?? away };
      }
    }
    if (isGood) return UNLIMITED;
    const { headers, refusal } = await anon();
    const bad = new Problem('bad-key', 'This key is unknown, malformed, expired or revoked.', { headers: CHALLENGE });
    return { headers, refusal: refusal ?? bad };
  }

  return {
    admit(request, budget, socket) {
      if (budget === 'free') return UNLIMITED;
      if (budget === 'page') return limited('pages', pages, request, socket);
      if (budget === 'lookup') return limited('lookups', lookups, request, socket);
      const key = budget === 'keyed' ? request.headers.get('x-api-key') : null;
      if (key === null) return limited('anon', anonymous, request, socket);
      const known = keys.known(key);
      return known === true ? UNLIMITED : withKey(key, known, request, socket);
    },
  };
}

function admission(name: string, { limit }: Limiter, { accepted, remaining, seconds }: Verdict): Admission {
  // A fraction of a millisecond more than the window is the clock's own.
  const wait = Math.min(limit.seconds, Math.max(1, Math.ceil(seconds - 0.001)));
  const headers = {
    'ratelimit-policy': `"${name}";q=${limit.most};w=${limit.seconds}`,
    ratelimit: `"${name}";r=${remaining};t=${wait}`,
  };
  if (accepted) return { headers, refusal: null };
  const help = name === 'anon' ? ' With a key there is no limit: see /developers.' : '';
  const detail = `At most ${limit.most} requests in any ${limit.seconds} seconds.${help}`;
  return { headers, refusal: new Problem('too-many-requests', detail, { retryAfter: wait }) };
}
