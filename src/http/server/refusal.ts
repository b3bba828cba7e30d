// The response to a request that met a problem.

import { PROBLEMS, type Problem } from '../../api/problems.ts';
import { pageResponse } from '../../web/page.ts';
import { renderProblem } from '../../web/problem-page.ts';
import { CORS } from '../wire/answer.ts';
import { problemHeaders, problemResponse, retrySeconds } from '../wire/problem-response.ts';
import { prefersHtml } from '../wire/request-headers.ts';
import { type Match, nearestPage } from './routes.ts';

export interface RefusedRequest {
  readonly request: Request;
  readonly id: string;
  readonly match: Match | null;
  readonly path: string;
  readonly query: string;
}

/**
 * A browser that opens a page, or a path where nothing is, gets a page. The API is JSON in a browser too: integrators open its URLs
 * there to see what their program gets.
 */
export function refusalOf(problem: Problem, refused: RefusedRequest, sandbox = false): Response {
  const headers = new Headers(CORS);
  if (!isForPeople(refused)) return problemResponse(problem, headers);
  headers.set('vary', 'Accept');
  return prefersHtml(refused.request)
    ? problemPage(problem, refused, headers, sandbox)
    : problemResponse(problem, headers);
}

const isForPeople = ({ match, path }: RefusedRequest) =>
  match === null ? !/^\/registry(\/|$)/.test(path) : match.route.isPage === true;

function problemPage(problem: Problem, refused: RefusedRequest, headers: Headers, sandbox: boolean): Response {
  const { id, match, path, query } = refused;
  const { type, message } = problem;
  const isUnknownPath = match === null && type === 'not-found';
  const text = renderProblem({
    type,
    detail: message,
    retryAfter: retrySeconds(problem),
    requestId: id,
    path,
    url: query === '' ? path : `${path}?${query}`,
    isUnknownPath,
    near: isUnknownPath ? nearestPage(path) : null,
  });
  const response = pageResponse(text, { status: PROBLEMS[type].status, sandbox, cache: 'no-store' });
  for (const [name, value] of problemHeaders(problem, headers)) response.headers.set(name, value);
  return response;
}
