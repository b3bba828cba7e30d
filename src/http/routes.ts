// Which handler answers which path: the operations of the API, the pages, and what pages load.

import { openApiText, openApiYaml } from '../api/openapi.ts';
import type { Budget } from '../api/operation.ts';
import { OPERATIONS, type Operation } from '../api/operations.ts';
import { Problem } from '../api/problems.ts';
import { parseQuery } from '../api/query.ts';
import { textResponse } from '../api/sized-response.ts';
import type { Awaitable } from '../store/awaitable.ts';
import { renderDevelopers } from '../web/developers.ts';
import { docsText } from '../web/docs.ts';
import { docsMarkdown } from '../web/docs-markdown.ts';
import { renderExplorer } from '../web/explorer.ts';
import { EXPLORER_FIELDS } from '../web/explorer-query.ts';
import { llmsText } from '../web/llms.ts';
import { ASSETS, pageResponse, textHeaders } from '../web/page.ts';
import { renderStatus } from '../web/status.ts';
import { prefersMarkdown } from './accept.ts';
import type { Answer } from './answer.ts';
import { answerAnyList } from './any-list.ts';
import { answerBatch } from './batch.ts';
import type { Call } from './call.ts';
import { answerChanges } from './changes.ts';
import { answerCheck } from './check.ts';
import { answerCounterparts } from './counterparts.ts';
import { answerWebhooks, WEBHOOK_PATHS } from './developer-webhooks.ts';
import { DEVELOPER_PATHS, requireOwnPage } from './developers.ts';
import { CORS, JSON_TYPE } from './headers.ts';
import { answerHistory } from './history.ts';
import { answerHolders } from './holders.ts';
import { answerList } from './list.ts';
import { answerMcp } from './mcp.ts';
import type { Service } from './service.ts';
import { answerHealth, answerNetworks, answerReady } from './status.ts';

export interface Route {
  readonly path: string;
  readonly budget: Budget;
  /** HEAD goes with GET, and OPTIONS with everything. */
  readonly methods: readonly string[];
  /** An operation that reads a body, which other sites may send. */
  readonly takesBody?: boolean;
  answer(call: Call): Awaitable<Answer | Response>;
}

type OperationOf<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>;

/** Makes a text at the first request for it: the commands that only ask questions do not need it. */
function atFirstUse(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}

const openApi = { json: atFirstUse(openApiText), yaml: atFirstUse(openApiYaml) };
const OPENAPI_HEADERS = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': 'no-cache' };
const YAML_HEADERS = { ...OPENAPI_HEADERS, 'content-type': 'application/yaml' };

/** How operations of each kind are answered. */
const HANDLERS: {
  readonly [Kind in Operation['kind']]: (operation: OperationOf<Kind>, call: Call) => Awaitable<Answer | Response>;
} = {
  check: (operation, { query, request, service }) => answerCheck(operation, query, request, service),
  list: (operation, { path, query, request, service, caller }) =>
    answerList(operation, path, query, request, service, caller),
  counterparts: answerCounterparts,
  'any-list': answerAnyList,
  holders: answerHolders,
  changes: answerChanges,
  history: answerHistory,
  batch: answerBatch,
  networks: (_operation, { service }) => answerNetworks(service),
  health: () => answerHealth(),
  ready: (_operation, { service }) => answerReady(service),
  openapi: () => textResponse(openApi.json(), { headers: OPENAPI_HEADERS }),
};

function operationRoute<Kind extends Operation['kind']>(operation: OperationOf<Kind>): Route {
  const { path, budget, method } = operation;
  const handler = HANDLERS[operation.kind as Kind];
  const takesBody = 'requestBody' in operation;
  return { path, budget, methods: [method], takesBody, answer: (call) => handler(operation, call) };
}

const pageRoute = (path: string, answer: Route['answer'], budget: Budget = 'page'): Route => ({
  path,
  budget,
  methods: ['GET'],
  answer,
});

const docs = { html: atFirstUse(docsText), markdown: atFirstUse(docsMarkdown) };
const llms = atFirstUse(llmsText);

/** A document for programs: pages of other sites may read it too. */
const documentResponse = (text: string, type: string) =>
  textResponse(text, { headers: { ...CORS, ...textHeaders(type) } });
const docsMarkdownResponse = () => documentResponse(docs.markdown(), 'text/markdown');

