// Every problem that the API can answer with (RFC 9457): its status, its words, and the fields of its body.

import * as s from './shape.ts';

const PARAMETER_FAULT = s.object({ parameter: s.string, detail: s.string });
export type ParameterFault = s.TypeOf<typeof PARAMETER_FAULT>;
const PARAMETER_FAULTS = s.arrayOf(PARAMETER_FAULT);
/** The body of a problem, as far as all problems have it. */
export const PROBLEM_FIELDS = s.object({
  type: s.string,
  title: s.string,
  status: s.integer,
  detail: s.string,
  errors: s.optional(PARAMETER_FAULTS),
});
export type ProblemBody = s.TypeOf<typeof PROBLEM_FIELDS>;

const INDEXED = { chainId: s.integer, indexedBlock: s.count, indexedTimestamp: s.unixSeconds } as const;
const AGE = { ...INDEXED, ageSeconds: s.integer, maxAgeSeconds: s.integer } as const;

/** Why a chain can be halted. */
export const HALT_CODE = s.oneOfStrings('finality-violation', 'registry-mismatch', 'import-unfinished');

/** A head more than this many blocks behind the chain means that the backfill is not finished: `chain-not-ready`, not `chain-stale`. */
export const BACKFILL_BLOCKS = 100;

interface ProblemRow {
  readonly status: number;
  readonly title: string;
  /** For /docs. */
  readonly help: string;
  /** The fields of the body beyond type, title, status and detail. */
  readonly fields?: s.Fields;
}

