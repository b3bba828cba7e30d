// Every response of every operation validates against the OpenAPI document: its status, its body and its headers.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import { MAX_BATCH_BYTES } from '../src/api/batch-operation.ts';
import { EXAMPLE_DELEGATIONS } from '../src/api/examples.ts';
import { openApi } from '../src/api/openapi.ts';
import { requiredParams } from '../src/api/operation.ts';
import { OPERATIONS, type Operation } from '../src/api/operations.ts';
import type { TokenReader } from '../src/chain/tokens/token-reader.ts';
import { createLimiter } from '../src/http/limits/limiter.ts';
import { type App, type AppOptions, createApp } from '../src/http/server/app.ts';
import { StoreError } from '../src/store/errors.ts';
import { openStore } from '../src/store/open.ts';
import type { BlockInput, Store } from '../src/store/store.ts';
import { temporaryPath } from './support/engines.ts';
import {
  address,
  block,
  COLD,
  CONTRACT,
  GOOD_VALUES,
  granted,
  HOT,
  KEY_RECORD,
  revocation,
  timeOf,
} from './support/fixtures.ts';
import { admissionOf, BAD_TOKEN_ID, serviceOf, tokensOf } from './support/serving.ts';

interface Documented {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Documented>> }>>>
  >;
  readonly components: { readonly headers: Readonly<Record<string, { readonly schema: object }>> };
}

const DOCUMENT = openApi() as unknown as Document;
const ajv = new Ajv2020({ strict: true, allErrors: true, validateFormats: false });
ajv.addVocabulary(['components', 'x-request', 'x-request-body']);
ajv.addSchema({ $id: 'openapi', components: (DOCUMENT as { components: object }).components });

const compiled = new Map<string, ValidateFunction>();

/** References in a part of the document lead to the document. */
function compile(schema: object): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, validate);
  return validate;
}

/** Headers of every HTTP response, which the document does not list. */
const TRANSPORT = /^(content-type|content-length|connection|date|access-control-.*|x-content-type-options)$/;
/** So is compression. */
const isTransport = (name: string, value: string) =>
  TRANSPORT.test(name) || (name === 'vary' && value === 'Accept-Encoding');

const documentedResponses = ({ path, method }: Operation) =>
  DOCUMENT.paths[path]?.[method.toLowerCase()]?.responses ?? {};

/** What the document says about a response that it does not hold; null for a response that fits. */
async function misfit(operation: Operation, response: Response): Promise<string | null> {
  const documented = documentedResponses(operation)[response.status];
  if (documented === undefined) return `status ${response.status} is not documented`;
  for (const [name, value] of response.headers) {
    if (isTransport(name, value)) continue;
    const known = Object.keys(documented.headers).find((one) => one.toLowerCase() === name);
    if (known === undefined) return `header ${name} is not documented for ${response.status}`;
    const { schema } = DOCUMENT.components.headers[known] as { schema: { type?: string } };
    if (!compile(schema)(schema.type === 'integer' ? Number(value) : value)) return `header ${name}: ${value}`;
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const body = await response.text();
  if (documented.content === undefined) return body === '' ? null : 'a body where there should be none';
  const schema = documented.content[type]?.schema;
  if (schema === undefined) return `content type ${type} is not documented`;
  const validate = compile(schema);
  for (const value of type === 'application/x-ndjson' ? body.trimEnd().split('\n') : [body])
    if (!validate(JSON.parse(value))) return `${value.slice(0, 200)}: ${ajv.errorsText(validate.errors)}`;
  return null;
}

let store: Store;
/** With a revocation that is not resolved. */
let unresolved: Store;
let backfilling: Store;
let halted: Store;

/** A store of chain 1 that has indexed blocks 100 to 105. */
async function indexed(name: string, blocks: readonly BlockInput[], progress: Parameters<Store['report']>[2] = {}) {
  const opened = await openStore(`sqlite:${temporaryPath(name)}`);
  const { epoch } = await opened.claim(1, 100);
  await opened.apply({ chainId: 1, epoch, after: null, blocks, head: block(105), verified: 101 });
  await opened.report(1, epoch, progress);
  return opened;
}

beforeAll(async () => {
  const tokens = Array.from({ length: 5 }, (_, id) => granted('ERC721', { tokenId: BigInt(id) }));
  const v1 = [granted('ALL', { version: 1 }), granted('TOKEN', {})];
  const examples = EXAMPLE_DELEGATIONS.map((delegation) => ({ type: 'granted', delegation }) as const);
  // Two vaults and two delegates, so that there is a second page.
  const others = [
    granted('ALL', { from: address(9) }),
    ...[2, 3].map((to) => granted('ALL', { from: HOT, to: address(to) })),
    ...[COLD, address(9)].map((from) => granted('ALL', { from, rights: `0x${'0'.repeat(54)}ffffffffff` })),
  ];
  const all = [...examples, ...tokens, ...v1, ...others, granted('ERC20'), granted('ERC1155')];
  store = await indexed('openapi.db', [block(100, all)], { partial: true });
  unresolved = await indexed('unresolved.db', [block(100, v1), revocation(101)]);
  backfilling = await indexed('backfilling.db', [block(100)], { tip: 5000 });
  halted = await indexed('halted.db', [block(100)], { halt: { code: 'registry-mismatch', since: 1, block: 9 } });
});
afterAll(async () => {
  for (const one of [store, unresolved, backfilling, halted]) await one.close();
});

const gateOf = (limit: number, isActive = false) =>
  admissionOf(limit, {
    lookups: createLimiter({ most: 100, seconds: 10 }),
    keys: {
      known: () => (isActive ? KEY_RECORD : null),
      found: () => null,
      isFamiliar: () => true,
      lookUp: async () => false,
    },
  });

const appAt = (of: Store, now: number, more: Partial<AppOptions> = {}): App =>
  createApp(serviceOf(of, now, { chainIds: new Set([1, 10]), tokens: tokensOf(COLD), ...more }));

/** A request of an operation with its required parameters. */
function requestOf(operation: Operation, more = '', init: RequestInit = {}): Request {
  const query = requiredParams(operation)
    .filter((name) => !operation.path.includes(`{${name}}`) && !more.startsWith(`${name}=`))
    .map((name) => `${name}=${GOOD_VALUES[name]}`);
  const target = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => GOOD_VALUES[name] ?? HOT);
  const sent = operation.method === 'POST' ? batchInit(operation, init) : init;
  return new Request(`http://localhost${target}?${[...query, ...(more === '' ? [] : [more])].join('&')}`, sent);
}

