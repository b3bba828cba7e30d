// POST /mcp: the MCP server over HTTP, if the operator has turned it on.

import { Problem } from '../api/problems.ts';
import { textResponse } from '../api/sized-response.ts';
import { MAX_PLAIN_BYTES, readBody } from './body.ts';
import type { Call } from './call.ts';
import { CORS } from './headers.ts';

export async function answerMcp({ request, service: { mcp }, ask }: Call): Promise<Response> {
  if (mcp === undefined)
    throw new Problem('not-found', 'The operator of this service has not turned the MCP server on (MCP=on).');
  const body = await readBody(request, MAX_PLAIN_BYTES);
  // A batch would be many questions that are counted as one request. The protocol has none since 2025-06-18.
  if (body.trimStart().startsWith('[')) throw new Problem('bad-request', 'JSON-RPC batches are not supported.');
  const { headers } = request;
  const response = await mcp.answer(new Request('http://mcp/', { method: 'POST', headers, body }), ask);
  const { status } = response;
  const type = response.headers.get('content-type');
  const more = { ...CORS, 'cache-control': 'no-store', vary: 'X-API-KEY' };
  return textResponse(await response.text(), {
    status,
    headers: type === null ? more : { ...more, 'content-type': type },
  });
}
