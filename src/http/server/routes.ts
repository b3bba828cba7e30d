// Which handler answers which path: the operations of the API, the pages, and what pages load.

import { atFirstUse, fixedResponse } from '../../api/compressed-response.ts';
import { openApiText, openApiYaml } from '../../api/openapi.ts';
import type { Budget, OperationBase } from '../../api/operation.ts';
import { OPERATIONS, type Operation } from '../../api/operations.ts';
import { Problem } from '../../api/problems.ts';
import { nearest, parseQuery } from '../../api/query.ts';
import { wholeBody } from '../../api/sized-response.ts';
import type { Awaitable } from '../../store/engine.ts';
import { renderDevelopers } from '../../web/developers/developers.ts';
import { docsText } from '../../web/docs/docs.ts';
import { examplesAt, FRONT, GROUP_PATHS } from '../../web/docs/docs-pages.ts';
import { docsMarkdown, llmsText } from '../../web/docs/machine-docs.ts';
import { sandboxAnswers } from '../../web/docs/reference.ts';
import { htmlWithOrigin, withOrigin } from '../../web/docs/samples.ts';
import { renderExplorer } from '../../web/explorer/explorer.ts';
import {
  EXPLORER_FIELDS,
  type ExplorerQuery,
  withAddresses,
  withPickedTimes,
} from '../../web/explorer/explorer-query.ts';
import { renderGrant } from '../../web/grant/grant-page.ts';
import type { Html } from '../../web/html.ts';
import { withNotices } from '../../web/names/name-slots.ts';
import { ASSETS, pageResponse, textHeaders } from '../../web/page.ts';
import { renderRevoke } from '../../web/revoke/revoke.ts';
import { renderStatus } from '../../web/status/status.ts';
import { answerArchive } from '../answers/archive.ts';
import { answerBatch } from '../answers/batch.ts';
import { answerChanges } from '../answers/changes.ts';
import { answerCheck } from '../answers/check.ts';
import { answerExclusiveOne, answerExclusiveVaults } from '../answers/exclusive.ts';
import { answerHolders } from '../answers/holders.ts';
import { answerList } from '../answers/list.ts';
import { answerMcp } from '../answers/mcp.ts';
import { pageWithNames, resolveEntered } from '../answers/page-names.ts';
import { answerHealth, answerNetworks, answerReady } from '../answers/status.ts';
import { answerVotes } from '../answers/votes.ts';
import { answerWalletBatch } from '../answers/wallet-batch.ts';
import { answerWalletCsv } from '../answers/wallet-csv.ts';
import { answerAnyList, answerCounterparts, answerHistory } from '../answers/wallet-pages.ts';
import type { Call, Service } from '../context/service.ts';
import { KEY_PATHS } from '../developers/developer-keys.ts';
import { SESSION_PATHS, sessionOf } from '../developers/developer-session.ts';
import { WEBHOOK_PATHS } from '../developers/developer-webhooks.ts';
import { requireOwnPage } from '../developers/developers.ts';
import { type Answer, CORS, JSON_TYPE } from '../wire/answer.ts';
import { prefersMarkdown } from '../wire/request-headers.ts';

export interface Route {
  readonly path: string;
  readonly budget: Budget;
  /** HEAD goes with GET, and OPTIONS with everything. */
  readonly methods: readonly string[];
  /** What a browser opens, rather than what programs ask. */
  readonly isPage?: boolean;
  /** An operation that reads a body, which other sites may send. */
  readonly takesBody?: boolean;
  /** Of a route whose URLs are longer than all others. */
  readonly maxUrlLength?: number;
  answer(call: Call): Awaitable<Answer | Response>;
}

type OperationOf<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>;

const openApi = { json: atFirstUse(openApiText), yaml: atFirstUse(openApiYaml) };
const OPENAPI_HEADERS = { ...CORS, 'content-type': JSON_TYPE, 'cache-control': 'no-cache' };
const YAML_HEADERS = { ...OPENAPI_HEADERS, 'content-type': 'application/yaml' };

/** How operations of each kind are answered. */
const HANDLERS: {
  readonly [Kind in Operation['kind']]: (operation: OperationOf<Kind>, call: Call) => Awaitable<Answer | Response>;
} = {
  check: answerCheck,
  list: answerList,
  counterparts: answerCounterparts,
  'any-list': answerAnyList,
  holders: answerHolders,
  'exclusive-wallet': answerExclusiveOne,
  'exclusive-owner': answerExclusiveOne,
  'exclusive-vaults': answerExclusiveVaults,
  changes: answerChanges,
  history: answerHistory,
  batch: answerBatch,
  'wallet-batch': answerWalletBatch,
  votes: answerVotes,
  networks: (_operation, { service }) => answerNetworks(service),
  health: () => answerHealth(),
  ready: (_operation, { service }) => answerReady(service),
  openapi: () => fixedResponse(openApi.json(), { headers: OPENAPI_HEADERS }),
};

function answerOperation<Kind extends Operation['kind']>(operation: OperationOf<Kind>, call: Call) {
  return HANDLERS[operation.kind as Kind](operation, call);
}

