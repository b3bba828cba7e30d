// The API reference as a list of blocks, derived from the declarations of the operations. HTML and Markdown are made from it.

import { BATCH_OPERATION, MAX_BATCH_BYTES, MAX_QUESTIONS, QUESTION_SCHEMA } from '../api/batch-operation.ts';
import { EXAMPLES, type Example } from '../api/examples.ts';
import { describeParam } from '../api/openapi.ts';
import type { OperationBase, ParamUse, RequestBody } from '../api/operation.ts';
import { CHECKS, OPERATIONS } from '../api/operations.ts';
import { PROBLEMS } from '../api/problems.ts';
import { REGISTRY_SEGMENTS } from '../api/registries.ts';
import { answerText } from './samples.ts';

/** Texts can have `code` and [links](/path). */
export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'path'; readonly method: string; readonly path: string }
  | { readonly kind: 'parameters'; readonly rows: readonly Parameter[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly Row[] }
  | Section;

/** What a link of the table of contents leads to. */
export interface Section {
  readonly kind: 'section';
  readonly id: string;
  readonly blocks: readonly Block[];
  readonly examples: readonly ShownExample[];
  /** A page can send its requests. */
  readonly operation?: OperationBase;
}

export interface ShownExample {
  readonly example: Example;
  /** Indented JSON. */
  readonly answer: string;
}

export type AnswerOf = (example: Example) => string;

export interface Parameter {
  readonly name: string;
  readonly isRequired: boolean;
  readonly default: string | null;
  readonly text: string;
}

export interface Row {
  readonly id?: string;
  readonly cells: readonly string[];
}

const heading = (level: 1 | 2 | 3, text: string): Block => ({ kind: 'heading', level, text });
const paragraph = (text: string): Block => ({ kind: 'paragraph', text });
const table = (head: readonly string[], rows: readonly Row[]): Block => ({ kind: 'table', head, rows });

interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The id of the operation whose examples are shown beside it. */
  readonly example?: string;
}

export const GUIDE: readonly Chapter[] = [
  {
    id: 'start',
    title: 'Requests',
    example: CHECKS.any.contract.id,
    paragraphs: [
      'In every operation `from` (or `vault`) is the cold wallet that issued the delegation, and `to` (or `delegate`) is the hot wallet that wants to act. A check answers with the bare value: `true`, `false`, or a balance.',
      'A broader delegation satisfies a narrower check. A delegation of the whole wallet counts for its contracts and tokens, and one of a contract counts for its tokens.',
      'To decide whether a wallet may act, use a check, not a list: a listed delegation may be limited to a right such as “vote”, which only `detail=full` shows. `unrestricted=true` leaves these out.',
      '`rights` takes a right as bytes32 or as text, `text:vote`. In full detail, `rightsText` is the right as text. `rightsName` and `expires` are those of a right that has 24 bytes of name and a 40-bit expiry, which the registry does not enforce.',
      'The query is validated strictly. An unknown, misspelled, repeated or malformed parameter is a 400 that names it, so `chainid=137` is never answered for mainnet. Only `_` and `utm_…` are ignored, and `contract` and `tokenId` on a check that does not need them.',
    ],
  },
  {
    id: 'limits',
    title: 'Rate limit and keys',
    paragraphs: [
      'Without a key the limit is 25 requests in any 10 seconds, v1 and v2 together, unless the operator set another. `RateLimit-Policy` and `RateLimit` on every answer say how many are left, and a 429 has `Retry-After`. On v2 an API key in `X-API-KEY` removes the limit, unless the operator limits keys too. An unknown, malformed, expired or revoked key is a 401.',
    ],
  },
  {
    id: 'time',
    title: 'Points in time',
    paragraphs: [
      'Every operation takes `block=<number>`, `block=finalized` or `timestamp=<Unix seconds, or ISO 8601 with a time zone>` (a date alone is midnight UTC), and answers as of the end of that block, or of the last block up to that time. A point that is not indexed yet is a 503, and one before the first indexed block is a 404. Neither is ever `false`.',
    ],
  },
  {
    id: 'fresh',
    title: 'Freshness and caching',
    paragraphs: [
      '`X-Block-Number`, `X-Block-Hash` and `X-Block-Timestamp` name the block of the answer. If a chain is stale, requests for its head are a 503 with `Retry-After`; finalized blocks are still answered. Send the `ETag` back in `If-None-Match`, and an unchanged answer is a 304.',
    ],
  },
  {
    id: 'lists',
    title: 'Long lists',
    paragraphs: [
      'Anyone can delegate to anyone, so a list can be very long. It is streamed whole, or comes in pages of `limit` delegations with `Link: <…>; rel="next"`. All pages are as of one block. If a reorg replaces that block, the next page is a 409, and a streamed list ends without its closing bracket.',
    ],
  },
  {
    id: 'batch',
    title: 'Many questions at once',
    paragraphs: [
      `\`POST ${BATCH_OPERATION.path}\` answers up to ${MAX_QUESTIONS.toLocaleString('en')} questions of any kind, version and chain, in order. All questions of a chain are answered as of one block. A question that cannot be answered has a \`problem\` instead of a \`result\`, and \`complete\` is then \`false\`. With \`Accept: application/x-ndjson\` the answers are streamed as lines: the last line is \`{"complete":…}\`, or \`{"error":…}\` if a reorg replaced the block meanwhile. A response without either is cut off. Without a key, each question counts as a request.`,
    ],
  },
  {
    id: 'numbers',
    title: 'Large numbers',
    paragraphs: [
      'Token ids and balances are JSON integers with every digit, up to 2^256-1. JavaScript’s `JSON.parse` rounds integers above 2^53: use `numbers=string` there.',
    ],
  },
];

