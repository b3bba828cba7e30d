// The API, apart from the process that listens: a request goes in, a response comes out.

import { compressed, isCompressible } from '../../api/compressed-response.ts';
import { HEALTH_OPERATION } from '../../api/operations.ts';
import { PROBLEMS, Problem, type ProblemType } from '../../api/problems.ts';
import { splitUrl } from '../../api/query.ts';
import { isStreamed, wholeBody } from '../../api/sized-response.ts';
import type { Awaitable } from '../../store/engine.ts';
import { othersOfTurn } from '../../store/turns.ts';
import { pageResponse } from '../../web/page.ts';
import { renderProblem } from '../../web/problem-page.ts';
import { outdated, problemOf } from '../context/problem-of.ts';
import type { FailedRequest, Service } from '../context/service.ts';
import { type AdmissionDecision, type Sent, UNLIMITED } from '../limits/admission.ts';
import type { Caller } from '../limits/shares.ts';
import { type Answer, CORS, toResponse } from '../wire/answer.ts';
import { MAX_PLAIN_BYTES, requireBodyWithin } from '../wire/body.ts';
import { problemHeaders, problemResponse, retrySeconds } from '../wire/problem-response.ts';
import { acceptsGzip, prefersHtml, requestIdOf } from '../wire/request-headers.ts';
import { streamParts } from '../wire/stream-parts.ts';
import { findRoute, type Match, nearestPage, withoutSlash } from './routes.ts';

export interface AppOptions extends Service {
  readonly onAnswer?: (answer: Answered, request: Request, response: Response) => void;
}

/** What is counted and logged of a request: nothing that the caller wrote, but for the id. */
export interface Answered {
  /** The request's X-Request-Id, or one that was made. */
  readonly id: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** Until the response was ready to be sent. */
  readonly seconds: number;
  /** The block that the answer is true as of. */
  readonly block: string | null;
  /** Why it was refused. */
  readonly problem: ProblemType | undefined;
}

export interface App {
  /** The response to a HEAD has a body: the server measures it and does not send it. `socket` gives the caller's address. */
  fetch(request: Request, socket?: () => string, setIdleTimeout?: (seconds: number) => void): Promise<Response>;
}

/** Any request header may be sent: tracing SDKs add theirs. `*` does not include Authorization. */
const PREFLIGHT = { ...CORS, 'access-control-allow-headers': '*, Authorization', 'access-control-max-age': '86400' };
const METHOD_NAMES = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** Valid requests are far shorter. */
const MAX_URL_LENGTH = 4096;
/** A larger answer is sent in parts, and must be read within this time. */
const LARGE_BYTES = 256 * 1024;
const PART_BYTES = 64 * 1024;
const MAX_READ_SECONDS = 120;

export function createApp(options: AppOptions): App {
  const { onAnswer, sandbox, longLists } = options;
  return {
    async fetch(request, socket = noAddress, setIdleTimeout = noTimeout) {
      const began = performance.now();
      const id = requestIdOf(request);
      const received = receive({ request, socket, setIdleTimeout }, request.url, id);
      // Browsers send preflights by themselves: they are not counted.
      const admission = request.method === 'OPTIONS' ? UNLIMITED : admit(received, options);
      const admitted = admission instanceof Promise ? await admission : admission;
      Object.assign(received.more, admitted.headers);
      if (sandbox) received.more['x-sandbox'] = 'true';
      const answer = admitted.refusal
        ? refused(admitted.refusal, received, sandbox)
        : await answered(received, options);
      await othersOfTurn;
      const plain = toResponse(answer, received.more);
      // Most answers are those of the API: their callers' headers are not read for this.
      const whole = isCompressible(plain) && acceptsGzip(request) ? compressed(plain) : plain;
      const isLarge = wholeBody(whole).length > LARGE_BYTES && request.method !== 'HEAD';
      const response = isLarge ? sentInParts(received, whole, options) : whole;
      if (!isStreamed(response)) longLists.noteShort();
      await othersOfTurn;
      if (onAnswer !== undefined) {
        const method = METHOD_NAMES.has(request.method) ? request.method : 'other';
        const seconds = (performance.now() - began) / 1000;
        const { problem, failed } = received;
        const { status } = response;
        // Reading the headers of a response costs more than those of its answer.
        const block = answer.headers.get('x-block-number');
        onAnswer({ id, method, route: failed.route, status, seconds, block, problem }, request, response);
      }
      return response;
    },
  };
}

/** What the caller does not read stays in memory: it has a share of that, and a time. */
function sentInParts(received: Received, response: Response, service: Service) {
  try {
    const body = wholeBody(response);
    const end = service.longLists.beginSending(callerOf(received, service), body.length);
    const deadline = performance.now() + 1000 * Math.min(service.answerTimeout, MAX_READ_SECONDS);
    return streamParts(slicesOf(body, deadline), response, end, { answerTimeout: Number.POSITIVE_INFINITY });
  } catch (error) {
    const problem = problemOf(error, service, received.failed);
    return toResponse(refused(problem, received, service.sandbox), received.more);
  }
}

async function* slicesOf(body: string | Uint8Array, deadline: number) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  for (let from = 0; from < bytes.length; from += PART_BYTES) {
    if (performance.now() > deadline) throw new Error('Answer not read within the answer timeout.');
    yield bytes.subarray(from, from + PART_BYTES);
  }
}

const callerOf = (received: Received, { admission }: Service): Caller =>
  admission?.callerOf(received) ?? { id: received.socket(), hasKey: false };

