// Turns a problem into a response.

import { PROBLEMS, type Problem, problemBody } from '../../api/problems.ts';
import { textResponse } from '../../api/sized-response.ts';

export function problemResponse(problem: Problem, headers: Headers): Response {
  problemHeaders(problem, headers);
  headers.set('content-type', 'application/problem+json');
  headers.set('cache-control', 'no-store');
  return textResponse(JSON.stringify(problemBody(problem)), { status: PROBLEMS[problem.type].status, headers });
}

/** Adds what the problem itself demands. */
export function problemHeaders(problem: Problem, headers: Headers): Headers {
  for (const [name, value] of Object.entries(problem.headers)) headers.set(name, value);
  const seconds = retrySeconds(problem);
  if (seconds !== null) headers.set('retry-after', String(seconds));
  return headers;
}

/** As in Retry-After. */
export const retrySeconds = ({ retryAfter }: Problem): number | null =>
  retryAfter === null ? null : Math.max(1, Math.ceil(retryAfter));