/** The chapters after the operations. */
export const APPENDIX = [
  ['other', 'Other paths'],
  ['problems', 'Problems'],
  ['parser', 'HTTP errors'],
] as const;

const INTRODUCTION: readonly Block[] = [
  heading(1, 'API reference'),
  paragraph(
    'May this hot wallet act for that cold wallet, now or at block N? Every request is a `GET`, but for the batch. Every answer is JSON, and true for the block that its headers name. [OpenAPI 3.1](/openapi.json), [as YAML](/openapi.yaml) · [Networks](/networks) · [This page as Markdown](/docs.md)',
  ),
];

export const anchorOf = ({ id }: OperationBase) => `operation-${id}`;
export const operationsOf = (segment: string): readonly OperationBase[] =>
  OPERATIONS.filter(({ tag }) => tag === segment);

/** A longer one, such as a bytes32, would make the table wider than a phone. */
const MAX_DEFAULT_LENGTH = 20;

function defaultOf(use: ParamUse): string | null {
  if (use.required || use.default === undefined) return null;
  const text = String(use.default);
  return text.length > MAX_DEFAULT_LENGTH ? null : text;
}

const parameters = (operation: OperationBase): Block => ({
  kind: 'parameters',
  rows: Object.entries(operation.params).map(([name, use]) => ({
    name,
    isRequired: use.required,
    default: defaultOf(use),
    text: describeParam(operation, use),
  })),
});

/** The fields of a question in a body. */
const questionFields = ({ description }: RequestBody): readonly Block[] => [
  paragraph(description),
  table(
    ['Field of a question', 'Meaning'],
    Object.entries(QUESTION_SCHEMA.properties).map(([name, field]) => ({ cells: [`\`${name}\``, field.description] })),
  ),
];

const shown = (examples: readonly Example[], answerOf: AnswerOf): readonly ShownExample[] =>
  examples.map((example) => ({ example, answer: answerOf(example) }));

const textSection = (id: string, blocks: readonly Block[], examples: readonly ShownExample[] = []): Section => ({
  kind: 'section',
  id,
  blocks,
  examples,
});

const operationSection = (operation: OperationBase, answerOf: AnswerOf): Section => ({
  kind: 'section',
  id: anchorOf(operation),
  blocks: [
    heading(3, operation.summary),
    { kind: 'path', method: operation.method, path: operation.path },
    paragraph(operation.description),
    ...(operation.requestBody === undefined ? [] : questionFields(operation.requestBody)),
    parameters(operation),
  ],
  examples: shown(
    EXAMPLES.filter((one) => one.operation === operation.id),
    answerOf,
  ),
  operation,
});

/** What the HTTP server answers before the API. A test sends each of them. */
const PARSER: readonly (readonly [string, string])[] = [
  ['400', 'Malformed HTTP: a broken request line or header, an invalid length, HTTP/1.1 without a Host.'],
  ['413', `A body of more than ${MAX_BATCH_BYTES / 1024 / 1024} MiB.`],
  ['431', 'More than 16 KiB of headers (with the URL), or more than 200 headers.'],
  ['505', 'A version other than HTTP/1.0 or 1.1, or a space in the URL.'],
  ['closed', 'An unknown method, or headers that are not complete within about ten seconds.'],
];

const appendix = (wanted: (typeof APPENDIX)[number][0], blocks: readonly Block[]): Section =>
  textSection(wanted, [heading(2, APPENDIX.find(([id]) => id === wanted)?.[1] ?? ''), ...blocks]);

const otherPaths = () =>
  appendix('other', [
    table(
      ['Path', 'Meaning'],
      operationsOf('status').map(({ path, summary, description }) => ({
        cells: [`\`${path}\``, `${summary}. ${description}`],
      })),
    ),
  ]);

const problems = () =>
  appendix('problems', [
    paragraph(
      'Errors are `application/problem+json` (RFC 9457) with `type`, `title`, `status` and `detail`. If parameters are rejected, `errors` lists all of them. A 429 or 503 has `Retry-After`.',
    ),
    table(
      ['Status and type', 'Meaning'],
      Object.entries(PROBLEMS).map(([type, { status, title, help }]) => ({
        id: `problem-${type}`,
        cells: [`${status} \`${type}\``, `${title}. ${help}`],
      })),
    ),
  ]);

const parser = () =>
  appendix('parser', [
    paragraph('Malformed HTTP does not reach the API. The response has an empty body, and the connection is closed.'),
    table(
      ['Status', 'Meaning'],
      PARSER.map((cells) => ({ cells })),
    ),
  ]);

export const apiReference = (answerOf: AnswerOf = answerText): readonly Block[] => [
  ...INTRODUCTION,
  ...GUIDE.map(({ id, title, paragraphs, example }) =>
    textSection(
      id,
      [heading(2, title), ...paragraphs.map(paragraph)],
      shown(
        EXAMPLES.filter((one) => one.operation === example),
        answerOf,
      ),
    ),
  ),
  ...REGISTRY_SEGMENTS.flatMap((segment) => [
    heading(2, `/registry/${segment}`),
    ...operationsOf(segment).map((operation) => operationSection(operation, answerOf)),
  ]),
  otherPaths(),
  problems(),
  parser(),
];
