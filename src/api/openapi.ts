// Makes the OpenAPI document from the declarations of the operations.

import { version } from '../../package.json' with { type: 'json' };
import { EXAMPLES, type Example } from './examples.ts';
import { HEADERS, type HeaderName } from './headers.ts';
import type { Budget, OperationBase, ParamUse } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { hasRetryAfter, PROBLEM_TYPES, PROBLEMS, type ProblemType, problemUri } from './problems.ts';
import { REGISTRY_SEGMENTS } from './registries.ts';
import { anyOf, type Fields, type JsonSchema, literal, named, object, type Shape, string } from './shape.ts';

/** Problems of every operation. */
const COMMON_PROBLEMS = ['method-not-allowed', 'uri-too-long', 'internal'] as const satisfies readonly ProblemType[];
/** Problems of an operation that come from its limit and key. */
const BUDGET_PROBLEMS: Readonly<Record<Budget, readonly ProblemType[]>> = {
  keyed: ['bad-key', 'too-many-requests', 'not-ready'],
  anonymous: ['too-many-requests'],
  page: ['too-many-requests'],
  lookup: ['too-many-requests'],
  free: [],
};

const problemName = (type: ProblemType) =>
  `${type.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())}Problem`;

function problemShape(type: ProblemType): Shape<unknown> {
  const row: { readonly status: number; readonly fields?: Fields } = PROBLEMS[type];
  const common = { type: literal(problemUri(type)), title: string, status: literal(row.status), detail: string };
  return named(problemName(type), object({ ...common, ...row.fields }));
}

/** The problems that an operation can answer with, by status. */
function problemsByStatus({ problems, budget }: OperationBase): Map<number, ProblemType[]> {
  const all = new Set([...problems, ...BUDGET_PROBLEMS[budget], ...COMMON_PROBLEMS]);
  return Map.groupBy(
    PROBLEM_TYPES.filter((type) => all.has(type)),
    (type) => PROBLEMS[type].status,
  );
}

const headerRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers that any answer of an operation can have. */
const commonHeaders = ({ budget }: OperationBase): HeaderName[] => [
  'Cache-Control',
  ...(budget === 'free' ? [] : (['RateLimit-Policy', 'RateLimit'] as const)),
  'X-Request-Id',
  'X-Sandbox',
];

const problemHeaders = (status: number): HeaderName[] => [
  ...(hasRetryAfter(status) ? (['Retry-After'] as const) : []),
  ...(status === PROBLEMS['bad-key'].status ? (['WWW-Authenticate'] as const) : []),
  ...(status === PROBLEMS['method-not-allowed'].status ? (['Allow'] as const) : []),
];

function examplesOf({ id }: OperationBase, status: number): JsonSchema {
  const statusOf = ({ problem }: Example) => (problem === undefined ? 200 : PROBLEMS[problem].status);
  const examples = EXAMPLES.filter((one) => one.operation === id && statusOf(one) === status).map(
    // The tests send each x-request.
    ({ summary, request, body, answer }, index) => [
      `example${index + 1}`,
      { summary, 'x-request': request, 'x-request-body': body, value: answer },
    ],
  );
  return { examples: examples.length === 0 ? undefined : Object.fromEntries(examples) };
}

function problemResponse(operation: OperationBase, [status, types]: [number, readonly ProblemType[]]) {
  const { schema } = anyOf(...types.map(problemShape));
  const response: JsonSchema = {
    description: types.map((type) => `\`${type}\`: ${PROBLEMS[type].title}.`).join(' '),
    headers: headerRefs([...problemHeaders(status), ...commonHeaders(operation)]),
    content: { 'application/problem+json': { schema, ...examplesOf(operation, status) } },
  };
  return [status, response] as const;
}

/** What a parameter means, with its synonym if it has one. */
export function describeParam({ params }: OperationBase, { param, ...use }: ParamUse): string {
  if (!('synonym' in use)) return param.description;
  const pairs = Object.entries(params).flatMap(([name, one]) => ('synonym' in one ? [[name, one.synonym]] : []));
  const list = (column: 0 | 1) => pairs.map((pair) => `\`${pair[column]}\``).join(' and ');
  return `${param.description} The API also accepts ${list(1)} instead of ${list(0)}.`;
}

