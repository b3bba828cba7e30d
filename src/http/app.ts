// The API, apart from the process that listens: a request goes in, a response comes out.

import { StoreError } from '../store/errors.ts';
import { answerCheck } from './check.ts';
import { answerList } from './list.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { Problem, problemResponse } from './problem.ts';
import { targetOf } from './query.ts';
import { CORS, type Service } from './reply.ts';
import { answerHealth, answerNetworks, answerReady } from './status.ts';

export interface AppOptions extends Service {
  /** Told of failures that callers are not told of. */
  readonly onError?: (error: unknown) => void;
}

export interface App {
  fetch(request: Request): Promise<Response>;
}

const PREFLIGHT = {
  ...CORS,
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': 'X-API-KEY, If-None-Match, Content-Type',
  'access-control-max-age': '86400',
};
const METHODS = 'GET, HEAD, OPTIONS';
/** The longest address that any good request has is a fraction of this. */
const LONGEST_URL = 4096;

const CHECKS = new Map(OPERATIONS.filter((one) => one.kind === 'check').map((one) => [one.path, one]));
const LISTS = OPERATIONS.filter((one) => one.kind === 'list').map((one) => ({
  one,
  prefix: one.path.slice(0, -'{wallet}'.length),
}));

const PAGES = new Map<string, (service: Service) => Response | Promise<Response>>([
  ['/networks', answerNetworks],
  ['/health', answerHealth],
  ['/ready', answerReady],
]);

/** The name of a request's route, for metrics: never what the caller wrote. */
export function routeOf(url: string): string {
  const { path } = targetOf(url);
  return PAGES.has(path) ? path : (findOperation(path)?.operation.path ?? 'other');
}

export function createApp(options: AppOptions): App {
  return {
    async fetch(request) {
      try {
        return withoutBody(request, await route(request, options));
      } catch (error) {
        return withoutBody(request, problemResponse(asProblem(error, options), new Headers(CORS)));
      }
    },
  };
}

async function route(request: Request, options: AppOptions): Promise<Response> {
  if (request.url.length > LONGEST_URL) throw new Problem('uri-too-long', `More than ${LONGEST_URL} characters.`);
  const { path, query } = targetOf(request.url);
  const page = PAGES.get(path);
  const found = page ? null : findOperation(path);
  if (page === undefined && found === null) throw new Problem('not-found', 'See /docs for what there is.');
  if (request.method === 'OPTIONS')
    return new Response(null, { status: 204, headers: { ...PREFLIGHT, allow: METHODS } });
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Problem('method-not-allowed', `${request.method} is not among ${METHODS}.`, {
      headers: { allow: METHODS },
    });
  }
  if (page !== undefined) return page(options);
  const { operation, wallet } = found as Found;
  return operation.kind === 'check'
    ? answerCheck(operation, query, request, options)
    : answerList(operation, wallet, query, request, options);
}

interface Found {
  readonly operation: Operation;
  readonly wallet: string;
}

function findOperation(path: string): Found | null {
  const check = CHECKS.get(path);
  if (check !== undefined) return { operation: check, wallet: '' };
  for (const { one, prefix } of LISTS) {
    // A wallet that is none is a fault of the request, but not a path of its own.
    const wallet = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    if (wallet !== '' && !wallet.includes('/')) return { operation: one, wallet };
  }
  return null;
}

const withoutBody = (request: Request, response: Response): Response =>
  request.method === 'HEAD' && response.body !== null
    ? new Response(null, { status: response.status, headers: response.headers })
    : response;

/** The one place where an error becomes an answer. */
function asProblem(error: unknown, { onError }: AppOptions): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreError) {
    const retryAfter = 5;
    switch (error.code) {
      case 'not-started':
        return new Problem('chain-not-ready', error.message, { retryAfter });
      case 'before-first':
        return new Problem('not-indexed', error.message);
      case 'beyond-head':
        return new Problem('not-yet-indexed', error.message, { retryAfter });
      case 'rewritten':
        return new Problem('cursor-gone', `${error.message} Begin again without a cursor.`);
      case 'revocation-unread':
        return new Problem('revocation-unread', error.message, { retryAfter: 60 });
      default:
        break;
    }
  }
  onError?.(error);
  return new Problem('internal', 'The request was good; what failed is in the log of the service.');
}
