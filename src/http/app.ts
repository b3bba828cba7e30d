// The API, apart from the process that listens: a request goes in, a response comes out.

import { openApiText } from '../api/openapi.ts';
import { type CheckOperation, type ListOperation, OPERATIONS } from '../api/operations.ts';
import { Problem, problemResponse } from '../api/problems.ts';
import { parseQuery, targetOf } from '../api/query.ts';
import type { Awaitable } from '../store/awaitable.ts';
import { StoreError } from '../store/errors.ts';
import { renderDevelopers } from '../web/developers.ts';
import { docsText } from '../web/docs.ts';
import { EXPLORER_FIELDS, renderExplorer } from '../web/explorer.ts';
import { ASSETS, pageResponse } from '../web/page.ts';
import { renderStatus } from '../web/status.ts';
import { type Admission, type AdmissionDecision, type Budget, UNLIMITED } from './admission.ts';
import { troubleOf } from './as-of.ts';
import { answerCheck } from './check.ts';
import { DEVELOPER_PATHS, requireOwnPage } from './developers.ts';
import { answerList } from './list.ts';
import { CORS, JSON_TYPE, type Service } from './reply.ts';
import { answerHealth, answerNetworks, answerReady } from './status.ts';

export interface AppOptions extends Service {
  /** Without one, nobody is limited. */
  readonly admission?: Admission;
  readonly onAnswer?: (answer: Answered) => void;
}

/** What may be counted and logged of a request: never what the caller wrote. */
export interface Answered {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** Until the answer was ready to be sent. */
  readonly seconds: number;
}

export interface App {
  /** A HEAD gets the body too: the server measures it and does not send it. `socket` gives the caller's address. */
  fetch(request: Request, socket?: () => string): Promise<Response>;
}

const PREFLIGHT = {
  ...CORS,
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': 'X-API-KEY, If-None-Match, Content-Type',
  'access-control-max-age': '86400',
};
const READS: readonly string[] = ['GET'];
const METHOD_NAMES = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** The longest address that any good request has is a fraction of this. */
const LONGEST_URL = 4096;

export function createApp(options: AppOptions): App {
  const { onAnswer, sandbox } = options;
  return {
    async fetch(request, socket = nobody) {
      const began = performance.now();
      const { path, query } = targetOf(request.url);
      const route = findRoute(path);
      // A preflight is no question: browsers send them by themselves.
      const admission = request.method === 'OPTIONS' ? UNLIMITED : admit(request, route, socket, options);
      const admitted = admission instanceof Promise ? await admission : admission;
      const response = admitted.refusal
        ? problemResponse(admitted.refusal, new Headers(CORS))
        : await answered(request, route, query, options);
      for (const name in admitted.headers) response.headers.set(name, admitted.headers[name] ?? '');
      if (sandbox) response.headers.set('x-sandbox', 'true');
      onAnswer?.({
        method: METHOD_NAMES.has(request.method) ? request.method : 'other',
        route: route?.name ?? 'other',
        status: response.status,
        seconds: (performance.now() - began) / 1000,
      });
      return response;
    },
  };
}

function admit(
  request: Request,
  route: Route | null,
  socket: () => string,
  options: AppOptions,
): Awaitable<AdmissionDecision> {
  // What fails here is a problem like any other.
  const failed = (error: unknown): AdmissionDecision => ({ headers: {}, refusal: asProblem(error, options) });
  try {
    const admission = options.admission?.admit(request, route?.budget ?? 'page', socket) ?? UNLIMITED;
    return admission instanceof Promise ? admission.catch(failed) : admission;
  } catch (error) {
    return failed(error);
  }
}

const nobody = () => '';

async function answered(request: Request, route: Route | null, query: string, options: Service): Promise<Response> {
  try {
    return await answer(request, route, query, options);
  } catch (error) {
    return problemResponse(asProblem(error, options), new Headers(CORS));
  }
}

function answer(request: Request, route: Route | null, query: string, options: Service): Awaitable<Response> {
  const { method, url } = request;
  // Preflights always pass: a browser must come to see the problem itself.
  if (method === 'OPTIONS')
    return new Response(null, { status: 204, headers: { ...PREFLIGHT, allow: allowedBy(route) } });
  if (url.length > LONGEST_URL) throw new Problem('uri-too-long', `More than ${LONGEST_URL} characters.`);
  if (route === null) throw new Problem('not-found', 'See /docs for what there is.');
  const methods = route.methods ?? READS;
  if (!methods.includes(method === 'HEAD' ? 'GET' : method)) {
    const allow = allowedBy(route);
    throw new Problem('method-not-allowed', `${method} is not among ${allow}.`, { headers: { allow } });
  }
  return route.answer(request, query, options);
}

const allowedBy = (route: Route | null) => {
  const methods = route?.methods ?? READS;
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
};

