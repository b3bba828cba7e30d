// The OpenAPI document, made from the tables that also route and validate: it cannot say what the code does not do.

import { version } from '../../package.json' with { type: 'json' };
import { EXAMPLES, type Example } from './examples.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import * as p from './params.ts';
import { PROBLEMS, type ProblemType } from './problems.ts';

type Json = Readonly<Record<string, unknown>>;

const ref = (kind: 'schemas' | 'responses' | 'headers', name: string) => ({ $ref: `#/components/${kind}/${name}` });
const object = (properties: Json, more: Json = {}): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
});
const nullable = (schema: Json): Json => ({ oneOf: [schema, { type: 'null' }] });
const ADDRESS = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'With its EIP-55 checksum.' };
const BYTES32 = { type: 'string', pattern: '^0x[0-9a-f]{64}$' };
const BLOCK_NUMBER = { type: 'integer', minimum: 0 };
const UNIX_SECONDS = { type: 'integer', description: 'Unix seconds.' };
/** A uint256: every digit counts, so readers that know only floats ask for strings. */
const UINT256 = {
  oneOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^[0-9]{1,78}$' },
  ],
};

const TYPE = { type: 'string', enum: ['NONE', 'ALL', 'CONTRACT', 'TOKEN'] };
const TARGET = { contract: nullable(ADDRESS), tokenId: nullable(UINT256) };
const DETAIL = {
  standard: nullable({ type: 'string', enum: ['ERC721', 'ERC20', 'ERC1155'] }),
  rights: nullable(BYTES32),
  amount: nullable(UINT256),
  chainId: { type: 'integer' },
  since: object({
    block: BLOCK_NUMBER,
    timestamp: UNIX_SECONDS,
    transactionHash: BYTES32,
    logIndex: { type: 'integer', minimum: 0 },
  }),
};

/** The members of a record. With `detail=full` it has those of DETAIL too. */
const record = (wallets: Json): Json => {
  const basic = { type: TYPE, ...wallets, ...TARGET };
  return object({ ...basic, ...DETAIL }, { required: Object.keys(basic) });
};

const SCHEMAS: Json = {
  DelegationV1: record({ delegate: ADDRESS, vault: ADDRESS }),
  DelegationV2: record({ from: ADDRESS, to: ADDRESS }),
  Balance: { ...UINT256, description: 'A whole number with every digit, or with `numbers=string` its decimal text.' },
  Block: object({ number: BLOCK_NUMBER, hash: nullable(BYTES32), timestamp: nullable(UNIX_SECONDS) }),
  Network: object({
    chainId: { type: 'integer' },
    name: { type: 'string' },
    testnet: { type: 'boolean' },
    registries: object({ v1: nullable(ADDRESS), v2: nullable(ADDRESS) }),
    ready: { type: 'boolean', description: 'Whether questions about its head are answered now.' },
    firstBlock: nullable(BLOCK_NUMBER),
    partial: nullable({
      type: 'boolean',
      description: 'Whether the registries may be older than the first block: what was granted before is unknown here.',
    }),
    head: nullable(ref('schemas', 'Block')),
    finalizedBlock: nullable(BLOCK_NUMBER),
    confirmedBlock: nullable({
      ...BLOCK_NUMBER,
      description: 'Up to here, history was compared with a second provider.',
    }),
    chainBlock: nullable({ ...BLOCK_NUMBER, description: 'The newest block that the chain was seen to have.' }),
    progress: nullable(
      object(
        {
          share: { type: 'number', description: 'Of the history, from 0 to 1.' },
          logsPerSecond: { type: 'number' },
          secondsLeft: nullable({ type: 'number' }),
          audited: { type: 'integer', description: 'Final blocks that were compared with the chain again.' },
          compared: { type: 'integer', description: "The registry's own answers that were compared with ours." },
          providers: { type: 'array', items: object({ name: { type: 'string' }, healthy: { type: 'boolean' } }) },
        },
        { description: 'Where the process that answers also follows.' },
      ),
    ),
    halt: nullable(
      object(
        {
          code: {
            type: 'string',
            enum: ['finality-violation', 'registry-mismatch', 'index-mismatch', 'import-unfinished'],
          },
          since: { type: 'integer', description: 'Unix seconds.' },
          cause: { type: 'string' },
          help: { type: 'string', description: 'What clears it.' },
        },
        { description: 'Why the chain is halted.' },
      ),
    ),
    lagSeconds: nullable({ type: 'number', description: 'How old what is indexed may be.' }),
    maxLagSeconds: { type: 'number', description: 'Beyond this age the chain answers 503.' },
    clockBehindSeconds: {
      type: 'number',
      description: 'By how much the clock of the machine that answers is behind the chain; 0 while it can be right.',
    },
  }),
  Problem: object(
    {
      type: { type: 'string', enum: Object.keys(PROBLEMS).map((type) => `/docs#problem-${type}`) },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      errors: {
        type: 'array',
        items: object({ parameter: { type: 'string' }, detail: { type: 'string' } }),
      },
    },
    { required: ['type', 'title', 'status', 'detail'], description: 'RFC 9457.' },
  ),
};

