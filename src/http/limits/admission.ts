// Decides whether a request is admitted: rate-limited by client address without a key, and with an active key by the key's limit,
// if it has one.

import type { KeyRecord } from '../../accounts/accounts.ts';
import type { KeyCache } from '../../accounts/key-cache.ts';
import type { Budget } from '../../api/operation.ts';
import { Problem } from '../../api/problems.ts';
import type { Awaitable } from '../../store/engine.ts';
import { othersOfTurn } from '../../store/turns.ts';
import { apiKeyOf } from '../wire/answer.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';
import type { Limiter, LimitResult } from './limiter.ts';
import { type Caller, countedAs } from './shares.ts';

export interface AdmissionOptions {
  /** For requests without a key, and the explorer; null means no limit. */
  readonly anonymous: Limiter | null;
  /** For pages, `/networks` and unknown paths. */
  readonly pages: Limiter;
  /** For requests that cost more than a page: sign-ins and lookups of unknown keys. */
  readonly lookups: Limiter;
  /** For requests with a key whose stored limit is this; null means no limit. */
  readonly limiterOfKey: (rateLimit: string | null) => Limiter | null;
  readonly keys: Pick<KeyCache, 'known' | 'isFamiliar' | 'lookUp' | 'found'>;
  /** Whether a request with a key that is not active is a 401, or counts as one without a key. */
  readonly unknownKeys?: UnknownKeys;
  readonly proxies: TrustedProxies;
}

export const UNKNOWN_KEYS = ['refuse', 'anonymous'] as const;
export type UnknownKeys = (typeof UNKNOWN_KEYS)[number];

/** A request, as far as it matters for its admission. */
export interface Sent {
  readonly request: Request;
  readonly budget: Budget;
  /** Returns the peer's address. It is only called if needed. */
  readonly socket: () => string;
}

/** Whether a request is admitted, and the rate limit headers of its response. */
export interface AdmissionDecision {
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the request is admitted. */
  readonly refusal: Problem | null;
}

export type Admission = ReturnType<typeof createAdmission>;

export const UNLIMITED: AdmissionDecision = { headers: {}, refusal: null };
/** What a limit covers, by the name of its policy. */
const SCOPES: Readonly<Record<string, string>> = {
  key: ' with this API key',
  owner: ' for all API keys of this wallet together',
};
/** A key, and those that it replaced. */
const windowOf = ({ id, windowId }: KeyRecord) => `#${windowId ?? id}`;
const BAD_KEY = 'The API key is unknown, malformed, expired or revoked.';
const CHALLENGE = { 'www-authenticate': 'ApiKey realm="registry", header="X-API-KEY"' };

