// The process of the local chain, which it serves as JSON-RPC over HTTP on the loopback interface. It tells its parent the port, and
// exits when its parent does.

import { rmSync } from 'node:fs';
import { createEdr, type Edr } from './edr.ts';

/** Pages of other origins may ask: it is a chain for development, and wallets and dapps run in pages. */
const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };

const failure = (code: number, message: string) => ({ jsonrpc: '2.0', id: null, error: { code, message } });
const PARSE_ERROR = failure(-32700, 'Parse error: the body must be JSON');
const INVALID_REQUEST = failure(-32600, 'Invalid request');
const INTERNAL_ERROR = -32603;

/** Returns the port. Port 0 is any free port. */
function serveJsonRpc(edr: Edr, port: number): number {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    // Bun would share a port that is taken.
    reusePort: false,
    // Long calls are slow on a busy machine: the client decides when to give up.
    idleTimeout: 0,
    development: false,
    async fetch(request) {
      if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: CORS });
      return Response.json(await answer(await request.text()), { headers: CORS });
    },
  });
  return server.port as number;

  async function answer(text: string): Promise<unknown> {
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return PARSE_ERROR;
    }
    if (!Array.isArray(body)) return answerOne(body);
    const responses: unknown[] = [];
    // One after the other: a call of a batch can depend on the one before it.
    for (const request of body) responses.push(await answerOne(request));
    return responses.length === 0 ? INVALID_REQUEST : responses;
  }

  async function answerOne(request: unknown): Promise<unknown> {
    const { id = null, method, params = [] } = (request ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
    if (typeof method !== 'string') return INVALID_REQUEST;
    try {
      return { jsonrpc: '2.0', id, ...(await edr(method, params)) };
    } catch (error) {
      return { ...failure(INTERNAL_ERROR, (error as Error).message), id };
    }
  }
}

const [port, since, chainId, folder] = process.argv.slice(2) as [string, string, string, string?];

process.once('disconnect', () => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  process.exit();
});
// Ctrl-C reaches every process of a terminal. The parent decides when this one exits.
process.on('SIGINT', () => {});

process.send?.(serveJsonRpc(await createEdr(new Date(since), BigInt(chainId)), Number(port)));