export const PROBLEMS = {
  'bad-request': {
    status: 400,
    title: 'Invalid request',
    help: '`errors` names each rejected parameter and what is wrong with it.',
    fields: { errors: s.optional(PARAMETER_FAULTS) },
  },
  'unknown-chain': {
    status: 400,
    title: 'Chain not served',
    help: 'This service does not follow the chain, or the chain has no registry of this version. `chainIds` lists the chains that it can answer for.',
    fields: { errors: PARAMETER_FAULTS, chainIds: s.arrayOf(s.integer) },
  },
  'bad-key': {
    status: 401,
    title: 'Invalid API key',
    help: 'The `X-API-KEY` is unknown, malformed, expired or revoked, or was sent twice. An empty one counts as none. Without a key, requests are answered within the rate limit.',
  },
  'signed-out': { status: 401, title: 'Not signed in', help: 'On `/developers`: sign in with a wallet first.' },
  'sign-in-refused': {
    status: 401,
    title: 'Sign-in failed',
    help: 'On `/developers`: the message is for another service, expired, already used, or not signed by the wallet that it names.',
  },
  forbidden: {
    status: 403,
    title: 'Request from another site',
    help: "On `/developers`: only this service's own pages may do this, with a JSON body.",
  },
  'not-found': { status: 404, title: 'Not found', help: 'This page lists all paths.' },
  'not-indexed': {
    status: 404,
    title: 'Before the first indexed block',
    help: 'The index starts after the requested block or time. What was delegated then is unknown, not empty.',
  },
  'block-not-kept': {
    status: 404,
    title: 'Block hash not kept',
    help: 'Token ownership is read by block hash, and expiry is judged by the timestamp of the block, but the index has neither of the requested block or time. It keeps those of recent blocks and of blocks with delegations. Use `latest` or `finalized`.',
    fields: { chainId: s.integer, block: s.count },
  },
  'ownership-off': {
    status: 404,
    title: 'Token gates are off',
    help: 'The operator of this service has not turned token gates on (`OWNERSHIP=on`).',
  },
  'proofs-off': {
    status: 404,
    title: 'Proofs are off',
    help: 'The operator of this service has not turned proofs on (`PROOFS=on`).',
  },
  'method-not-allowed': { status: 405, title: 'Method not allowed', help: 'The `Allow` header lists the methods.' },
  'request-timeout': { status: 408, title: 'Request timeout', help: 'The body of the request did not arrive in time.' },
  'too-many-keys': {
    status: 409,
    title: 'Too many API keys',
    help: 'On `/developers`: revoke a key that you no longer need.',
  },
  'too-many-webhooks': {
    status: 409,
    title: 'Too many webhooks',
    help: 'On `/developers`: remove a webhook that you no longer need.',
  },
  'no-active-key': {
    status: 409,
    title: 'No active API key',
    help: 'On `/developers`: create an API key first. Webhooks work while their owner has an active key.',
  },
  'cursor-gone': {
    status: 409,
    title: 'Cursor expired',
    help: 'A reorg or a repair of the index changed the list. Start again without a cursor.',
  },
  'content-too-large': {
    status: 413,
    title: 'Content too large',
    help: 'The body is larger than the operation accepts. Only a batch may have more than 16 KiB.',
  },
  'uri-too-long': { status: 414, title: 'URL too long', help: 'No valid request comes near the limit.' },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    help: 'The `Content-Type` of the body is not one that the operation accepts.',
  },
  'not-a-token': {
    status: 422,
    title: 'Not a token contract',
    help: 'The address has no contract, or the contract does not answer as the standard requires; `cause` says which. Check `chainId`, `contract` and `standard`.',
    fields: { chainId: s.integer, contract: s.string, cause: s.oneOfStrings('no-code', 'reverted', 'bad-return-data') },
  },
  'too-many-questions': {
    status: 413,
    title: 'Too many questions',
    help: 'Each question of a batch counts as a request, and the rate limit allows fewer than the batch has, however long you wait. Send smaller batches, or use an API key.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    help: 'Without a key the limit is 25 requests in any 10 seconds, unless the operator set another. Each question of a batch counts as a request. Long lists and large batches are also limited in how many are in flight at once. Retry after `Retry-After` seconds.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    help: "An error of the service. The operator's log has the cause.",
  },
  'not-ready': {
    status: 503,
    title: 'Service not ready',
    help: 'No chain is up to date, or the database is unavailable.',
  },
  'no-chain-answered': {
    status: 503,
    title: 'No chain answered',
    help: 'None of the requested chains could answer. `chains` has the problem of each.',
    fields: { chains: s.arrayOf(s.object({ chainId: s.integer, problem: s.anyObject })) },
  },
  'chain-not-ready': {
    status: 503,
    title: 'Chain not ready',
    help: "The backfill of the chain's history is not finished. Retry after `Retry-After` seconds.",
    fields: {
      chainId: s.optional(s.integer),
      indexedBlock: s.optional(s.count),
      indexedTimestamp: s.optional(s.unixSeconds),
      ageSeconds: s.optional(s.integer),
      maxAgeSeconds: s.optional(s.integer),
      chainBlock: s.optional(s.count),
    },
  },
  'chain-stale': {
    status: 503,
    title: 'Chain stale',
    help: 'The newest indexed block is too old to answer for now. Finalized blocks are still answered: use `block`.',
    fields: AGE,
  },
  'clock-skew': {
    status: 503,
    title: 'Clock behind the chain',
    help: "The newest indexed block is more than a minute ahead of the server's clock, so its age is unknown. Finalized blocks are still answered: use `block`.",
    fields: { ...INDEXED, clockBehindSeconds: s.integer },
  },
  'chain-halted': {
    status: 503,
    title: 'Chain halted',
    help: 'A finalized block changed, or the index is not whole; `code` says which. The chain resumes when that is resolved.',
    fields: { chainId: s.integer, code: HALT_CODE, since: s.unixSeconds },
  },
  'not-yet-indexed': {
    status: 503,
    title: 'Not indexed yet',
    help: 'The requested block or time is after the newest indexed block.',
  },
  'ownership-unavailable': {
    status: 503,
    title: 'Ownership unavailable',
    help: 'Who owns the token at the indexed block is not known: too few providers answered for that block (`no-provider`), they disagree (`disputed`), or too many requests wait for them (`overloaded`). This is not a no. Retry after `Retry-After` seconds.',
    fields: { chainId: s.integer, cause: s.oneOfStrings('no-provider', 'disputed', 'overloaded') },
  },
  'proof-unavailable': {
    status: 503,
    title: 'Proof unavailable',
    help: 'No provider served a proof of the state at this block that leads to its hash (`no-provider`), the state of this chain cannot be proven (`not-provable`), or too many requests wait (`overloaded`). Most nodes keep the state of the newest blocks only: `newestBlock` is the newest one at which a provider just had a proof, or null.',
    fields: {
      chainId: s.integer,
      cause: s.oneOfStrings('no-provider', 'not-provable', 'overloaded'),
      newestBlock: s.nullable(s.count),
    },
  },
  'wallet-disputed': {
    status: 503,
    title: 'Wallet disputed',
    help: 'The registry, or a provider, contradicts the index about a wallet in the question, and it is not settled yet who is right. Neither true nor false would be certain. Other wallets are answered.',
    fields: { chainId: s.integer, since: s.unixSeconds },
  },
  'revocation-unread': {
    status: 503,
    title: 'Revocation not resolved',
    help: 'A v1 revocation does not name the delegate in its log. Whom it concerns is read from the registry right after the block, and no provider could read it yet. Neither true nor false would be certain. It usually takes less than a second.',
  },
} as const satisfies Readonly<Record<string, ProblemRow>>;

