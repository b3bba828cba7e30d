// A JSON-RPC client over HTTP with a timeout for the whole response and a limit on its size. Errors never contain the URL,
// which is a secret.

import { createRedactor, type Redact } from './redact.ts';

/** `refused`: the node returned an error. `unreachable`: no response in time. `malformed`: not a valid response. */
export type RpcFault = 'refused' | 'unreachable' | 'malformed';

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly fault: RpcFault;
  /** The JSON-RPC error code or the HTTP status, if there is one. */
  readonly code: number | null;

  constructor(fault: RpcFault, message: string, code: number | null = null) {
    super(message);
    this.fault = fault;
    this.code = code;
  }
}

export interface RpcOptions {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Called with the method of every call. */
  readonly onCall?: (method: string) => void;
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
const MAX_BATCH = 50;
/** After this many rejected batches in a row, calls are sent one by one. */
const MAX_REJECTED_BATCHES = 3;

export function createRpc(url: string, { timeoutMs, maxBytes, onCall }: RpcOptions = RPC_DEFAULTS): Rpc {
  let id = 0;
  let rejectedBatches = 0;
  const redact = createRedactor([url]);
  const toRequest = ({ method, params }: RpcCall) => {
    onCall?.(method);
    return { jsonrpc: '2.0', id: ++id, method, params };
  };

  async function post(body: unknown): Promise<unknown> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      });
      const json = parseJson(await readBody(response, maxBytes));
      // Some providers send a JSON-RPC error with an HTTP error status. It says more than the status.
      if (!response.ok && !isJsonRpc(json)) throw new RpcError('refused', `HTTP ${response.status}`, response.status);
      if (json === undefined) throw new RpcError('malformed', 'The response is not JSON');
      return json;
    } catch (error) {
      if (error instanceof RpcError) throw error;
      const isTimeout = error instanceof Error && error.name === 'TimeoutError';
      throw new RpcError('unreachable', isTimeout ? `No complete response within ${timeoutMs} ms` : 'No response');
    }
  }

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const request = toRequest({ method, params });
    return readResult(await post(request), request.id, method, redact);
  }

  async function callOneByOne(calls: readonly RpcCall[]): Promise<unknown[]> {
    const results: unknown[] = [];
    for (const { method, params } of calls) results.push(await call(method, params));
    return results;
  }

  async function postBatch(calls: readonly RpcCall[]): Promise<unknown[]> {
    const requests = calls.map(toRequest);
    const response = await post(requests);
    if (!Array.isArray(response)) {
      // The provider does not support batches, or has a temporary failure. Single calls show which.
      const results = await callOneByOne(calls);
      rejectedBatches++;
      return results;
    }
    rejectedBatches = 0;
    const byId = new Map(response.map((one) => [(one as { id?: unknown } | null)?.id, one]));
    return requests.map((request) => readResult(byId.get(request.id), request.id, request.method, redact));
  }

  return {
    call,
    async batch(calls) {
      if (calls.length <= 1 || rejectedBatches >= MAX_REJECTED_BATCHES) return callOneByOne(calls);
      const results: unknown[] = [];
      for (let from = 0; from < calls.length; from += MAX_BATCH) {
        results.push(...(await postBatch(calls.slice(from, from + MAX_BATCH))));
      }
      return results;
    },
  };
}

async function readBody(response: Response, maxBytes: number): Promise<string> {
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isJsonRpc = (json: unknown) => Array.isArray(json) || (json as { jsonrpc?: unknown } | null)?.jsonrpc === '2.0';

function readResult(response: unknown, id: number, method: string, redact: Redact): unknown {
  if (typeof response !== 'object' || response === null)
    throw new RpcError('malformed', `${method}: no response object`);
  const { error, result, id: responseId } = response as { error?: unknown; result?: unknown; id?: unknown };
  if (error !== undefined && error !== null) throw toError(method, error, redact);
  if (responseId !== id) throw new RpcError('malformed', `${method}: the response has another id`);
  if (result === undefined) throw new RpcError('malformed', `${method}: neither result nor error`);
  return result;
}

/** The node's message, shortened and without URLs: some nodes repeat the request's URL, or its key. */
function toError(method: string, error: unknown, redact: Redact): RpcError {
  const { code, message } = (typeof error === 'object' ? error : {}) as { code?: unknown; message?: unknown };
  const whole = typeof message === 'string' ? message : 'an error without a message';
  const text = redact(whole.replace(/\w+:\/\/\S+/g, '…')).slice(0, 200);
  return new RpcError('refused', `${method}: ${text}`, typeof code === 'number' ? code : null);
}