function answerDocs({ request, service: { sandbox } }: Call): Response {
  const response = prefersMarkdown(request) ? docsMarkdownResponse() : pageResponse(docs.html(), { sandbox });
  response.headers.set('vary', 'Accept');
  return response;
}

/** A page that changes with every block, or with who looks at it. */
const livePage = (text: string, { sandbox }: Service) => pageResponse(text, { sandbox, cache: 'no-cache' });

/** The origin that the caller reached us at, for a command to copy. */
const originOf = ({ url }: Request) => (URL.canParse(url) ? new URL(url).origin : '');

async function answerExplorer({ request, query, service, ask }: Call): Promise<Response> {
  const { values, faults } = parseQuery(query, EXPLORER_FIELDS);
  const chainIds = [...service.chainIds].sort((a, b) => a - b);
  const origin = service.publicUrl ?? originOf(request);
  const asked = { values, faults, chainIds, origin, sandbox: service.sandbox ?? false, now: service.now() };
  return livePage(await renderExplorer(asked, ask), service);
}

const NO_SELF_SERVICE = 'The operator of this service hands out its API keys.';

const DEVELOPER_ROUTES: readonly Route[] = [...DEVELOPER_PATHS].map(([path, handlers]) => ({
  path,
  budget: path === '/developers/session' || path === '/developers/keys' ? 'lookup' : 'page',
  methods: Object.keys(handlers),
  answer({ request, socket, service: { developers, now } }) {
    if (developers === undefined) throw new Problem('not-found', NO_SELF_SERVICE);
    requireOwnPage(request, developers);
    const handler = handlers[request.method === 'HEAD' ? 'GET' : request.method];
    return (handler as NonNullable<typeof handler>)(request, developers, Math.floor(now()), socket);
  },
}));

const WEBHOOK_ROUTES: readonly Route[] = [...WEBHOOK_PATHS].map(([path, handlers]) => ({
  path,
  budget: 'page',
  methods: Object.keys(handlers),
  answer({ request, service }) {
    const { developers } = service;
    if (developers === undefined) throw new Problem('not-found', NO_SELF_SERVICE);
    requireOwnPage(request, developers);
    const handler = handlers[request.method === 'HEAD' ? 'GET' : request.method];
    return answerWebhooks(handler as NonNullable<typeof handler>, request, developers, service);
  },
}));

const ROUTES: readonly Route[] = [
  ...OPERATIONS.map((operation) => operationRoute(operation)),
  pageRoute('/', answerExplorer, 'anonymous'),
  pageRoute('/docs', answerDocs),
  pageRoute('/docs.md', docsMarkdownResponse),
  pageRoute('/llms.txt', () => documentResponse(llms(), 'text/plain')),
  pageRoute('/openapi.yaml', () => textResponse(openApi.yaml(), { headers: YAML_HEADERS })),
  pageRoute('/status', async ({ service, ask }) => livePage(await renderStatus(ask), service)),
  pageRoute('/developers', ({ service }) =>
    livePage(
      renderDevelopers({
        selfService: service.developers !== undefined,
        webhooks: service.developers?.webhooks !== undefined,
        keyLimit: service.keyLimit ?? null,
      }),
      service,
    ),
  ),
  { path: '/mcp', budget: 'keyed', methods: ['POST'], takesBody: true, answer: answerMcp },
  ...DEVELOPER_ROUTES,
  ...WEBHOOK_ROUTES,
  ...[...ASSETS].map(([path, answer]) => pageRoute(path, answer)),
];

const EXACT = new Map(ROUTES.filter(({ path }) => !path.includes('{')).map((route) => [route.path, route]));
/** Routes whose last segment is a parameter. */
const TEMPLATES = ROUTES.filter(({ path }) => path.includes('{')).map((route) => {
  const [prefix = '', name = ''] = route.path.split(/[{}]/);
  return { route, prefix, name };
});

const NO_PARAMS = {};

export interface Match {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
}

export function findRoute(path: string): Match | null {
  const route = EXACT.get(path);
  if (route !== undefined) return { route, path: NO_PARAMS };
  for (const { route, prefix, name } of TEMPLATES) {
    const value = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    if (value !== '' && !value.includes('/')) return { route, path: { [name]: value } };
  }
  return null;
}