/** A request with what was found out about it. */
interface Received extends Sent {
  /** What the log says of it if it fails. */
  readonly failed: FailedRequest;
  readonly match: Match | null;
  readonly path: string;
  readonly query: string;
  readonly setIdleTimeout: (seconds: number) => void;
  /** A page asks, which is counted itself. */
  readonly isCounted?: boolean;
  /** Headers of the response beside those of the answer. */
  readonly more: Record<string, string>;
  /** Why it was refused. */
  problem?: ProblemType;
}

function receive(
  { request, socket, setIdleTimeout }: Pick<Received, 'request' | 'socket' | 'setIdleTimeout'>,
  url: string,
  id: string,
): Received {
  const { path, query } = splitUrl(url);
  const match = findRoute(path);
  const failed = { id, route: match?.route.path ?? 'other' };
  const budget = match?.route.budget ?? 'page';
  return { request, failed, match, budget, path, query, socket, setIdleTimeout, more: { 'x-request-id': id } };
}

/**
 * A browser that opens a page, or a path where nothing is, gets a page. The API is JSON in a browser too: integrators open its URLs
 * there to see what their program gets.
 */
function refused(problem: Problem, received: Received, sandbox = false): Response {
  received.problem = problem.type;
  const headers = new Headers(CORS);
  if (!isForPeople(received)) return problemResponse(problem, headers);
  headers.set('vary', 'Accept');
  return prefersHtml(received.request)
    ? problemPage(problem, received, headers, sandbox)
    : problemResponse(problem, headers);
}

const isForPeople = ({ match, path }: Received) =>
  match === null ? !/^\/registry(\/|$)/.test(path) : match.route.isPage === true;

function problemPage(problem: Problem, received: Received, headers: Headers, sandbox: boolean): Response {
  const { failed, match, path, query } = received;
  const { type, message } = problem;
  const isUnknownPath = match === null && type === 'not-found';
  const text = renderProblem({
    type,
    detail: message,
    retryAfter: retrySeconds(problem),
    requestId: failed.id,
    path,
    url: query === '' ? path : `${path}?${query}`,
    isUnknownPath,
    near: isUnknownPath ? nearestPage(path) : null,
  });
  const response = pageResponse(text, { status: PROBLEMS[type].status, sandbox, cache: 'no-store' });
  for (const [name, value] of problemHeaders(problem, headers)) response.headers.set(name, value);
  return response;
}

function admit(received: Received, options: AppOptions): Awaitable<AdmissionDecision> {
  const refuse = (error: unknown) => ({ headers: {}, refusal: problemOf(error, options, received.failed) });
  try {
    const admission = options.admission?.admit(received) ?? UNLIMITED;
    return admission instanceof Promise ? admission.catch(refuse) : admission;
  } catch (error) {
    return refuse(error);
  }
}

const noAddress = () => '';
const noTimeout = () => {};

async function answered(received: Received, service: Service): Promise<Answer | Response> {
  try {
    return await answer(received, service);
  } catch (error) {
    return refused(problemOf(error, service, received.failed), received, service.sandbox);
  }
}

function answer(received: Received, service: Service): Awaitable<Answer | Response> {
  const { request, failed, match, query, socket, setIdleTimeout } = received;
  const { method, url } = request;
  // Preflights always pass, so that a browser lets the page see the problem itself.
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: preflightHeaders(match) });
  const maxUrlLength = match?.route.maxUrlLength ?? MAX_URL_LENGTH;
  if (url.length > maxUrlLength)
    throw new Problem('uri-too-long', `The URL is longer than ${maxUrlLength} characters.`);
  if (method !== 'GET' && match?.route.takesBody !== true) requireBodyWithin(request, MAX_PLAIN_BYTES);
  // The headers of two are joined. Proxies may have looked at the other one.
  if (request.headers.get('host')?.includes(',')) throw new Problem('bad-request', 'The request has two Host headers.');
  if (service.isOutdated?.() && match?.route.path !== HEALTH_OPERATION.path) throw outdated();
  if (match === null) return withoutSlash(received.path, query);
  const { route, path } = match;
  if (!route.methods.includes(method === 'HEAD' ? 'GET' : method)) {
    const allow = allowedMethods(match);
    throw new Problem('method-not-allowed', `Use one of ${allow}, not ${method}.`, { headers: { allow } });
  }
  const ask = async (target: string, body?: string) => {
    // From the same client as the page.
    const headers = { 'x-forwarded-for': request.headers.get('x-forwarded-for') ?? '' };
    const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    const sent = new Request(`http://page${target}`, body === undefined ? { headers } : { ...post, body });
    const asked = { ...receive({ request: sent, socket, setIdleTimeout }, target, failed.id), isCounted: true };
    return toResponse(await answered(asked, service), asked.more);
  };
  const caller = () => callerOf(received, service);
  const count = async (questions: number) => {
    const decision = received.isCounted ? null : await service.admission?.admitQuestions(received, questions);
    Object.assign(received.more, decision?.headers);
    if (decision?.refusal) throw decision.refusal;
  };
  return route.answer({ request, socket, setIdleTimeout, path, query, service, caller, count, failed, ask });
}

const READS: readonly string[] = ['GET'];

/** Pages of other sites may read, and may send what an operation of the API takes. */
const preflightHeaders = (match: Match | null) => ({
  ...PREFLIGHT,
  'access-control-allow-methods': match?.route.takesBody ? allowedMethods(match) : allowedMethods(null),
  allow: allowedMethods(match),
});

const allowedMethods = (match: Match | null) => {
  const methods = match?.route.methods ?? READS;
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
};
