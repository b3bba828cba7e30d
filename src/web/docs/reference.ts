// The API reference as chapters and sections, derived from the declarations of the operations. HTML and Markdown are made from it.

import { BATCH_OPERATION, MAX_BATCH_BYTES, QUESTION_SCHEMA } from '../../api/batch-operation.ts';
import { EXAMPLES, type Example } from '../../api/examples.ts';
import { describeParam } from '../../api/openapi.ts';
import type { OperationBase, ParamUse } from '../../api/operation.ts';
import { CHECKS, OPERATIONS } from '../../api/operations.ts';
import { PROBLEMS } from '../../api/problems.ts';
import { REGISTRY_SEGMENTS } from '../../api/registries.ts';
import { GUIDE } from './guide.ts';
import { answerText, indentedJson } from './samples.ts';

/** Texts can have `code` and [links](/path). */
export const INTRODUCTION = {
  title: 'API reference',
  text: 'May this hot wallet act for that cold wallet, now or at block N? Every request is a `GET`, but for the batch. Every answer is JSON, and true for the block that its headers name. [OpenAPI 3.1](/openapi.json), [as YAML](/openapi.yaml) · [Networks](/networks) · [This page as Markdown](/docs.md)',
} as const;

export interface Chapter {
  readonly title: string;
  /** Whether its sections are operations below the path that is its title. */
  readonly isRegistry: boolean;
  readonly sections: readonly Section[];
}

/** What a link of the table of contents leads to. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly table?: Table | undefined;
  /** Answers are indented JSON. */
  readonly examples?: readonly { readonly example: Example; readonly answer: string }[];
  /** The operation that it is about: its path and parameters are shown, and a page can send its requests. */
  readonly operation?: OperationBase;
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly { readonly id?: string; readonly cells: readonly string[] }[];
}

export type AnswerOf = (example: Example) => string;

const operationsOf = (segment: string): readonly OperationBase[] => OPERATIONS.filter(({ tag }) => tag === segment);

/** A longer one, such as a bytes32, would make the table wider than a phone. */
const MAX_DEFAULT_LENGTH = 20;

function defaultOf(use: ParamUse): string | null {
  if (use.required || use.default === undefined) return null;
  const text = String(use.default);
  return text.length > MAX_DEFAULT_LENGTH ? null : text;
}

export const parametersOf = (operation: OperationBase) =>
  Object.entries(operation.params).map(([name, use]) => ({
    name,
    isRequired: use.required,
    default: defaultOf(use),
    text: describeParam(operation, use),
  }));

const tableOf = (first: string, rows: readonly (readonly [string, string])[]): Table => ({
  head: [first, 'Meaning'],
  rows: rows.map((cells) => ({ cells })),
});

/** The fields of a question in the body of a batch. */
const QUESTION_FIELDS = tableOf(
  'Field of a question',
  Object.entries(QUESTION_SCHEMA.properties).map(([name, { description }]) => [`\`${name}\``, description]),
);

const examplesOf = (id: string, answerOf: AnswerOf): NonNullable<Section['examples']> =>
  EXAMPLES.filter(({ operation }) => operation === id).map((example) => ({ example, answer: answerOf(example) }));

const operationSection = (operation: OperationBase, answerOf: AnswerOf): Section => ({
  id: `operation-${operation.id}`,
  title: operation.summary,
  paragraphs: [
    operation.description,
    ...(operation.requestBody === undefined ? [] : [operation.requestBody.description]),
  ],
  table: operation.kind === BATCH_OPERATION.kind ? QUESTION_FIELDS : undefined,
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

/** What follows the operations. */
const APPENDIX: readonly Section[] = [
  {
    id: 'other',
    title: 'Other paths',
    paragraphs: [],
    table: tableOf(
      'Path',
      operationsOf('status').map(({ path, summary, description }) => [`\`${path}\``, `${summary}. ${description}`]),
    ),
  },
  {
    id: 'problems',
    title: 'Problems',
    paragraphs: [
      'Errors are `application/problem+json` (RFC 9457) with `type`, `title`, `status` and `detail`. If parameters are rejected, `errors` lists all of them. A 429 or 503 has `Retry-After`.',
    ],
    table: {
      head: ['Status and type', 'Meaning'],
      rows: Object.entries(PROBLEMS).map(([type, { status, title, help }]) => ({
        id: `problem-${type}`,
        cells: [`${status} \`${type}\``, `${title}. ${help}`],
      })),
    },
  },
  {
    id: 'parser',
    title: 'HTTP errors',
    paragraphs: [
      'Malformed HTTP does not reach the API. The response has an empty body, and the connection is closed.',
    ],
    table: tableOf('Status', PARSER),
  },
];

export const apiReference = (answerOf: AnswerOf = answerText): readonly Chapter[] => [
  {
    title: 'Guide',
    isRegistry: false,
    sections: GUIDE.map((section) =>
      section.id === 'start' ? { ...section, examples: examplesOf(CHECKS.any.contract.id, answerOf) } : section,
    ),
  },
  ...REGISTRY_SEGMENTS.map((segment) => ({
    title: `/registry/${segment}`,
    isRegistry: true,
    sections: operationsOf(segment).map((operation) => operationSection(operation, answerOf)),
  })),
  { title: 'More', isRegistry: false, sections: APPENDIX },
];

/** Asks the API itself. With a body, it is a POST. */
type AskApi = (path: string, body?: string) => Promise<Response>;

/** In a sandbox, the examples show what its own chain answers, with its own blocks and times. */
export async function sandboxAnswers(ask: AskApi, examples: readonly Example[] = EXAMPLES): Promise<AnswerOf> {
  const answers = await Promise.all(
    examples.map(async (example) => {
      const response = await ask(example.request, example.body && JSON.stringify(example.body));
      // No example has an integer above 2^53.
      return [example, indentedJson(await response.json())] as const;
    }),
  );
  const texts = new Map(answers);
  return (example) => texts.get(example) ?? '';
}
