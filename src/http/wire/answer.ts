// An answer before it is a Response, with its headers: headers that are added to it cost nothing.

import { BLOCK_HEADERS, type HeaderName } from '../../api/headers.ts';
import type { Budget } from '../../api/operation.ts';
import { isIgnored } from '../../api/query.ts';
import { textResponse } from '../../api/sized-response.ts';
import { NETWORKS } from '../../registry/network.ts';
import type { AnswerBlock, ChainState } from '../../store/store.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** The Response, with more headers. */
export function toResponse(answer: Answer | Response, more: Readonly<Record<string, string>>): Response {
  if (answer instanceof Response) {
    for (const name in more) answer.headers.set(name, more[name] ?? '');
    return answer;
  }
  const { status, headers, body } = answer;
  for (const name in more) headers[name] = more[name] ?? '';
  return body === null ? new Response(null, { status, headers }) : textResponse(body, { status, headers });
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
}

/** The headers of an answer that is true as of a block. */
export function blockHeaders(chain: ChainState, block: AnswerBlock, now: number, answered: AnsweredRequest) {
  const { request, budget, timestamp } = answered;
  const headers = answerHeaders(request, budget, cacheTime(chain, now));
  headers['x-block-number'] = String(block.number);
  if (block.hash !== null) headers['x-block-hash'] = block.hash;
  if (block.timestamp !== null) headers['x-block-timestamp'] = String(block.timestamp);
  if (chain.partial) headers['x-indexed-from'] = String(chain.firstBlock);
  if (timestamp !== undefined) headers['x-as-of-timestamp'] = String(timestamp);
  return headers;
}

/** The headers of an answer about several chains. */
export const manyChainsHeaders = (request: Request, budget: Budget) => answerHeaders(request, budget, 'no-cache');

function answerHeaders(request: Request, budget: Budget, cache: string): Record<string, string> {
  const takesKey = budget === 'keyed';
  // A shared cache would also answer callers whose key is not active.
  const scope = takesKey && apiKeyOf(request) !== null ? 'private' : 'public';
  const headers: Record<string, string> = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': `${scope}, ${cache}` };
  if (takesKey) headers['vary'] = 'X-API-KEY';
  return headers;
}

/** Links the same query with another cursor, relative to the request's URL: a proxy may serve the API under any path. */
export function setNext(headers: Record<string, string>, query: string, cursor: string): void {
  const next = new URLSearchParams(query);
  for (const name of [...next.keys()]) if (isIgnored(name)) next.delete(name);
  next.set('cursor', cursor);
  headers['link'] = `<?${next}>; rel="next"`;
}

/** Caches may keep an answer until the chain's next block is due. */
function cacheTime({ head, chainId }: ChainState, now: number): string {
  const blockSeconds = NETWORKS.get(chainId)?.blockSeconds ?? 0;
  const due = (head?.timestamp ?? 0) + blockSeconds - now;
  // If our clock is behind, the head is in the future: that must not extend the caching.
  const seconds = Math.floor(Math.min(due, blockSeconds));
  return seconds > 0 ? `max-age=${seconds}` : 'no-cache';
}

/** The 304 instead of an answer with these headers. It has no body, so it has no Content-Type: clients would parse it. */
export const notModified = ({ 'content-type': _, ...headers }: Readonly<Record<string, string>>): Answer => ({
  status: 304,
  headers,
  body: null,
});

const hashOf = (body: string) => `"${Bun.hash.wyhash(body).toString(36)}"`;
/** Of nearly all checks. */
const HASHES = new Map(['true', 'false'].map((body) => [body, hashOf(body)]));

/** The answer with the hash of its body as its tag; a 304 if the caller has it. */
export function tagged(request: Request, headers: Record<string, string>, body: string): Answer {
  // A map would hash a long body once more.
  const etag = (body.length <= 5 && HASHES.get(body)) || hashOf(body);
  headers['etag'] = etag;
  return matchesETag(request, etag) ? notModified(headers) : { status: 200, headers, body };
}

/** Whether the request's If-None-Match names this tag. */
export function matchesETag(request: Request, etag: string): boolean {
  const given = request.headers.get('if-none-match');
  if (given === null) return false;
  return given.trim() === '*' || given.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