export function createAdmission(options: AdmissionOptions) {
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
  const addressOf = ({ request, socket }: Pick<Sent, 'request' | 'socket'>) =>
    clientAddress(socket(), request.headers.get('x-forwarded-for'), proxies);

  async function limited(name: string, limiter: Limiter | null, sent: Sent, helpText = '', questions = 1) {
    if (limiter === null) return UNLIMITED;
    await othersOfTurn;
    return consume(name, limiter, addressOf(sent), questions, helpText);
  }

  /** The keys of one wallet share a window. A key with a limit of its own has its own window, shared with the keys it replaced. */
  function limitKey(record: KeyRecord, questions: number): Awaitable<AdmissionDecision> {
    const { owner, rateLimit } = record;
    const limiter = limiterOfKey(rateLimit);
    if (limiter === null) return UNLIMITED;
    const isShared = owner !== null && rateLimit === null;
    return consume(isShared ? 'owner' : 'key', limiter, isShared ? owner : windowOf(record), questions);
  }

  /** Decisions in progress by key: concurrent requests with the same key share one lookup. */
  const pending = new Map<string, Awaitable<AdmissionDecision>>();

  async function mayLookUp(key: string, sent: Sent): Promise<AdmissionDecision> {
    if (keys.isFamiliar(key)) return UNLIMITED;
    const decision = pending.get(key) ?? limited('keys', lookups, sent);
    pending.set(key, decision);
    try {
      return await decision;
    } finally {
      pending.delete(key);
    }
  }

  /** A key that is not cached must be looked up. Lookups are rate-limited, so that random keys cannot load the database. */
  async function withKey(key: string, known: false | null, sent: Sent, questions: number): Promise<AdmissionDecision> {
    const refuse = async (problem: Problem, helpText?: string): Promise<AdmissionDecision> => {
      const { headers, refusal } = await limited('anon', anonymous, sent, helpText, questions);
      return { headers, refusal: refusal ?? problem };
    };
    if (known === null) {
      const lookup = await mayLookUp(key, sent);
      if (lookup.refusal !== null) return lookup;
      let found: KeyRecord | false;
      try {
        found = await keys.lookUp(key, costOf(questions));
      } catch {
        return refuse(new Problem('not-ready', 'The API key cannot be verified now.', { retryAfter: 5 }));
      }
      if (found !== false) return limitKey(found, questions);
    }
    if (unknownKeys === 'refuse') return refuse(new Problem('bad-key', BAD_KEY, { headers: CHALLENGE }), help.badKey);
    withIgnoredKey.add(sent.request);
    return limited('anon', anonymous, sent, help.badKey, questions);
  }

  function admitCaller(sent: Sent, questions: number): Awaitable<AdmissionDecision> {
    const key = apiKeyOf(sent.request);
    const anon = (helpText: string) => limited('anon', anonymous, sent, helpText, questions);
    if (sent.budget === 'anonymous') return anon(key === null ? help.noKeyOnV1 : help.ignoredKey);
    if (key === null) return anon(help.noKey);
    const known = keys.known(key, costOf(questions));
    return known ? limitKey(known, questions) : withKey(key, known, sent, questions);
  }
  /** The wallet of a key, or the key itself if it is the operator's. Null for a key that was not found before. */
  function ownerOf(key: string): string | null {
    const record = keys.found(key);
    return record && (record.owner ?? windowOf(record));
  }
  const keyOf = ({ request, budget }: Pick<Sent, 'request' | 'budget'>) =>
    budget === 'keyed' && !withIgnoredKey.has(request) ? apiKeyOf(request) : null;

  return {
    /** The client's address, behind trusted proxies too. */
    addressOf,
    /** Who sent an admitted request. */
    callerOf(sent: Sent): Caller {
      const key = keyOf(sent);
      if (key === null) return { id: addressOf(sent), hasKey: false };
      return { id: ownerOf(key) ?? key, hasKey: true };
    },
    /** Whose turn a request takes, before it is admitted: a key counts only if it is known. */
    turnOf: (sent: Pick<Sent, 'request' | 'socket'>): string =>
      ownerOf(apiKeyOf(sent.request) ?? '') ?? countedAs({ id: addressOf(sent), hasKey: false }),
    admit(sent: Sent): Awaitable<AdmissionDecision> {
      const { budget } = sent;
      if (budget === 'free') return UNLIMITED;
      if (budget === 'page') return limited('pages', pages, sent);
      if (budget === 'lookup') return limited('lookups', lookups, sent);
      return admitCaller(sent, 1);
    },
    /** Counts the questions of a batch, all or none. The batch itself was admitted as the first of them. */
    admitQuestions: (sent: Sent, questions: number) => (questions > 1 ? admitCaller(sent, questions) : UNLIMITED),
    /** A batch with more questions would be refused, so there is no need to read them. */
    mostQuestions: (sent: Pick<Sent, 'request' | 'budget'>): number =>
      (keyOf(sent) === null ? anonymous?.limit.most : undefined) ?? Number.POSITIVE_INFINITY,
  };
}

/** How many requests are still to be counted: a batch was admitted as one. */
const costOf = (questions: number) => (questions === 1 ? 1 : questions - 1);

function consume(name: string, limiter: Limiter, client: string, questions: number, help = '') {
  if (questions > limiter.limit.most) return refuseBatch(name, limiter, help);
  const result = limiter.consume(client, performance.now(), costOf(questions));
  return result instanceof Promise
    ? result.then((one) => decide(name, limiter, one, help))
    : decide(name, limiter, result, help);
}

/** No window has room for so many questions. */
function refuseBatch(name: string, { limit }: Limiter, help: string): AdmissionDecision {
  const detail = `Too many questions: each counts as a request, and at most ${limit.most} are allowed in any ${limit.seconds} seconds${SCOPES[name] ?? ''}. Send at most ${limit.most} in a batch.${help}`;
  return { headers: {}, refusal: new Problem('too-many-questions', detail) };
}

function decide(name: string, { limit }: Limiter, { accepted, remaining, seconds }: LimitResult, help = '') {
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
