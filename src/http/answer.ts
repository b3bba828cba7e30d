// An answer before it is a Response: headers that are added to it cost nothing.

import { textResponse } from '../api/sized-response.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
}

/** The Response, with more headers. */
export function toResponse(answer: Answer | Response, more: Readonly<Record<string, string>>): Response {
  if (answer instanceof Response) {
    for (const name in more) answer.headers.set(name, more[name] ?? '');
    return answer;
  }
  const { status, headers, body } = answer;
  for (const name in more) headers[name] = more[name] ?? '';
  return body === null ? new Response(null, { status, headers }) : textResponse(body, { status, headers });
}
