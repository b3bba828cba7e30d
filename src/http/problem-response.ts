// Turns a problem into a response.

import { PROBLEMS, type Problem, problemUri } from '../api/problems.ts';
import { textResponse } from '../api/sized-response.ts';

export function problemResponse(problem: Problem, headers: Headers): Response {
  const { retryAfter } = problem;
  const { status } = PROBLEMS[problem.type];
  for (const [name, value] of Object.entries(problem.headers)) headers.set(name, value);
  headers.set('content-type', 'application/problem+json');
  headers.set('cache-control', 'no-store');
  if (retryAfter !== null) headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfter))));
  return textResponse(JSON.stringify(problemBody(problem)), { status, headers });
}

export function problemBody({ type, message, fields }: Problem) {
  const { status, title } = PROBLEMS[type];
  return { type: problemUri(type), title, status, detail: message, ...fields };
}
