// Every way in which the API says no: one table, and one shape on the wire (RFC 9457).

export const PROBLEMS = {
  'bad-request': {
    status: 400,
    title: 'The request has faults',
    help: 'Each entry of `errors` names a parameter and what is wrong with it.',
  },
  'unknown-chain': {
    status: 400,
    title: 'This chain is not served',
    help: 'The chain is not followed here, or has no registry of this version. `chainIds` lists those that can be asked.',
  },
  'bad-key': {
    status: 401,
    title: 'This key opens nothing',
    help: 'The `X-API-KEY` is unknown, malformed, expired or revoked, or was given twice. Without one, requests are answered within the limit.',
  },
  'signed-out': { status: 401, title: 'Nobody is signed in', help: 'On `/developers`: sign in with a wallet first.' },
  'sign-in-refused': {
    status: 401,
    title: 'This is no good sign-in',
    help: 'On `/developers`: the message is for another service, too old, used before, or not signed by the wallet that it names.',
  },
  forbidden: {
    status: 403,
    title: 'Only this service’s own pages may do this',
    help: 'On `/developers`: the request came from another page, or not as JSON.',
  },
  'not-found': { status: 404, title: 'There is nothing at this path', help: 'The paths are those of this page.' },
  'not-indexed': {
    status: 404,
    title: 'That point in time was never indexed',
    help: 'The block or time lies before the first one that was read. It is unknown, not empty.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'This method is not understood here',
    help: 'The `Allow` header says the same.',
  },
  'too-many-keys': {
    status: 409,
    title: 'This wallet has as many keys as it may have',
    help: 'On `/developers`: revoke one that you no longer need.',
  },
  'cursor-gone': {
    status: 409,
    title: 'The history below this cursor has changed',
    help: 'The chain was reorganised, or a missed log was added. Begin the list again without a cursor.',
  },
  'uri-too-long': {
    status: 414,
    title: 'The address of the request is too long',
    help: 'No good request comes near the limit.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    help: 'Without a key, 25 requests are answered in any 10 seconds unless the operator chose otherwise. `Retry-After` says when one fits again.',
  },
  internal: { status: 500, title: 'The service failed', help: 'A fault of the service, which its log tells more of.' },
  'not-ready': {
    status: 503,
    title: 'The service cannot answer yet',
    help: 'No chain is up to date, or the store is away.',
  },
  'chain-not-ready': {
    status: 503,
    title: 'This chain is not indexed far enough',
    help: 'Its history is still being read. `Retry-After` says when to ask again.',
  },
  'chain-stale': {
    status: 503,
    title: 'This chain is not up to date',
    help: 'Its newest indexed block is too old to answer for now. Blocks up to the finalized one can still be asked with `block`.',
  },
  'clock-skew': {
    status: 503,
    title: "The service's clock is behind this chain",
    help: 'The newest indexed block lies more than a minute in the future by the clock of the machine that answers, so its age is unknown. Blocks up to the finalized one can still be asked with `block`.',
  },
  'chain-halted': {
    status: 503,
    title: 'This chain is halted',
    help: 'A finalized block changed, or the index was found wrong. `code` says which. The chain resumes by itself once that is settled.',
  },
  'not-yet-indexed': {
    status: 503,
    title: 'That point in time is not indexed yet',
    help: 'The block or time lies beyond the newest indexed block.',
  },
  'revocation-unread': {
    status: 503,
    title: 'A revocation of this wallet could not be read',
    help: 'The v1 registry does not say whom a revocation through a smart account ended, and no node could tell. Neither yes nor no would be certain.',
  },
} as const satisfies Record<string, { status: number; title: string; help: string }>;

export type ProblemType = keyof typeof PROBLEMS;

export interface ParameterFault {
  readonly parameter: string;
  readonly detail: string;
}

export interface ProblemExtras {
  readonly errors?: readonly ParameterFault[];
  /** Seconds after which asking again may help. */
  readonly retryAfter?: number;
  /** Further members of the body. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown anywhere on the way of a request, and turned into its answer in one place. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly type: ProblemType;
  readonly extras: ProblemExtras;

  constructor(type: ProblemType, detail: string, extras: ProblemExtras = {}) {
    super(detail);
    this.type = type;
    this.extras = extras;
  }
}

export const faults = (errors: readonly ParameterFault[]) =>
  new Problem('bad-request', errors.map(({ parameter, detail }) => `${parameter}: ${detail}`).join('; '), { errors });

/** Where each type is explained. */
export const problemUri = (type: ProblemType) => `/docs#problem-${type}`;

export function problemResponse({ type, message, extras }: Problem, headers: Headers): Response {
  const { status, title } = PROBLEMS[type];
  const { errors, retryAfter, members, headers: more = {} } = extras;
  const body = { type: problemUri(type), title, status, detail: message, ...(errors ? { errors } : {}), ...members };
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  headers.set('content-type', 'application/problem+json');
  headers.set('cache-control', 'no-store');
  if (retryAfter !== undefined) headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfter))));
  return new Response(JSON.stringify(body), { status, headers });
}

/** What a refusal says, in a sentence for people. */
export async function refusalText(response: Response): Promise<string> {
  const { detail, errors } = (await response.json().catch(() => ({}))) as {
    detail?: string;
    errors?: readonly ParameterFault[];
  };
  if (errors !== undefined) return errors.map((one) => `${one.parameter} ${one.detail}`).join('; ');
  return detail ?? `The service answered ${response.status}.`;
}