const parameter = (operation: OperationBase, name: string, use: ParamUse): JsonSchema => ({
  name,
  in: use.in,
  required: use.required,
  description: describeParam(operation, use),
  schema: { ...use.param.schema, default: use.required ? undefined : (use.default ?? use.param.schema['default']) },
  example: use.required ? use.param.example : undefined,
});

const LAST_EVENT_ID: JsonSchema = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'With `Accept: text/event-stream`: the id of the last event that was received, instead of `cursor`.',
  schema: { type: 'string' },
};

const contentOf = (shapes: Readonly<Record<string, Shape<unknown>>>): JsonSchema =>
  Object.fromEntries(Object.entries(shapes).map(([type, { schema }]) => [type, { schema }]));

function pathItem(operation: OperationBase): JsonSchema {
  const { id, method, tag, summary, description, params, requestBody, answer, budget } = operation;
  const varies: readonly HeaderName[] = budget === 'keyed' ? ['Vary'] : [];
  const headers = headerRefs([...answer.headers, ...varies, ...commonHeaders(operation)]);
  return {
    [method.toLowerCase()]: {
      operationId: id,
      tags: [tag],
      // With a key or without one.
      security: budget === 'keyed' ? [{}, { key: [] }] : undefined,
      summary,
      description,
      parameters: [
        ...Object.entries(params).map(([name, use]) => parameter(operation, name, use)),
        ...(answer.event === undefined ? [] : [LAST_EVENT_ID]),
      ],
      requestBody: requestBody && {
        description: requestBody.description,
        required: true,
        content: contentOf(requestBody.content),
      },
      responses: {
        200: {
          description: answer.description,
          headers,
          content: {
            'application/json': { schema: answer.body.schema, ...examplesOf(operation, 200) },
            'application/x-ndjson': answer.line && { schema: answer.line.schema },
            'text/event-stream': answer.event && { schema: answer.event.schema },
          },
        },
        304: answer.hasETag ? { description: 'Not modified since the ETag in `If-None-Match`.', headers } : undefined,
        ...Object.fromEntries([...problemsByStatus(operation)].map((problems) => problemResponse(operation, problems))),
      },
    },
  };
}

/** Every schema that a request or a response refers to. */
function schemas(): JsonSchema {
  const problems = new Set(OPERATIONS.flatMap((operation) => [...problemsByStatus(operation).values()].flat()));
  const shapes = [...(OPERATIONS as readonly OperationBase[]).flatMap(shapesOf), ...[...problems].map(problemShape)];
  return Object.assign({}, ...shapes.map(({ definitions }) => definitions));
}

const shapesOf = ({ requestBody, answer: { body, line, event } }: OperationBase): Shape<unknown>[] =>
  [...Object.values(requestBody?.content ?? {}), body, line, event].filter((shape) => shape !== undefined);

/** What the service is, in one question and three sentences. */
export const API_INFO = {
  title: 'Delegations',
  version,
  summary: 'May this hot wallet act for that cold wallet, now or at block N?',
  description:
    'Read-only access to the two public delegation registries. Every answer names the block that it is true for. If the service cannot be certain, it answers with a problem.',
} as const;

const document = (): JsonSchema => ({
  openapi: '3.1.0',
  info: { ...API_INFO, license: { name: 'MIT', identifier: 'MIT' } },
  servers: [{ url: '/', description: 'This service' }],
  security: [],
  tags: [
    ...REGISTRY_SEGMENTS.map((name) => ({
      name,
      description: name === 'any' ? 'Both registries: a grant in either counts.' : `The ${name} registry.`,
    })),
    { name: 'status', description: 'The status of the service.' },
  ],
  paths: Object.fromEntries(
    [...Map.groupBy(OPERATIONS, ({ path }) => path)].map(([path, operations]) => [
      path,
      Object.assign({}, ...operations.map(pathItem)),
    ]),
  ),
  components: {
    schemas: schemas(),
    headers: Object.fromEntries(
      Object.entries(HEADERS).map(([name, { description, shape }]) => [name, { description, schema: shape.schema }]),
    ),
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-API-KEY', description: 'Removes the rate limit. See /developers.' },
    },
  },
});

/** As it is committed and served. JSON leaves out what is undefined. */
export const openApiText = () => `${JSON.stringify(document(), null, 2)}\n`;

export const openApi = (): JsonSchema => JSON.parse(openApiText());

/** The same document as YAML. */
export const openApiYaml = () => `${Bun.YAML.stringify(openApi(), null, 2)}\n`;
