// Sends a delivery with one POST request over a connection of its own, and reads the answer's status. Proxy variables, redirects and
// cookies have no effect, because there is no HTTP library that knows them. The answer's body is read only to find a challenge in it.

import type { Socket } from 'node:net';
import { Fault } from '../api/params.ts';
import { type ConnectOptions, connectTo, SendError, type SendFailure } from './connect.ts';
import { readTarget, type TargetRules } from './target.ts';

export type SendOutcome =
  | { readonly type: 'delivered'; readonly status: number; readonly ms: number }
  | { readonly type: 'failed'; readonly reason: SendFailure; readonly status: number | null; readonly ms: number };

export interface SendRules {
  /** Aborts the delivery, which fails as a timeout. */
  readonly signal?: AbortSignal;
  /** What the answer's body must begin with. */
  readonly challenge?: string | undefined;
}

type HeaderFields = Readonly<Record<string, string>>;
export type Send = (url: string, headers: HeaderFields, body: string, rules?: SendRules) => Promise<SendOutcome>;

export interface SendOptions extends ConnectOptions {
  /** For all of it: look-up, connection, request and answer. */
  readonly timeoutMs?: number;
}

export const TIMEOUT_MS = 15_000;
/** Of the answer, with interim answers. */
const MAX_HEADER_BYTES = 16_384;

export function createSender(rules: TargetRules, options: SendOptions = {}): Send {
  const { timeoutMs = TIMEOUT_MS } = options;
  return async (url, headers, body, { signal, challenge } = {}) => {
    const started = performance.now();
    const ms = () => Math.round(performance.now() - started);
    const stopping = new AbortController();
    const stop = () => stopping.abort(new SendError('timeout'));
    const timer = setTimeout(stop, timeoutMs);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    try {
      const { status, isEchoed } = await raceAbort(stopping.signal, async () => {
        // The rules may have changed since the webhook was created.
        const target = readTarget(url, rules);
        if (target instanceof Fault) throw new SendError('address-refused');
        const socket = await connectTo(target, rules, options, started + timeoutMs, stopping.signal);
        return exchange(socket, requestOf(target, headers, body), stopping.signal, challenge);
      });
      if (isSuccess(status) && isEchoed) return { type: 'delivered', status, ms: ms() };
      return { type: 'failed', reason: reasonOf(status), status, ms: ms() };
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      return { type: 'failed', reason: error.reason, status: null, ms: ms() };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  };
}

const isSuccess = (status: number) => status >= 200 && status < 300;

function reasonOf(status: number): SendFailure {
  if (isSuccess(status)) return 'challenge';
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}

/** Also ends the wait for a look-up, which cannot be cancelled. */
function raceAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason));
  if (signal.aborted) reject(signal.reason);
  return Promise.race([promise, work()]);
}

const HEADER_NAME = /^[a-z0-9-]+$/;
const HEADER_VALUE = /^[ -~]*$/;

function requestOf({ host, pathname, search }: URL, headers: HeaderFields, body: string): Buffer {
  const bytes = Buffer.from(body);
  const all = {
    host,
    'user-agent': 'delegations-webhooks',
    connection: 'close',
    'content-length': String(bytes.length),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) throw new Error(`Invalid header: ${name}`);
    return `${name}: ${value}\r\n`;
  });
  return Buffer.concat([Buffer.from(`POST ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes]);
}

/** Returns the status of the answer once its headers are complete, or it has the challenge, and closes the connection. */
function exchange(socket: Socket, request: Buffer, stop: AbortSignal, challenge?: string) {
  /** `isEchoed` is also true if there was no challenge. */
  return new Promise<{ readonly status: number; readonly isEchoed: boolean }>((done, fail) => {
    let text = '';
    let status: number | null = null;
    const end = () => (status === null ? fail(new SendError('protocol')) : done({ status, isEchoed: false }));
    stop.addEventListener('abort', () => fail(stop.reason));
    if (stop.aborted) fail(stop.reason);
    for (const event of ['error', 'end', 'close']) socket.on(event, end);
    socket.on('data', (bytes: Buffer) => {
      text = (text + bytes.toString('latin1')).slice(0, MAX_HEADER_BYTES);
      const answer = readAnswer(text);
      const isFull = text.length >= MAX_HEADER_BYTES;
      if (answer === null) return isFull ? end() : undefined;
      if (!(answer.status >= 200)) return end();
      ({ status } = answer);
      const isEchoed = challenge === undefined || !isSuccess(status) || findEcho(answer, challenge);
      if (isEchoed === null && !isFull) return;
      done({ status, isEchoed: isEchoed === true });
    });
    socket.write(request);
  }).finally(() => socket.destroy());
}

interface ReadAnswer {
  /** NaN if it is not HTTP/1. */
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/;

/** Null until the headers are complete. Skips interim answers (1xx): a 101 is not asked for. */
function readAnswer(text: string): ReadAnswer | null {
  if (text.slice(0, 7) !== 'HTTP/1.'.slice(0, text.length)) return { status: Number.NaN, headers: '', body: '' };
  const end = text.indexOf('\r\n\r\n') + 4;
  if (end < 4) return null;
  const status = Number(STATUS_LINE.exec(text)?.[1]);
  if (status >= 100 && status < 200) return readAnswer(text.slice(end));
  return { status, headers: text.slice(0, end), body: text.slice(end) };
}

const CHUNK_SIZE = /^[\da-f]{1,8}\r\n/i;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
/** Longer than the size of a chunk. */
const SPARE = 20;

/** Null until the body is long enough to tell. */
function findEcho({ status, headers, body }: ReadAnswer, challenge: string): boolean | null {
  if (body.replace(CHUNK_SIZE, '').startsWith(challenge)) return true;
  const length = status === 204 ? 0 : Number(LENGTH.exec(headers)?.[1] ?? Number.POSITIVE_INFINITY);
  return body.length >= Math.min(length, challenge.length + SPARE) ? false : null;
}