const GOOD_QUESTION = { from: COLD, to: HOT, contract: CONTRACT, tokenId: '7' };
/** Questions of every kind. */
const QUESTIONS = [
  ...['all', 'contract', 'erc721', 'erc20', 'erc1155'].map((check) => ({ ...GOOD_QUESTION, check })),
  { ...GOOD_QUESTION, check: 'token', version: 1 },
];

/** What a vote asks about. */
const VOTES = { options: GOOD_VALUES, network: '1', snapshot: 'latest', addresses: [HOT] };

function batchInit({ kind }: Operation, init: RequestInit): RequestInit {
  if (init.method === 'GET') return init;
  const bodies: Readonly<Partial<Record<string, object>>> = { batch: { questions: QUESTIONS }, votes: VOTES };
  const body = JSON.stringify(bodies[kind] ?? { wallets: [HOT, COLD, '0x12'] });
  return { method: 'POST', body, ...init, headers: { 'content-type': 'application/json', ...init.headers } };
}

const READS = ['check', 'checkMany', 'explain', 'list', 'listNow', 'pin', 'chains', 'chain', 'blockAt', 'changes'];
const failing = (error: Error): Store =>
  new Proxy(store, {
    get: (target, name) => (READS.includes(String(name)) ? () => Promise.reject(error) : Reflect.get(target, name)),
  });