const header = (description: string, schema: Json): Json => ({ description, schema });
const HEADERS: Json = {
  'X-Block-Number': header('The block that the answer is true for.', BLOCK_NUMBER),
  'X-Block-Hash': header('Its hash, where it is kept.', BYTES32),
  'X-Block-Timestamp': header('Its time, where it is kept.', UNIX_SECONDS),
  'X-As-Of-Timestamp': header('The time that was asked for.', UNIX_SECONDS),
  'X-Indexed-From': header(
    'Only where the registries may be older than what is indexed: the first indexed block. What was granted before it is unknown.',
    BLOCK_NUMBER,
  ),
  ETag: header('A changed answer never keeps its tag; an unchanged one may.', { type: 'string' }),
  'Cache-Control': header("Never beyond the chain's next block.", { type: 'string' }),
};
const LINK: Json = {
  Link: header('The next page, with rel="next", relative to the address that was asked.', { type: 'string' }),
};

const problemsOf = (status: number) =>
  (Object.keys(PROBLEMS) as ProblemType[]).filter((type) => PROBLEMS[type].status === status);

const problemResponse = (status: number): Json => ({
  description: problemsOf(status)
    .map((type) => `\`${type}\`: ${PROBLEMS[type].title}.`)
    .join(' '),
  ...(status === 503 || status === 429
    ? { headers: { 'Retry-After': header('Seconds until asking again may help.', { type: 'integer' }) } }
    : {}),
  content: { 'application/problem+json': { schema: ref('schemas', 'Problem') } },
});

const LIMIT_HEADERS: Json = {
  'RateLimit-Policy': header('Without a key: the limit, as `"anon";q=25;w=10`.', { type: 'string' }),
  RateLimit: header('Without a key: how many requests are left, and in how many seconds one more is.', {
    type: 'string',
  }),
};
const STATUSES = [...new Set(Object.values(PROBLEMS).map(({ status }) => status as number))];
const responseName = (status: number) => `Problem${status}`;

/** An example's place in the document, with the request that the tests send. */
const exampleOf = ({ summary, request, answer }: Example): Json => ({ summary, 'x-request': request, value: answer });

function examplesOf(operation: Operation, status: number): Json {
  const fitting = EXAMPLES.filter(
    (one) =>
      one.operation === operation.id && (one.problem === undefined ? 200 : PROBLEMS[one.problem].status) === status,
  );
  if (fitting.length === 0) return {};
  return { examples: Object.fromEntries(fitting.map((one, position) => [`example${position + 1}`, exampleOf(one)])) };
}

function answerSchema(operation: Operation): Json {
  const delegations = { type: 'array', items: ref('schemas', `DelegationV${operation.version}`) };
  if (operation.kind === 'list') return delegations;
  const value =
    operation.scope === 'erc20' || operation.scope === 'erc1155' ? ref('schemas', 'Balance') : { type: 'boolean' };
  const explanation = object({ result: value, delegations, block: ref('schemas', 'Block') });
  return { oneOf: [value, { ...explanation, description: 'With `explain=true`.' }] };
}

const SYNONYMS: ReadonlySet<p.Param<unknown>> = new Set([p.to, p.from, p.delegate, p.vault]);

