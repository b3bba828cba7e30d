// A JSON-RPC client over HTTP with a timeout for the whole response and a limit on its size. Errors never contain the URL,
// which is a secret.

/** `refused`: the node returned an error. `unreachable`: no response in time. `malformed`: not a valid response. */
export type RpcFault = 'refused' | 'unreachable' | 'malformed';

/** Why there was no complete response. `http-3xx`: a redirect, which is not followed. */
export type ConnectionFault = 'dns' | 'tls' | 'connection-refused' | 'connection-lost' | 'timeout' | 'http-3xx';

type RpcErrorDetails = Partial<Pick<RpcError, 'connection' | 'httpStatus' | 'rpcCode' | 'retryAfterMs'>>;

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly fault: RpcFault;
  readonly connection: ConnectionFault | null = null;
  /** Set if it is not a success. */
  readonly httpStatus: number | null = null;
  readonly rpcCode: number | null = null;
  /** From the `Retry-After` header. */
  readonly retryAfterMs: number | null = null;

  constructor(fault: RpcFault, message: string, details: RpcErrorDetails = {}) {
    super(message);
    this.fault = fault;
    Object.assign(this, details);
  }

  /** The JSON-RPC error code or the HTTP status, if there is one. */
  get code(): number | null {
    return this.rpcCode ?? this.httpStatus;
  }
}

/** For what a node need not support or have: null if it refused the call. */
export function nullIfRefused(error: unknown): null {
  if (error instanceof RpcError && error.fault === 'refused') return null;
  throw error;
}

export interface RpcListener {
  /** Called with the method and the error, if any, of every call. */
  onCall(method: string, error: RpcError | null): void;
  /** Called after every HTTP request, which can be a batch of calls. */
  onRequest(seconds: number): void;
}

export interface RpcOptions {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly listener?: RpcListener;
}

export const RPC_DEFAULTS: RpcOptions = { timeoutMs: 20_000, maxBytes: 64 * 1024 * 1024 };

export interface Rpc {
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Returns the results in the order of the calls. Throws if one of them fails. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>;
}

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Many providers reject larger batches. */
export const MAX_BATCH = 50;
/** After this many rejected batches in a row, calls are sent one by one. */
const MAX_REJECTED_BATCHES = 3;

export function createRpc(url: string, { timeoutMs, maxBytes, listener }: RpcOptions = RPC_DEFAULTS): Rpc {
  let id = 0;
  let rejectedBatches = 0;
  const redact = createRedactor([url]);
  const toRequest = ({ method, params }: RpcCall) => ({ jsonrpc: '2.0', id: ++id, method, params });

  /** `httpStatus` is null for a success. */
  async function post(requests: readonly RpcRequest[], body: unknown) {
    const began = performance.now();
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
      const text = await readBody(response, maxBytes);
      const json = parseJson(text);
      const httpStatus = response.ok ? null : response.status;
      // Some providers send a JSON-RPC error with an HTTP error status. Both are kept.
      if (httpStatus !== null && !isJsonRpc(json)) {
        const message = toMessage(findMessage(json) ?? text, redact);
        const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
        const details = { httpStatus, retryAfterMs };
        throw new RpcError('refused', `HTTP ${httpStatus}${message === '' ? '' : `: ${message}`}`, details);
      }
      if (json === undefined) throw new RpcError('malformed', 'The response is not JSON');
      return { json, httpStatus };
    } catch (error) {
      const failure = error instanceof RpcError ? error : toConnectionError(error, timeoutMs);
      for (const { method } of requests) listener?.onCall(method, failure);
      throw failure;
    } finally {
      listener?.onRequest((performance.now() - began) / 1000);
    }
  }

  function read(response: unknown, httpStatus: number | null, request: RpcRequest): unknown {
    try {
      const result = readResult(response, httpStatus, request, redact);
      listener?.onCall(request.method, null);
      return result;
    } catch (error) {
      listener?.onCall(request.method, error as RpcError);
      throw error;
    }
  }

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const request = toRequest({ method, params });
    const { json, httpStatus } = await post([request], request);
    return read(json, httpStatus, request);
  }

  const callOneByOne = (calls: readonly RpcCall[]): Promise<unknown[]> =>
    Array.fromAsync(calls, ({ method, params }) => call(method, params));

  async function postBatch(calls: readonly RpcCall[]): Promise<unknown[]> {
    const requests = calls.map(toRequest);
    const { json, httpStatus } = await post(requests, requests);
    if (!Array.isArray(json)) {
      // The provider does not support batches, or has a temporary failure. Single calls show which.
      const results = await callOneByOne(calls);
      rejectedBatches++;
      return results;
    }
    rejectedBatches = 0;
    const byId = new Map(json.map((one) => [(one as { id?: unknown } | null)?.id, one]));
    // All are read before one is thrown, so that each is counted.
    return Promise.all(requests.map(async (request) => read(byId.get(request.id), httpStatus, request)));
  }

  return {
    call,
    async batch(calls) {
      if (calls.length <= 1 || rejectedBatches >= MAX_REJECTED_BATCHES) return callOneByOne(calls);
      return (await Array.fromAsync(chunksOf(calls, MAX_BATCH), postBatch)).flat();
    },
  };
}

