// Turns a problem into a response.

import { PROBLEMS, type Problem, problemUri } from '../api/problems.ts';
import { textResponse } from '../api/sized-response.ts';

export function problemResponse(problem: Problem, headers: Headers): Response {
  const { type, message, retryAfter, fields } = problem;
  const { status, title } = PROBLEMS[type];
  const body = { type: problemUri(type), title, status, detail: message, ...fields };
  for (const [name, value] of Object.entries(problem.headers)) headers.set(name, value);
  headers.set('content-type', 'application/problem+json');
  headers.set('cache-control', 'no-store');
  if (retryAfter !== null) headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfter))));
  return textResponse(JSON.stringify(body), { status, headers });
}
