// Who may ask how much: with a good key as much as they like, without one so many requests in any ten seconds.

import type { KeyRing } from '../accounts/key-ring.ts';
import type { Version } from '../registry/delegation.ts';
import type { Awaitable } from '../store/store.ts';
import { clientOf, type TrustedProxies } from './client.ts';
import type { Limiter, Verdict } from './limiter.ts';
import { Problem } from './problem.ts';

export interface GateOptions {
  /** Null where callers without a key are not limited. */
  readonly anonymous: Limiter | null;
  /** For pages, `/health`, `/networks` and what is not there. */
  readonly pages: Limiter;
  readonly keys: Pick<KeyRing, 'isGood'>;
  readonly proxies: TrustedProxies;
}

/** Whether a request goes on, and what its answer says of the limit. */
export interface Admission {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Problem | null;
}

export interface Gate {
  /** `version` of the registry that is asked; null for any other path. */
  admit(request: Request, version: Version | null, socket: string): Awaitable<Admission>;
}

export const UNLIMITED: Admission = { headers: {}, refusal: null };
const CHALLENGE = { 'www-authenticate': 'ApiKey realm="registry", header="X-API-KEY"' };

export function createGate({ anonymous, pages, keys, proxies }: GateOptions): Gate {
  async function limited(name: string, limiter: Limiter | null, request: Request, socket: string): Promise<Admission> {
    if (limiter === null) return UNLIMITED;
    const client = clientOf(socket, request.headers.get('x-forwarded-for'), proxies);
    const verdict = await limiter.take(client, performance.now());
    return admission(name, limiter, verdict);
  }

  return {
    admit(request, version, socket) {
      if (version === null) return limited('pages', pages, request, socket);
      const key = version === 2 ? request.headers.get('x-api-key') : null;
      if (key === null) return limited('anon', anonymous, request, socket);
      const isGood = keys.isGood(key);
      return isGood === true ? UNLIMITED : withKey(isGood, () => limited('anon', anonymous, request, socket));
    },
  };
}

async function withKey(isGood: Awaitable<boolean>, limited: () => Promise<Admission>): Promise<Admission> {
  if (await isGood) return UNLIMITED;
  const admitted = await limited();
  if (admitted.refusal !== null) return admitted;
  const refusal = new Problem('bad-key', 'This key is unknown, malformed, expired or revoked.', { headers: CHALLENGE });
  return { headers: admitted.headers, refusal };
}

function admission(name: string, { limit }: Limiter, { accepted, remaining, seconds }: Verdict): Admission {
  const wait = Math.max(1, Math.ceil(seconds));
  const headers = {
    'ratelimit-policy': `"${name}";q=${limit.most};w=${limit.seconds}`,
    ratelimit: `"${name}";r=${remaining};t=${wait}`,
  };
  if (accepted) return { headers, refusal: null };
  const detail = `At most ${limit.most} requests in any ${limit.seconds} seconds. With a key there is no limit: see /developers.`;
  return { headers, refusal: new Problem('too-many-requests', detail, { retryAfter: wait }) };
}
