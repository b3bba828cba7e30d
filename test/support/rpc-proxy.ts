// A proxy in front of a real node that counts calls, and rejects or changes those that the test chooses.

export interface RpcBody {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export type RpcProxy = ReturnType<typeof startRpcProxy>;

export function startRpcProxy(nodeUrl: string) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request): Promise<Response> {
      const body = (await request.json()) as RpcBody | RpcBody[];
      const asked = Array.isArray(body) ? body : [body];
      proxy.requests++;
      proxy.calls += asked.length;
      if (proxy.delayMs > 0) await Bun.sleep(proxy.delayMs);
      const refused = asked.map(proxy.refuses);
      const passed = asked.filter((_, position) => refused[position] === null);
      const results = passed.length === 0 ? [] : ((await ask(nodeUrl, passed)) as { id: number }[]);
      const answers = asked.map((call, position) => {
        const { id } = call;
        const message = refused[position] ?? null;
        if (message !== null) return { jsonrpc: '2.0', id, error: { code: -32_000, message } };
        const lie = proxy.lies(call);
        return lie === undefined ? results.find((one) => one.id === id) : { jsonrpc: '2.0', id, result: lie };
      });
      return Response.json(Array.isArray(body) ? answers : answers[0]);
    },
  });
  const proxy = {
    url: `http://127.0.0.1:${server.port}`,
    /** Number of calls; each call of a batch counts. */
    calls: 0,
    /** Number of HTTP requests. */
    requests: 0,
    /** Returns the error message for a call; null to forward it to the node. */
    refuses: (_: RpcBody): string | null => null,
    /** Returns a result in place of the node's; undefined for the node's own. */
    lies: (_: RpcBody): unknown => undefined,
    /** Milliseconds before each response. */
    delayMs: 0,
    stop: () => server.stop(true),
  };
  return proxy;
}

async function ask(url: string, calls: readonly RpcBody[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) })).json();
}
