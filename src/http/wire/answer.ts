// An answer before it is a Response, and its headers. Those of answers at the head are prepared: they differ in little else than the tag.

import { BLOCK_HEADERS, type HeaderName } from '../../api/headers.ts';
import type { Budget } from '../../api/operation.ts';
import { isIgnored } from '../../api/query.ts';
import { textResponse } from '../../api/sized-response.ts';
import { NETWORKS } from '../../registry/network.ts';
import type { AnswerBlock, ChainState } from '../../store/store.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** Browsers must not guess the type of an answer. */
const NO_GUESSING = ['x-content-type-options', 'nosniff'] as const;

/** The Response, with more headers. */
export function toResponse(answer: Answer | Response, more: Readonly<Record<string, string>>): Response {
  for (const name in more) answer.headers.set(name, more[name] ?? '');
  if (answer instanceof Response) {
    answer.headers.set(...NO_GUESSING);
    return answer;
  }
  const { body } = answer;
  return body === null ? new Response(null, answer) : textResponse(body, answer);
}

export const JSON_TYPE = 'application/json; charset=utf-8';

const EXPOSED = [
  ...BLOCK_HEADERS,
  'Link',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'X-Sandbox',
] as const satisfies readonly HeaderName[];

export const CORS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED.join(', ') };

/** Null without a key. An empty header counts as none: some clients always send it. */
export const apiKeyOf = ({ headers }: Request): string | null => headers.get('x-api-key') || null;

/** The request that is answered: its operation's budget, and the requested `timestamp`. */
interface AnsweredRequest {
  readonly request: Request;
  readonly budget: Budget;
  readonly timestamp: number | undefined;
  /** When the answer can become another without a log. */
  readonly nextChange?: number | null;
}

/** By the state of the chain, which every commit replaces, and by what else is in them. */
const preparedHeaders = new WeakMap<ChainState, Map<string, Headers>>();

/** The headers of an answer that is true as of a block. */
export function blockHeaders(chain: ChainState, block: AnswerBlock, now: number, answered: AnsweredRequest): Headers {
  const { request, budget, timestamp, nextChange = null } = answered;
  const cache = cacheControl(request, budget, cacheTime(chain, now, nextChange));
  const make = () => {
    const headers = answerHeaders(budget, cache);
    headers.set('x-block-number', String(block.number));
    if (block.hash !== null) headers.set('x-block-hash', block.hash);
    if (block.timestamp !== null) headers.set('x-block-timestamp', String(block.timestamp));
    if (chain.partial) headers.set('x-indexed-from', String(chain.firstBlock));
    if (timestamp !== undefined) headers.set('x-as-of-timestamp', String(timestamp));
    return headers;
  };
  if (block !== chain.head || timestamp !== undefined) return make();
  const prepared = preparedHeaders.getOrInsertComputed(chain, () => new Map());
  return new Headers(prepared.getOrInsertComputed(budget + cache, make));
}

/** The headers of an answer about several chains. */
export const manyChainsHeaders = (request: Request, budget: Budget): Headers =>
  answerHeaders(budget, cacheControl(request, budget, 'no-cache'));

/** A shared cache would also answer callers whose key is not active. */
const cacheControl = (request: Request, budget: Budget, time: string) =>
  `${budget === 'keyed' && apiKeyOf(request) !== null ? 'private' : 'public'}, ${time}`;

function answerHeaders(budget: Budget, cache: string): Headers {
  const headers = new Headers({ ...CORS, 'content-type': JSON_TYPE, 'cache-control': cache });
  headers.set(...NO_GUESSING);
  if (budget === 'keyed') headers.set('vary', 'X-API-KEY');
  return headers;
}

/** Links the same query with another cursor, relative to the request's URL: a proxy may serve the API under any path. */
export function setNext(headers: Headers, query: string, cursor: string): void {
  const next = new URLSearchParams(query);
  for (const name of [...next.keys()]) if (isIgnored(name)) next.delete(name);
  next.set('cursor', cursor);
  headers.set('link', `<?${next}>; rel="next"`);
}

/** Caches may keep an answer until the chain's next block is due, or it can change with time. */
function cacheTime({ head, chainId }: ChainState, now: number, nextChange: number | null): string {
  const blockSeconds = NETWORKS.get(chainId)?.blockSeconds ?? 0;
  const due = (head?.timestamp ?? 0) + blockSeconds - now;
  // If our clock is behind, the head is in the future: that must not extend the caching.
  const seconds = Math.floor(Math.min(due, blockSeconds, (nextChange ?? Number.POSITIVE_INFINITY) - now));
  return seconds > 0 ? `max-age=${seconds}` : 'no-cache';
}

/** The 304 instead of an answer with these headers. It has no body, so it has no Content-Type: clients would parse it. */
export function notModified(headers: Headers): Answer {
  headers.delete('content-type');
  return { status: 304, headers, body: null };
}

const hashOf = (body: string) => `"${Bun.hash.wyhash(body).toString(36)}"`;
/** Of nearly all checks. */
const HASHES = new Map(['true', 'false'].map((body) => [body, hashOf(body)]));

/** The answer with the hash of its body as its tag; a 304 if the caller has it. */
export function tagged(request: Request, headers: Headers, body: string): Answer {
  // A map would hash a long body once more.
  const etag = (body.length <= 5 && HASHES.get(body)) || hashOf(body);
  headers.set('etag', etag);
  return matchesETag(request, etag) ? notModified(headers) : { status: 200, headers, body };
}

/** Whether the request's If-None-Match names this tag. */
export function matchesETag(request: Request, etag: string): boolean {
  const given = request.headers.get('if-none-match');
  if (given === null) return false;
  return given.trim() === '*' || given.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