/** The items in order, so many at once. */
export const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

/** Reads no more than that. */
export async function readBody(response: Response, maxBytes: number): Promise<string> {
  // A stated length of an unencoded body cannot be exceeded.
  const { headers } = response;
  if (Number(headers.get('content-length') ?? Number.NaN) <= maxBytes && !headers.has('content-encoding'))
    return response.text();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RpcError('malformed', `The response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The header is a number of seconds or a date. */
function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\d{1,9}$/.test(value) ? 1000 * Number(value) : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type RpcRequest = { readonly id: number; readonly method: string };

const isJsonRpc = (json: unknown) => Array.isArray(json) || (json as { jsonrpc?: unknown } | null)?.jsonrpc === '2.0';

function readResult(response: unknown, httpStatus: number | null, { id, method }: RpcRequest, redact: Redact): unknown {
  if (typeof response !== 'object' || response === null)
    throw new RpcError('malformed', `${method}: no response object`);
  const { error, result, id: responseId } = response as { error?: unknown; result?: unknown; id?: unknown };
  if (error !== undefined && error !== null) {
    const code = (error as { code?: unknown }).code;
    const message = toMessage(findMessage(response) ?? 'an error without a message', redact);
    const rpcCode = typeof code === 'number' ? code : null;
    throw new RpcError('refused', `${method}: ${message}`, { httpStatus, rpcCode });
  }
  if (responseId !== id) throw new RpcError('malformed', `${method}: the response has another id`);
  if (result === undefined) throw new RpcError('malformed', `${method}: neither result nor error`);
  return result;
}

/** The message of an error body: `{ error: { message } }`, `{ error }` or `{ message }`. */
function findMessage(json: unknown): string | null {
  if (typeof json !== 'object' || json === null) return null;
  const { error, message } = json as { error?: unknown; message?: unknown };
  const found = (error as { message?: unknown } | null | undefined)?.message ?? error ?? message;
  return typeof found === 'string' ? found : null;
}

const MAX_MESSAGE = 200;

/** A longer text is cut before it is redacted. */
const MAX_TEXT = 100_000;

/**
 * The node's message, on one line and shortened: some nodes repeat the request's URL, or keys. An HTML page is left out. Redacted
 * before it is shortened, so that no part of a key remains. Anyone can write a long revert reason: each expression is linear.
 */
function toMessage(text: string, redact: Redact): string {
  if (/^\s*</.test(text)) return '';
  return redact(text.slice(0, MAX_TEXT).replace(/\w{1,20}:\/\/\S+/g, '…'))
    .replace(/[\w-]{32,}/g, (word) => (/^0x[0-9a-f]*$/i.test(word) || !/\d/.test(word) ? word : '…'))
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE);
}

const CONNECTION_CODES: readonly (readonly [RegExp, ConnectionFault, string])[] = [
  [/^(ENOTFOUND|EAI_|EDNS|DNS)/i, 'dns', 'DNS lookup failed'],
  [
    /^(ECONNREFUSED|ConnectionRefused|FailedToOpenSocket|EHOSTUNREACH|ENETUNREACH)$/,
    'connection-refused',
    'Cannot connect',
  ],
  [/^(EPROTO|ERR_TLS|ERR_SSL|CERT_|CRL_|UNABLE_TO_)|CERT|SIGNATURE|HOSTNAME|ISSUER/, 'tls', 'TLS failed'],
  [/^UnexpectedRedirect$/, 'http-3xx', 'The provider redirects to another URL: configure that one'],
  [/^ETIMEDOUT$/, 'timeout', 'Connection timed out'],
];

/** The runtime's own message contains the URL, so only its code is used. */
function toConnectionError(error: unknown, timeoutMs: number): RpcError {
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError')
    return new RpcError('unreachable', `No complete response within ${timeoutMs} ms`, { connection: 'timeout' });
  const text = typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : '';
  const [, connection, message] = CONNECTION_CODES.find(([pattern]) => pattern.test(text)) ?? [
    null,
    'connection-lost' as const,
    'Connection closed before the response was complete',
  ];
  return new RpcError('unreachable', text === '' ? message : `${message} (${text})`, { connection });
}

type Redact = (text: string) => string;

/** Removes the parts of provider URLs from texts: a URL can contain a key. */
export function createRedactor(urls: readonly string[]): Redact {
  const parts = urls.flatMap((text) => {
    const url = new URL(text);
    const values = [...url.searchParams.values(), ...url.pathname.split('/'), url.username, url.password];
    return [text, url.host, url.hostname, ...values, ...values.map(decodePercent)];
  });
  // Longest first, because one can contain another.
  const secrets = [...new Set(parts)].filter((part) => part.length >= 4).sort((a, b) => b.length - a.length);
  // In any letter case: libraries change that of hosts.
  const anyCase = secrets.map((secret) => new RegExp(RegExp.escape(secret), 'gi'));
  return (text) => anyCase.reduce((left, secret) => left.replaceAll(secret, '…'), text);
}

/** The text itself if it is not encoded so. */
export function decodePercent(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
