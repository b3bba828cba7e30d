// JSON-RPC over HTTP, with a deadline over the whole answer and a cap on its size. Errors never carry the URL: it is a
// secret of the operator's.

/** Why a call gave nothing: the node said no, or what came was no answer. */
export type RpcFault = 'refused' | 'unreachable' | 'malformed';

export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly fault: RpcFault;
  /** Of JSON-RPC or HTTP, where there was one. */
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
  /** Told of every call by its method. */
  readonly onCall?: (method: string) => void;
}

export const RPC_DEFAULTS: RpcOptions = { timeoutMs: 20_000, maxBytes: 64 * 1024 * 1024 };

export interface Rpc {
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** The answers in the order of the calls; one that failed fails all. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>;
}

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** More in one request is refused by many. */
const MOST_IN_BATCH = 50;
/** After so many in a row that were refused, none are sent any more. */
const BATCHES_REFUSED = 3;

export function createRpc(url: string, { timeoutMs, maxBytes, onCall }: RpcOptions = RPC_DEFAULTS): Rpc {
  let id = 0;
  /** Some providers take no batches, and say so in many ways; others just have a bad moment. */
  let refusedBatches = 0;
  const redact = createRedactor([url]);
  const bodyOf = ({ method, params }: RpcCall) => {
    onCall?.(method);
    return { jsonrpc: '2.0', id: ++id, method, params };
  };

  async function post(body: unknown): Promise<unknown> {
    let response: Response;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal,
        redirect: 'error',
      });
      const text = await readWhole(response, maxBytes);
      const answer = parse(text);
      // Some send their errors with a status, and some of those with a body that says more.
      if (!response.ok && !isAnswer(answer)) throw new RpcError('refused', `HTTP ${response.status}`, response.status);
      if (answer === undefined) throw new RpcError('malformed', 'The answer is no JSON');
      return answer;
    } catch (error) {
      if (error instanceof RpcError) throw error;
      const late = error instanceof Error && error.name === 'TimeoutError';
      throw new RpcError('unreachable', late ? `No whole answer within ${timeoutMs} ms` : 'No answer');
    }
  }

  async function call(method: string, params: readonly unknown[]): Promise<unknown> {
    const body = bodyOf({ method, params });
    return resultOf(await post(body), body.id, method, redact);
  }

  async function together(calls: readonly RpcCall[]): Promise<unknown[]> {
    const bodies = calls.map(bodyOf);
    const answer = await post(bodies);
    if (!Array.isArray(answer)) {
      // No batches here, or just not now: one by one tells.
      const results = await oneByOne(calls);
      refusedBatches++;
      return results;
    }
    refusedBatches = 0;
    const byId = new Map(answer.map((one) => [(one as { id?: unknown } | null)?.id, one]));
    return bodies.map((body) => resultOf(byId.get(body.id), body.id, body.method, redact));
  }

  const oneByOne = async (calls: readonly RpcCall[]) => {
    const results: unknown[] = [];
    for (const { method, params } of calls) results.push(await call(method, params));
    return results;
  };

  return {
    call,
    async batch(calls) {
      if (calls.length <= 1 || refusedBatches >= BATCHES_REFUSED) return oneByOne(calls);
      const results: unknown[] = [];
      for (let from = 0; from < calls.length; from += MOST_IN_BATCH) {
        results.push(...(await together(calls.slice(from, from + MOST_IN_BATCH))));
      }
      return results;
    },
  };
}

async function readWhole(response: Response, maxBytes: number): Promise<string> {
  // Where the size is told and nothing is to be unpacked, no more than that can come.
  const { headers } = response;
  if (Number(headers.get('content-length') ?? Number.NaN) <= maxBytes && !headers.has('content-encoding'))
    return response.text();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RpcError('malformed', `The answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isAnswer = (answer: unknown) =>
  Array.isArray(answer) || (answer as { jsonrpc?: unknown } | null)?.jsonrpc === '2.0';

function resultOf(answer: unknown, id: number, method: string, redact: Redact): unknown {
  if (typeof answer !== 'object' || answer === null) throw new RpcError('malformed', `${method}: no answer in it`);
  const { error, result, id: answered } = answer as { error?: unknown; result?: unknown; id?: unknown };
  if (error !== undefined && error !== null) throw refusal(method, error, redact);
  if (answered !== id) throw new RpcError('malformed', `${method}: the answer to another call`);
  if (result === undefined) throw new RpcError('malformed', `${method}: neither result nor error`);
  return result;
}

/** What the node said, short and without addresses of the web: some repeat the URL that they were asked at, or its key. */
function refusal(method: string, error: unknown, redact: Redact): RpcError {
  const { code, message } = (typeof error === 'object' ? error : {}) as { code?: unknown; message?: unknown };
  const whole = typeof message === 'string' ? message : 'an error';
  const said = redact(whole.replace(/\w+:\/\/\S+/g, '…')).slice(0, 200);
  return new RpcError('refused', `${method}: ${said}`, typeof code === 'number' ? code : null);
}

export type Redact = (text: string) => string;

/** Takes everything out of a text that is part of these URLs and may be a key, or lead to one. */
export function createRedactor(urls: readonly string[]): Redact {
  const parts = urls.flatMap((text) => {
    const url = new URL(text);
    const values = [...url.searchParams.values(), ...url.pathname.split('/'), url.username, url.password];
    return [text, url.host, url.hostname, ...values, ...values.map(decoded)];
  });
  // The longest first, for one may be part of another.
  const secrets = [...new Set(parts)].filter((part) => part.length >= 4).sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