/** The operations of one path, which differ in their method. */
function operationRoute([path, operations]: [string, readonly Operation[]]): Route {
  const [first] = operations as [Operation];
  const bases: readonly OperationBase[] = operations;
  const maxUrlLength = bases.find((one) => one.maxUrlLength !== undefined)?.maxUrlLength;
  return {
    path,
    budget: first.budget,
    methods: operations.map(({ method }) => method),
    takesBody: operations.some((one) => 'requestBody' in one),
    ...(maxUrlLength === undefined ? {} : { maxUrlLength }),
    answer: (call) => answerOperation(operations.find(({ method }) => method === call.request.method) ?? first, call),
  };
}

const PAGE = { budget: 'page', methods: ['GET'], isPage: true } as const;
const pageRoute = (path: string, answer: Route['answer']): Route => ({ ...PAGE, path, answer });

/** So many bytes of a page take as long to make as a delegation of a list, and of the answers that it is made of. */
const PAGE_BYTES = 64;
const ASKED_BYTES = 32;

/** A page that can be large. It counts for its caller by what it took to make. */
const chargedPage = (path: string, make: (call: Call, notices: Html) => Promise<Response>): Route => ({
  ...PAGE,
  path,
  budget: 'anonymous',
  async answer(call) {
    const { longLists } = call.service;
    const caller = call.caller();
    longLists.requirePaid(caller);
    const resolved = await resolveEntered(path, call);
    if (resolved instanceof Response) return resolved;
    const ask: Call['ask'] = async (...asked) => {
      const found = await call.ask(...asked);
      longLists.charge(caller, wholeBody(found).length / ASKED_BYTES);
      return found;
    };
    const response = await make({ ...call, ask }, resolved);
    longLists.charge(caller, wholeBody(response).length / PAGE_BYTES);
    return response;
  },
});

const docsPage = new Map([FRONT, ...GROUP_PATHS].map((path) => [path, atFirstUse(() => docsText(path))]));
const docsForPrograms = atFirstUse(() => docsMarkdown());
const llms = atFirstUse(llmsText);

/** A document for programs: pages of other sites may read it too. */
const documentResponse = (text: string, type: string) =>
  fixedResponse(text, { headers: { ...CORS, ...textHeaders(type) } });

async function answerDocsMarkdown({ request, service, ask }: Call): Promise<Response> {
  const text = service.sandbox ? docsMarkdown(await sandboxAnswers(ask)) : docsForPrograms();
  return documentResponse(withOrigin(text, originOf(request, service)), 'text/markdown');
}

async function answerDocsPage(path: string, { request, service, ask }: Call): Promise<Response> {
  const origin = originOf(request, service);
  return service.sandbox
    ? livePage(htmlWithOrigin(docsText(path, await sandboxAnswers(ask, examplesAt(path))), origin), service)
    : pageResponse(htmlWithOrigin(docsPage.get(path)?.() ?? '', origin));
}

const docsRoute = (path: string): Route =>
  pageRoute(path, async (call) => {
    const response = await (prefersMarkdown(call.request) ? answerDocsMarkdown(call) : answerDocsPage(path, call));
    response.headers.append('vary', 'Accept');
    return response;
  });

/** A page that changes with every block, or with who looks at it. */
const livePage = (text: string, { sandbox }: Service, cache = 'no-cache') => pageResponse(text, { sandbox, cache });

/** The same with the names of its addresses. */
const namedPage = async (text: string, call: Call, notices: Html) =>
  livePage(await pageWithNames(withNotices(text, notices), call), call.service);

/** A host that could end a quote of a command is not repeated. */
const PLAIN_ORIGIN = /^https?:\/\/[\w.:[\]-]+$/;

/** Where callers reach the service, for a command to copy. */
function originOf({ url }: Request, { publicUrl }: Service): string {
  if (publicUrl !== undefined) return publicUrl;
  const origin = URL.canParse(url) ? new URL(url).origin : '';
  return PLAIN_ORIGIN.test(origin) ? origin : '';
}

const servedChains = ({ chainIds }: Service) => [...chainIds].sort((a, b) => a - b);

function explorerQuery({ request, query, service }: Call): ExplorerQuery {
  const { values, faults } = parseQuery(query, EXPLORER_FIELDS);
  const [chainIds, origin] = [servedChains(service), originOf(request, service)];
  const { sandbox = false, proofs, names } = service;
  return {
    values: withPickedTimes(withAddresses(values)),
    faults,
    chainIds,
    origin,
    sandbox,
    proves: proofs !== undefined,
    takesNames: names !== undefined,
    now: service.now(),
  };
}

async function answerDevelopers({ request, service }: Call): Promise<Response> {
  const { developers, now, keyLimit = null, anonymousLimit = null } = service;
  const selfService = developers && {
    session: await sessionOf({ request, developers, now: Math.floor(now()) }),
    chainIds: servedChains(service),
    webhooks: developers.webhooks !== undefined,
    testWallet: developers.testWallet?.address ?? null,
  };
  const text = renderDevelopers({ keyLimit, anonymousLimit, selfService: selfService ?? null });
  // It names the wallet that is signed in.
  return livePage(text, service, 'private, no-cache');
}

