// POST /mcp: the MCP server over HTTP, if the operator has turned it on.

import { Problem } from '../../api/problems.ts';
import { textResponse } from '../../api/sized-response.ts';
import type { Call } from '../context/service.ts';
import { CORS } from '../wire/answer.ts';
import { MAX_PLAIN_BYTES, readBody } from '../wire/body.ts';

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** A page of another site, also one whose name was moved to this address, must not use a visitor's tools. Programs send no origin. */
function requireNoPage({ headers }: Request, publicUrl: string | undefined): void {
  const origin = headers.get('origin');
  if (origin === null || LOOPBACK.test(origin) || (publicUrl !== undefined && origin === new URL(publicUrl).origin))
    return;
  throw new Problem('forbidden', 'Pages of other sites may not use the MCP server.');
}

export async function answerMcp({ request, service: { mcp, publicUrl }, ask }: Call): Promise<Response> {
  if (mcp === undefined)
    throw new Problem('not-found', 'The operator of this service has not turned the MCP server on (MCP=on).');
  requireNoPage(request, publicUrl);
  const body = await readBody(request, MAX_PLAIN_BYTES);
  // A batch would be many questions that are counted as one request. The protocol has none since 2025-06-18.
  if (body.trimStart().startsWith('[')) throw new Problem('bad-request', 'JSON-RPC batches are not supported.');
  const asked = new Request('http://mcp/', { method: 'POST', headers: request.headers, body });
  const response = await mcp.answer(asked, ask);
  const type = response.headers.get('content-type');
  const more = { ...CORS, 'cache-control': 'no-store', vary: 'X-API-KEY' };
  const headers = type === null ? more : { ...more, 'content-type': type };
  return textResponse(await response.text(), { status: response.status, headers });
}
