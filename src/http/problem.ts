// Every way in which the API says no: one table, and one shape on the wire (RFC 9457).

export const PROBLEMS = {
  'bad-request': { status: 400, title: 'The request has faults' },
  'unknown-chain': { status: 400, title: 'This chain is not served' },
  'not-found': { status: 404, title: 'There is nothing at this path' },
  'not-indexed': { status: 404, title: 'That point in time was never indexed' },
  'method-not-allowed': { status: 405, title: 'Only GET, HEAD and OPTIONS are understood here' },
  'cursor-gone': { status: 409, title: 'The history below this cursor has changed' },
  'uri-too-long': { status: 414, title: 'The address of the request is too long' },
  internal: { status: 500, title: 'The service failed' },
  'not-ready': { status: 503, title: 'The service cannot answer yet' },
  'chain-not-ready': { status: 503, title: 'This chain is not indexed far enough' },
  'chain-stale': { status: 503, title: 'This chain is not up to date' },
  'not-yet-indexed': { status: 503, title: 'That point in time is not indexed yet' },
  'revocation-unread': { status: 503, title: 'A revocation of this wallet could not be read' },
} as const satisfies Record<string, { status: number; title: string }>;

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