const NO_SELF_SERVICE = 'The operator of this service hands out its API keys.';

const DEVELOPER_ROUTES: readonly Route[] = [...SESSION_PATHS, ...KEY_PATHS, ...WEBHOOK_PATHS].map(
  ([path, handlers]) => ({
    path,
    budget: path === '/developers/session' || path === '/developers/keys' ? 'lookup' : 'page',
    methods: Object.keys(handlers),
    answer({ request, socket, service }) {
      const { developers } = service;
      if (developers === undefined) throw new Problem('not-found', NO_SELF_SERVICE);
      requireOwnPage(request, developers);
      const handler = handlers[request.method === 'HEAD' ? 'GET' : request.method];
      const client = () => developers.clientOf({ request, socket });
      const asked = { request, developers, service, now: Math.floor(service.now()), client };
      return (handler as NonNullable<typeof handler>)(asked);
    },
  }),
);

/** A link names each grant to end or to make. Proxies accept 8 KiB by default. */
const OWNER_ROUTES: readonly Route[] = (
  [
    ['/revoke', renderRevoke],
    ['/grant', renderGrant],
  ] as const
).map(([path, render]) => ({
  ...chargedPage(path, async (call, notices) =>
    namedPage(await render(call.query, servedChains(call.service), call.service.now(), call.ask), call, notices),
  ),
  maxUrlLength: 8000,
}));

const ROUTES: readonly Route[] = [
  ...[...Map.groupBy(OPERATIONS, ({ path }) => path)].map(operationRoute),
  chargedPage('/', async (call, notices) =>
    namedPage(await renderExplorer(explorerQuery(call), call.ask), call, notices),
  ),
  chargedPage('/wallet.csv', (call) => answerWalletCsv(explorerQuery(call), call)),
  ...OWNER_ROUTES,
  ...[FRONT, ...GROUP_PATHS].map(docsRoute),
  pageRoute('/docs.md', answerDocsMarkdown),
  pageRoute('/llms.txt', ({ request, service }) =>
    documentResponse(withOrigin(llms(), originOf(request, service)), 'text/plain'),
  ),
  pageRoute('/openapi.yaml', () => fixedResponse(openApi.yaml(), { headers: YAML_HEADERS })),
  pageRoute('/status', async ({ service, ask }) => livePage(await renderStatus(ask), service)),
  pageRoute('/developers', answerDevelopers),
  { path: '/archive/{file}', budget: 'page', methods: ['GET'], answer: answerArchive },
  { path: '/mcp', budget: 'keyed', methods: ['POST'], takesBody: true, answer: answerMcp },
  ...DEVELOPER_ROUTES,
  ...[...ASSETS].map(([path, answer]) => pageRoute(path, answer)),
];

const EXACT = new Map(ROUTES.filter(({ path }) => !path.includes('{')).map((route) => [route.path, route]));
/** Routes whose last segments are parameters. */
const TEMPLATES = ROUTES.filter(({ path }) => path.includes('{')).map((route) => {
  const prefix = route.path.slice(0, route.path.indexOf('{'));
  const names = route.path
    .slice(prefix.length)
    .split('/')
    .map((part) => part.slice(1, -1));
  return { route, prefix, names };
});

const NO_PARAMS = {};

export interface Match {
  readonly route: Route;
  readonly path: Readonly<Record<string, string>>;
}

export function findRoute(path: string): Match | null {
  const route = EXACT.get(path);
  if (route !== undefined) return { route, path: NO_PARAMS };
  for (const { route, prefix, names } of TEMPLATES) {
    const values = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : [];
    if (values.length === names.length && !values.includes(''))
      return { route, path: Object.fromEntries(names.map((name, at) => [name, decoded(values[at] as string)])) };
  }
  return null;
}

/** What cannot be decoded is refused by its parameter. */
function decoded(value: string): string {
  try {
    return value.includes('%') ? decodeURIComponent(value) : value;
  } catch {
    return value;
  }
}

/**
 * The answer at a path where nothing is. A page is redirected to its path without the slash at the end: never to another site, as
 * that path is one of ours. The API is not redirected, because some clients then drop the key or the body: the problem names the
 * right path.
 */
export function withoutSlash(path: string, query: string): Response {
  const shorter = path.endsWith('/') ? path.slice(0, -1) : '';
  const route = findRoute(shorter)?.route;
  if (route?.isPage) {
    const location = query === '' ? shorter : `${shorter}?${query}`;
    return new Response(null, { status: 308, headers: { location, 'cache-control': 'no-cache' } });
  }
  const help = route === undefined ? '' : ` There is ${route.path}, without the slash at the end.`;
  throw new Problem('not-found', `No such path.${help} See /docs for all paths.`);
}

const PAGE_PATHS = ROUTES.filter(({ path, isPage }) => isPage && path !== '/' && !ASSETS.has(path)).map(
  ({ path }) => path,
);

/** The page that a misspelt path may mean. */
export const nearestPage = (path: string): string | null => nearest(path.replace(/\/$/, ''), PAGE_PATHS);
