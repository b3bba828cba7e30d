// A proxy in front of a real node that counts calls and rejects those that the test chooses.

interface RpcBody {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RpcProxy {
  readonly url: string;
  /** Number of calls; each call of a batch counts. */
  calls: number;
  /** Number of HTTP requests. */
  requests: number;
  /** Returns the error message for a call; null to forward it to the node. */
  refuses: (call: RpcBody) => string | null;
  stop(): Promise<void>;
}

export function startRpcProxy(nodeUrl: string): RpcProxy {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request) {
      const body = (await request.json()) as RpcBody | RpcBody[];
      const asked = Array.isArray(body) ? body : [body];
      proxy.requests++;
      proxy.calls += asked.length;
      const refused = asked.map(proxy.refuses);
      const passed = asked.filter((_, position) => refused[position] === null);
      const told = passed.length === 0 ? [] : ((await ask(nodeUrl, passed)) as { id: number }[]);
      const answers = asked.map(({ id }, position) => {
        const message = refused[position] ?? null;
        return message === null
          ? told.find((one) => one.id === id)
          : { jsonrpc: '2.0', id, error: { code: -32_000, message } };
      });
      return Response.json(Array.isArray(body) ? answers : answers[0]);
    },
  });
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${server.port}`,
    calls: 0,
    requests: 0,
    refuses: () => null,
    stop: () => server.stop(true),
  };
  return proxy;
}

async function ask(url: string, calls: readonly RpcBody[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) })).json();
}
