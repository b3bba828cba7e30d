// Sends a request, and retries it within its deadline as long as there is no answer.

import { UINT256_FIELDS } from './api.ts';
import { InvalidResponse, isProblem, ProblemError, problemError, Unreachable } from './errors.ts';
import { MAX_TIMER, sleep } from './sleep.ts';

/** What every call takes. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one request with all its retries. A single attempt may take a third of it. */
  readonly timeout?: number | undefined;
}

export interface RequestOptions {
  /** The base URL of the service. */
  readonly url: string;
  readonly key?: string | undefined;
  /** Milliseconds; 30,000 by default. */
  readonly timeout?: number | undefined;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch | undefined;
}

export type Params = Readonly<Record<string, unknown>>;

/** Takes the answer out of a body. If it throws, the body is not an answer. */
export type Read<T> = (body: unknown, headers: Headers) => T;

/** With `json` it is a POST. */
export type Send = <T>(path: string, params: Params, call: CallOptions, read: Read<T>, json?: unknown) => Promise<T>;

const DEFAULT_TIMEOUT = 30_000;
const MAX_BACKOFF = 5000;
/** Of proxies, too. All operations only read, so each may be repeated. */
const RETRIED_STATUSES = [408, 429, 502, 503, 504];

export function createSend(options: RequestOptions): Send {
  const { key, fetch: send = globalThis.fetch } = options;
  requireUrl(options.url);
  const base = options.url.replace(/\/+$/, '');
  const ownHeaders = { accept: 'application/json', ...(key ? { 'x-api-key': key } : {}) };
  // Throws here if no request can have this URL or key. A browser also takes the path of its own server.
  new Request(options.url, { headers: ownHeaders });

  return async (path, params, { signal, timeout = options.timeout ?? DEFAULT_TIMEOUT }, read, json) => {
    const deadline = performance.now() + timeout;
    const url = base + path + queryText(params);
    // A redirect could take the key to another server, and would turn a POST into a GET.
    const get: RequestInit = { headers: ownHeaders, redirect: 'manual' };
    const headers = { ...ownHeaders, 'content-type': 'application/json' };
    const init = json === undefined ? get : { ...get, method: 'POST', headers, body: JSON.stringify(json) };

    const share = timeout / 3;
    let error: Error | undefined;
    for (let tries = 0; ; tries++) {
      let pause: number | null = null;
      const left = deadline - performance.now();
      try {
        signal?.throwIfAborted();
        const { status, text, headers } = await attempt(send, url, init, Math.min(left, share), signal);
        const body = parse(text);
        if (status === 200 && body !== undefined) return readAnswer(read, body, text, headers);
        pause = retryAfter(headers);
        error = isProblem(body) ? problemError(body, pause) : unexpected(status, text);
        // JSON that does not parse was cut off. Anything else with 200 comes from another server.
        const isCut = status === 200 && headers.get('content-type')?.includes('json');
        if (!isCut && !RETRIED_STATUSES.includes(status)) throw error;
      } catch (cause) {
        signal?.throwIfAborted();
        if (cause instanceof ProblemError || cause instanceof InvalidResponse) throw cause;
        // What an attempt with its full time has met says more than a later one that the deadline cut short.
        if (left >= share || error === undefined)
          error = new Unreachable(`No response from ${base + path}: ${reasonOf(cause)}`, { cause });
      }
      const backoff = Math.min(MAX_BACKOFF, 200 * 2 ** tries) * (0.5 + Math.random() / 2);
      const wait = Math.max(backoff, (pause ?? 0) * 1000);
      if (performance.now() + wait >= deadline) throw error;
      await sleep(wait, signal);
    }
  };
}

/** `localhost:8080` is a URL too, of the scheme localhost. */
function requireUrl(url: unknown): void {
  const isGiven = typeof url === 'string' && url !== '';
  if (isGiven && (/^https?:\/\//i.test(url) || url.startsWith('/'))) return;
  const got = isGiven ? JSON.stringify(url) : String(url);
  throw new TypeError(`url must be the base URL of the service, such as http://localhost:8080, not ${got}`);
}

/** With what is behind it: the message of fetch alone is often "fetch failed". */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: unknown };
  const behind = !cause ? '' : ` (${(cause as Error).message || String(cause)})`;
  return `${message ?? error}${behind}`;
}

function readAnswer<T>(read: Read<T>, body: unknown, text: string, headers: Headers): T {
  try {
    return read(body, headers);
  } catch (cause) {
    throw unexpected(200, text, cause);
  }
}

/** A browser hides the status of a redirect. */
const isRedirect = (status: number) => status === 0 || (status >= 300 && status < 400);

const unexpected = (status: number, text: string, cause?: unknown) =>
  new InvalidResponse(
    status,
    isRedirect(status)
      ? 'The URL redirects: use the one that it leads to'
      : `HTTP ${status} is not an answer of the API: ${text.slice(0, 100)}`,
    { cause },
  );

/** The time covers the body too. */
async function attempt(send: typeof fetch, url: string, init: RequestInit, ms: number, signal?: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const late = () => controller.abort(new Error(`timeout after ${Math.ceil(ms)} ms`));
  const timer = setTimeout(late, Math.min(ms, MAX_TIMER));
  signal?.addEventListener('abort', abort);
  try {
    const response = await send(url, { ...init, signal: controller.signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

const isDigits = (value: unknown): value is string => typeof value === 'string' && /^\d+$/.test(value);

/** Numbers that may exceed 2^53 come as text, and become bigint. Undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    // The name of the whole body is empty.
    const isUint256 = (name: string) => name === '' || UINT256_FIELDS.includes(name);
    return JSON.parse(text, (name, value) => (isUint256(name) && isDigits(value) ? BigInt(value) : value));
  } catch {
    return undefined;
  }
}

/** Seconds, from a number or a date. */
function retryAfter(headers: Headers): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  const seconds = isDigits(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

function queryText(params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    if (name === 'tokenId') requireBigint(value);
    query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** A number may have lost its last digits already. */
export function requireBigint(tokenId: unknown): void {
  if (typeof tokenId !== 'bigint') throw new TypeError(`tokenId must be a bigint, not ${typeof tokenId}`);
}