/** Each response of an operation that can be had, by what is asked. */
async function responsesOf(operation: Operation): Promise<[string, Response][]> {
  const found: [string, Response][] = [];
  const ask = async (what: string, app: App, request: Request) => {
    const response = await app.fetch(request);
    // Read at once: an answer that is still being sent may keep its caller from the next one.
    const text = await response.text();
    const { status, headers } = response;
    found.push([what, new Response(text === '' ? null : text, { status, headers })]);
    return response;
  };
  const now = timeOf(105);
  const app = appAt(store, now, { admission: gateOf(1000), sandbox: true });
  const first = await ask('required parameters', app, requestOf(operation));
  const etag = first.headers.get('etag');
  if (etag !== null) await ask('if-none-match', app, requestOf(operation, '', { headers: { 'if-none-match': etag } }));
  for (const more of [
    'numbers=string',
    'explain=true',
    'explain=true&numbers=string',
    'detail=full',
    'detail=full&numbers=string',
    'limit=1',
    'tokenId=7',
    `tokenId=${BAD_TOKEN_ID}`,
    'block=101',
    'block=finalized',
    `timestamp=${timeOf(101)}`,
    'chainid=1',
    'block=x',
    'chainId=137',
    'chainId=10',
    'block=99',
    'block=999',
    'snapshot=101',
    'snapshot=99',
    'snapshot=999',
    'limit=1&cursor=AAAAAAAAAA',
    `${'x'.repeat(9000)}=1`,
  ])
    await ask(more.slice(0, 40), app, requestOf(operation, more));
  const otherMethod = ['POST', 'GET', 'PUT'].find(
    (one) => !(one.toLowerCase() in (DOCUMENT.paths[operation.path] ?? {})),
  ) as string;
  await ask(otherMethod, app, requestOf(operation, '', { method: otherMethod }));
  if (operation.method === 'POST') await askBatches(operation, app, ask);
  const balances: TokenReader['balances'] = async () => ({ type: 'not-a-token', cause: 'reverted' });
  await ask('no token', appAt(store, now, { tokens: { ...tokensOf(COLD), balances } }), requestOf(operation));
  await ask('an invalid key', app, requestOf(operation, '', { headers: { 'x-api-key': 'dk_nonsense' } }));
  const keyed = appAt(store, now, { admission: gateOf(1000, true) });
  await ask('an active key', keyed, requestOf(operation, '', { headers: { 'x-api-key': 'dk_active' } }));
  const limited = appAt(store, now, { admission: gateOf(1) });
  for (const turn of [1, 2]) await ask(`limited, ${turn}`, limited, requestOf(operation));
  const two = requestOf(operation, `addresses=${HOT},${HOT}`);
  await ask('more than the limit', appAt(store, now, { admission: gateOf(1) }), two);
  await ask('stale', appAt(store, now + 1000), requestOf(operation));
  await ask('clock behind', appAt(store, now - 1000), requestOf(operation));
  await ask('revocation not resolved', appAt(unresolved, now), requestOf(operation));
  await ask('backfilling', appAt(backfilling, now + 1000), requestOf(operation));
  await ask('halted', appAt(halted, now), requestOf(operation));
  const cursor = /[?&]cursor=([\w-]+)/.exec(
    (await app.fetch(requestOf(operation, 'limit=1'))).headers.get('link') ?? '',
  )?.[1];
  const page = `limit=1&cursor=${cursor}`;
  if (cursor !== undefined)
    await ask('a cursor of another history', appAt(backfilling, now), requestOf(operation, page));
  await ask('database unavailable', appAt(failing(new StoreError('unavailable', 'away')), now), requestOf(operation));
  await ask('failure', appAt(failing(new Error('broken')), now), requestOf(operation));
  return found;
}

/** What only the bodies of a batch can have. */
async function askBatches(
  operation: Operation,
  app: App,
  ask: (what: string, app: App, request: Request) => Promise<Response>,
) {
  const send = (what: string, body: string | ReadableStream, headers: Record<string, string> = {}, of = app) =>
    ask(what, of, requestOf(operation, '', { body, headers }));
  const some = [...QUESTIONS, { ...GOOD_QUESTION, check: 'all', chainId: 10 }, { chainId: 137 }, 5];
  for (const accept of operation.kind === 'batch' ? ['application/json', 'application/x-ndjson'] : [])
    await send(`refused questions as ${accept}`, JSON.stringify({ questions: some }), { accept });
  for (const snapshot of operation.kind === 'votes' ? [99, 101, 999] : [])
    await send(`snapshot ${snapshot}`, JSON.stringify({ ...VOTES, snapshot }));
  await send('no JSON', 'x');
  await send('a large body', ' '.repeat(MAX_BATCH_BYTES + 1));
  await send('a form', 'x=1', { 'content-type': 'application/x-www-form-urlencoded' });
  await send('a slow body', new ReadableStream({}), {}, appAt(store, timeOf(105), { answerTimeout: 0.01 }));
}

describe('the OpenAPI document has every response of', () => {
  for (const operation of OPERATIONS) {
    test(operation.path, async () => {
      const statuses = new Set<number>();
      for (const [what, response] of await responsesOf(operation)) {
        statuses.add(response.status);
        expect([what, await misfit(operation, response)]).toEqual([what, null]);
      }
      const documented = Object.keys(documentedResponses(operation)).map(Number);
      // And none that cannot be had. A failure of these three cannot be provoked from here.
      const cannotFail = ['health', 'ready', 'openapi'].includes(operation.kind);
      expect(documented.filter((status) => !statuses.has(status))).toEqual(cannotFail ? [500] : []);
    });
  }
});

test('a response with a field that the document lacks does not validate', async () => {
  const networks = OPERATIONS.find(({ kind }) => kind === 'networks') as Operation;
  const response = await appAt(store, timeOf(105)).fetch(requestOf(networks));
  const [first] = (await response.json()) as object[];
  const altered = new Response(JSON.stringify([{ ...first, extra: 1 }]), response);
  expect(await misfit(networks, altered)).toContain('additional properties');
});