export type ProblemType = keyof typeof PROBLEMS;
export const PROBLEM_TYPES = Object.keys(PROBLEMS) as readonly ProblemType[];

/** The fields that the body of a problem has beyond those of all problems. */
export type ProblemFields<T extends ProblemType> = (typeof PROBLEMS)[T] extends {
  readonly fields: infer F extends s.Fields;
}
  ? s.ObjectOf<F>
  : Record<never, never>;

/** Statuses that always carry Retry-After. */
type RetryStatus = 429 | 503;
export const hasRetryAfter = (status: number): status is RetryStatus => status === 429 || status === 503;

type ProblemExtras<T extends ProblemType> = {
  readonly headers?: Readonly<Record<string, string>>;
} & ((typeof PROBLEMS)[T]['status'] extends RetryStatus
  ? {
      /** Seconds until a retry may succeed. */
      readonly retryAfter: number;
    }
  : unknown) &
  (Record<never, never> extends ProblemFields<T>
    ? { readonly fields?: ProblemFields<T> }
    : { readonly fields: ProblemFields<T> });

/** Thrown anywhere while a request is handled, and turned into its response in one place. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly type: ProblemType;
  readonly retryAfter: number | null;
  readonly fields: { readonly errors?: readonly ParameterFault[]; readonly [field: string]: unknown };
  readonly headers: Readonly<Record<string, string>>;

  constructor(...args: ProblemArguments) {
    const [type, detail, extras = {}] = args as [ProblemType, string, Partial<ProblemExtras<'chain-not-ready'>>?];
    super(detail);
    this.type = type;
    this.retryAfter = extras.retryAfter ?? null;
    this.fields = extras.fields ?? {};
    this.headers = extras.headers ?? {};
  }
}

/** The type, the detail, and what this type must have besides. */
type ProblemArguments = {
  [T in ProblemType]: Record<never, never> extends ProblemExtras<T>
    ? [type: T, detail: string, extras?: ProblemExtras<T>]
    : [type: T, detail: string, extras: ProblemExtras<T>];
}[ProblemType];

export const badRequest = (errors: readonly ParameterFault[]) =>
  new Problem('bad-request', errors.map(faultText).join('; '), { fields: { errors } });

const faultText = ({ parameter, detail }: ParameterFault) => `${parameter} ${detail}`;

/** Where each type is explained. */
export const problemUri = <T extends ProblemType>(type: T) => `/docs#problem-${type}` as const;

/** What a refused request was refused for, as a sentence. */
export async function problemText(response: Response, nameOf: (parameter: string) => string = (name) => name) {
  const body = (await response.json().catch(() => ({}))) as Partial<ProblemBody>;
  return describeProblem(body, nameOf) ?? `HTTP status ${response.status}`;
}

export function describeProblem<Body extends Partial<ProblemBody>>(
  { errors, detail }: Body,
  nameOf: (parameter: string) => string = (name) => name,
): string | Body['detail'] {
  if (errors === undefined) return detail as Body['detail'];
  return errors.map(({ parameter, detail }) => faultText({ parameter: nameOf(parameter), detail })).join('; ');
}

/** As it is sent. */
export function problemBody({ type, message, fields }: Problem) {
  const { status, title } = PROBLEMS[type];
  return { type: problemUri(type), title, status, detail: message, ...fields };
}
