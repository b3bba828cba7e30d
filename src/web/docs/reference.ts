// The API reference as a list of blocks, derived from the declarations of the operations. HTML and Markdown are made from it.

import { BATCH_OPERATION, MAX_BATCH_BYTES, QUESTION_SCHEMA } from '../../api/batch-operation.ts';
import { EXAMPLES, type Example } from '../../api/examples.ts';
import { describeParam } from '../../api/openapi.ts';
import type { OperationBase, ParamUse, RequestBody } from '../../api/operation.ts';
import { OPERATIONS } from '../../api/operations.ts';
import { PROBLEMS } from '../../api/problems.ts';
import { REGISTRY_SEGMENTS } from '../../api/registries.ts';
import { GUIDE } from './guide.ts';
import { answerText, indentedJson } from './samples.ts';

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

/** What a body consists of, and the fields of a question in it. */
function bodyBlocks(kind: string, { description }: RequestBody): readonly Block[] {
  if (kind !== BATCH_OPERATION.kind) return [paragraph(description)];
  const fields = Object.entries(QUESTION_SCHEMA.properties);
  const rows = fields.map(([name, field]) => ({ cells: [`\`${name}\``, field.description] }));
  return [paragraph(description), table(['Field of a question', 'Meaning'], rows)];
}

const examplesOf = (operationId: string | undefined, answerOf: AnswerOf): readonly ShownExample[] =>
  EXAMPLES.filter(({ operation }) => operation === operationId).map((example) => ({
    example,
    answer: answerOf(example),
  }));

const operationSection = (operation: OperationBase, answerOf: AnswerOf): Section => ({
  kind: 'section',
  id: anchorOf(operation),
  blocks: [
    heading(3, operation.summary),
    { kind: 'path', method: operation.method, path: operation.path },
    paragraph(operation.description),
    ...(operation.requestBody === undefined ? [] : bodyBlocks(operation.kind, operation.requestBody)),
    parameters(operation),
  ],
  examples: examplesOf(operation.id, answerOf),
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

/** The chapters after the operations. */
export const APPENDIX: readonly { readonly id: string; readonly title: string; readonly blocks: readonly Block[] }[] = [
  {
    id: 'other',
    title: 'Other paths',
    blocks: [
      table(
        ['Path', 'Meaning'],
        operationsOf('status').map(({ path, summary, description }) => ({
          cells: [`\`${path}\``, `${summary}. ${description}`],
        })),
      ),
    ],
  },
  {
    id: 'problems',
    title: 'Problems',
    blocks: [
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
    ],
  },
  {
    id: 'parser',
    title: 'HTTP errors',
    blocks: [
      paragraph('Malformed HTTP does not reach the API. The response has an empty body, and the connection is closed.'),
      table(
        ['Status', 'Meaning'],
        PARSER.map((cells) => ({ cells })),
      ),
    ],
  },
];

const chapter = (id: string, title: string, blocks: readonly Block[], examples: Section['examples'] = []): Section => ({
  kind: 'section',
  id,
  blocks: [heading(2, title), ...blocks],
  examples,
});

export const apiReference = (answerOf: AnswerOf = answerText): readonly Block[] => [
  ...INTRODUCTION,
  ...GUIDE.map(({ id, title, paragraphs, example }) =>
    chapter(id, title, paragraphs.map(paragraph), examplesOf(example, answerOf)),
  ),
  ...REGISTRY_SEGMENTS.flatMap((segment) => [
    heading(2, `/registry/${segment}`),
    ...operationsOf(segment).map((operation) => operationSection(operation, answerOf)),
  ]),
  ...APPENDIX.map(({ id, title, blocks }) => chapter(id, title, blocks)),
];

/** Asks the API itself. With a body, it is a POST. */
type AskApi = (path: string, body?: string) => Promise<Response>;

/** In a sandbox, the examples show what its own chain answers, with its own blocks and times. */
export async function sandboxAnswers(ask: AskApi): Promise<AnswerOf> {
  const answers = await Promise.all(
    EXAMPLES.map(async (example) => {
      const response = await ask(example.request, example.body && JSON.stringify(example.body));
      // No example has an integer above 2^53.
      return [example, indentedJson(await response.json())] as const;
    }),
  );
  const texts = new Map(answers);
  return (example) => texts.get(example) ?? '';
}