export interface Route {
  readonly name: string;
  readonly budget: Budget;
  /** Besides HEAD and OPTIONS; GET unless others are named. */
  readonly methods?: readonly string[];
  answer(request: Request, query: string, service: Service): Awaitable<Response>;
}

const checkRoute = (operation: CheckOperation): Route => ({
  name: operation.path,
  budget: operation.version,
  answer: (request, query, service) => answerCheck(operation, query, request, service),
});
const listRoute = (operation: ListOperation, wallet: string): Route => ({
  name: operation.path,
  budget: operation.version,
  answer: (request, query, service) => answerList(operation, wallet, query, request, service),
});
const pageRoute = (
  name: string,
  answer: (service: Service) => Awaitable<Response>,
  budget: Budget = 'page',
): Route => ({
  name,
  budget,
  answer: (_request, _query, service) => answer(service),
});

const document = openApiText();
const DOCUMENT_HEADERS = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': 'no-cache' };
const docs = docsText();

/** Pages ask the API as anybody does, but for the limit: they have one of their own. */
const askOf = (service: Service) => (path: string) => {
  const { path: target, query } = targetOf(path);
  return answered(new Request(`http://page${path}`), findRoute(target), query, service);
};

/** What changes with every block, or with who looks at it. */
const livePage = (text: string, { sandbox }: Service) => pageResponse(text, { sandbox, cache: 'no-cache' });

/** As the caller reached us, for a line to copy. */
const originOf = ({ url }: Request) => (URL.canParse(url) ? new URL(url).origin : '');

const DEVELOPERS: readonly Route[] = [...DEVELOPER_PATHS].map(([path, handlers]) => ({
  name: path,
  budget: path === '/developers/session' || path === '/developers/keys' ? 'lookup' : 'page',
  methods: Object.keys(handlers),
  answer(request, _query, { developers, now }) {
    if (developers === undefined) throw new Problem('not-found', 'On this service keys are given out by its operator.');
    requireOwnPage(request, developers);
    const handler = handlers[request.method === 'HEAD' ? 'GET' : request.method];
    return (handler as NonNullable<typeof handler>)(request, developers, Math.floor(now()));
  },
}));

const EXPLORER: Route = {
  name: '/',
  budget: 'lookup',
  async answer(request, query, service) {
    const { values, faults } = parseQuery(query, EXPLORER_FIELDS);
    const chainIds = [...service.chainIds].sort((a, b) => a - b);
    const asked = { values, faults, chainIds, origin: service.publicUrl ?? originOf(request) };
    return livePage(await renderExplorer(asked, askOf(service)), service);
  },
};
const STATUS: Route = {
  name: '/status',
  budget: 'page',
  answer: async (_request, _query, service) => livePage(await renderStatus(askOf(service)), service),
};

const ROUTES = new Map<string, Route>(
  [
    ...OPERATIONS.filter((one) => one.kind === 'check').map(checkRoute),
    pageRoute('/networks', answerNetworks),
    pageRoute('/health', answerHealth, 'free'),
    pageRoute('/ready', answerReady, 'free'),
    pageRoute('/openapi.json', () => new Response(document, { headers: DOCUMENT_HEADERS })),
    pageRoute('/docs', ({ sandbox }) => pageResponse(docs, { sandbox })),
    EXPLORER,
    STATUS,
    pageRoute('/developers', (service) => livePage(renderDevelopers(service.developers !== undefined), service)),
    ...DEVELOPERS,
    ...[...ASSETS].map(([path, answer]) => pageRoute(path, answer)),
  ].map((route) => [route.name, route]),
);
const LISTS = OPERATIONS.filter((one) => one.kind === 'list').map((operation) => ({
  operation,
  prefix: operation.path.slice(0, -'{wallet}'.length),
}));

export function findRoute(path: string): Route | null {
  const exact = ROUTES.get(path);
  if (exact !== undefined) return exact;
  for (const { operation, prefix } of LISTS) {
    // A wallet that is none is a fault of the request, but not a path of its own.
    const wallet = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    if (wallet !== '' && !wallet.includes('/')) return listRoute(operation, wallet);
  }
  return null;
}

/** The one place where an error becomes an answer. */
function asProblem(error: unknown, options: Service): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreError) {
    const retryAfter = 5;
    switch (error.code) {
      case 'unavailable':
        options.onError?.(error);
        return new Problem('not-ready', 'The store does not answer now.', { retryAfter });
      case 'not-started':
        return new Problem('chain-not-ready', `${error.message}${troubleOf(options, error.chainId)}`, { retryAfter });
      case 'before-first':
        return new Problem('not-indexed', error.message);
      case 'beyond-head':
        return new Problem('not-yet-indexed', error.message, { retryAfter });
      case 'rewritten':
        return new Problem('cursor-gone', `${error.message} Begin again without a cursor.`);
      case 'revocation-unread':
        return new Problem('revocation-unread', error.message, { retryAfter });
      default:
        break;
    }
  }
  options.onError?.(error);
  return new Problem('internal', 'The request was good; what failed is in the log of the service.');
}