function parameterOf(param: p.Param<unknown>, operation: Operation): Json {
  const place = param === p.wallet ? 'path' : 'query';
  // v2 knows the pair by two sets of names, and one of them is enough.
  const either = operation.version === 2 && operation.kind === 'check' && SYNONYMS.has(param);
  const other = param === p.to || param === p.from ? '`delegate` and `vault`' : '`to` and `from`';
  return {
    name: param.name,
    in: place,
    required: operation.required.includes(param) && !either,
    description: either ? `${param.description} Required, unless ${other} are given.` : param.description,
    schema: param.schema,
    ...(operation.required.includes(param) ? { example: param.example } : {}),
  };
}

function pathItem(operation: Operation): Json {
  const problems = STATUSES.map((status) => {
    const examples = examplesOf(operation, status);
    const shared = ref('responses', responseName(status));
    const own = problemResponse(status);
    const content = { 'application/problem+json': { schema: ref('schemas', 'Problem'), ...examples } };
    return [String(status), Object.keys(examples).length === 0 ? shared : { ...own, content }];
  });
  const names = Object.keys({ ...HEADERS, ...LIMIT_HEADERS });
  const headers = Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
  return {
    get: {
      operationId: operation.id,
      tags: [`v${operation.version}`],
      // With a key or without one; v1 knows no keys.
      ...(operation.version === 2 ? { security: [{}, { key: [] }] } : {}),
      summary: operation.summary,
      description: operation.description,
      parameters: [...operation.required, ...operation.optional].map((param) => parameterOf(param, operation)),
      responses: {
        200: {
          description: operation.kind === 'list' ? 'The delegations.' : 'The value, and nothing around it.',
          headers: operation.kind === 'list' ? { ...headers, ...LINK } : headers,
          content: { 'application/json': { schema: answerSchema(operation), ...examplesOf(operation, 200) } },
        },
        304: { description: 'The answer is the one that `If-None-Match` names.' },
        ...Object.fromEntries(problems),
      },
    },
  };
}

function statusPath(id: string, summary: string, description: string, schema: Json, more: Json = {}): Json {
  return {
    get: {
      operationId: id,
      tags: ['status'],
      summary,
      responses: {
        200: { description, content: { 'application/json': { schema } } },
        405: ref('responses', responseName(405)),
        ...more,
      },
    },
  };
}

/** The whole document. */
export const openApi = (): Json => ({
  openapi: '3.1.0',
  info: {
    title: 'Delegations',
    version,
    summary: 'May this hot wallet act for that cold wallet, here, now or at block N?',
    description:
      'Read-only, over the two public delegation registries. Every answer names the block that it is true for; what cannot be answered for certain is refused with a problem.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This service' }],
  security: [],
  tags: [
    { name: 'v2', description: 'The v2 registry.' },
    { name: 'v1', description: 'The v1 registry.' },
    { name: 'status', description: 'How the service stands.' },
  ],
  paths: {
    ...Object.fromEntries(OPERATIONS.map((operation) => [operation.path, pathItem(operation)])),
    '/networks': statusPath('networks', 'The served chains and how far each is', 'Every served chain.', {
      type: 'array',
      items: ref('schemas', 'Network'),
    }),
    '/health': statusPath(
      'health',
      'Whether the process is alive',
      'It is.',
      object({ status: { type: 'string', const: 'ok' } }),
    ),
    '/ready': statusPath(
      'ready',
      'Whether the store and at least one chain answer',
      'They do.',
      object({
        status: { type: 'string', const: 'ready' },
        chainIds: { type: 'array', items: { type: 'integer' } },
      }),
      { 503: ref('responses', responseName(503)) },
    ),
  },
  components: {
    schemas: SCHEMAS,
    headers: { ...HEADERS, ...LIMIT_HEADERS },
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-API-KEY', description: 'Removes the limit. From the operator.' },
    },
    responses: Object.fromEntries(STATUSES.map((status) => [responseName(status), problemResponse(status)])),
  },
});

/** As it is committed and served. */
export const openApiText = () => `${JSON.stringify(openApi(), null, 2)}\n`;
