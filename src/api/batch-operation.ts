// POST /registry/any/check: many questions in one request.

import { type OperationBase, type ParamUse, required, withDefault } from './operation.ts';
import * as p from './params.ts';
import {
  AS_OF_PARAMS,
  BODY_PROBLEMS,
  CHECK_PARAMS,
  NUMBERS,
  ONE_POINT_IN_TIME,
  ofRegistry,
  PROOF,
  PROOF_PROBLEMS,
} from './registry-operation.ts';
import { BATCH, BATCH_LINE } from './responses.ts';
import { arrayOf, type JsonSchema, named, object, type Shape } from './shape.ts';

export const MAX_QUESTIONS = 10_000;
/** With `proof=true`. */
export const MAX_PROVEN = 100;
export const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** A body counts as one question for each of so many bytes, if that is more than it has. No question needs as many. */
export const QUESTION_BYTES = 1024;

const { to, from, contract, tokenId, rights, chainId } = CHECK_PARAMS;
/** The fields of a question. It has the names of v2 for its wallets, or their synonyms, whatever its registry. */
export const QUESTION_PARAMS = {
  version: withDefault(p.registry, 'any'),
  check: required(p.scope),
  chainId,
  to,
  from,
  contract,
  tokenId,
  rights,
} as const;
export type QuestionField = keyof typeof QUESTION_PARAMS;

/** Other JSON types that mean the same. The number of a version is read too, but generators of clients stumble over a choice of both. */
const OTHER_TYPES: Readonly<Partial<Record<string, JsonSchema>>> = {
  chainId: { type: 'string', pattern: '^[0-9]+$' },
  tokenId: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
};

type FieldSchema = JsonSchema & { readonly description: string };

/** The schema of a field: what the parameter of a check takes. */
const fieldSchema = ([name, { param, ...use }]: [string, ParamUse]): FieldSchema => ({
  ...(OTHER_TYPES[name] === undefined ? param.schema : { anyOf: [param.schema, OTHER_TYPES[name]] }),
  description: param.description,
  ...('default' in use ? { default: use.default } : {}),
});

/** A question as a caller writes it; `readQuestion` reads it. */
export const QUESTION_SCHEMA = {
  type: 'object',
  properties: {
    ...Object.fromEntries(Object.entries(QUESTION_PARAMS).map((field) => [field[0], fieldSchema(field)])),
    [from.synonym as string]: {
      ...from.param.schema,
      description: 'Another name for `from`, together with `delegate`.',
    },
    [to.synonym as string]: { ...to.param.schema, description: 'Another name for `to`, together with `vault`.' },
  },
  required: ['check'],
  additionalProperties: false,
};
const QUESTION: Shape<unknown> = named('Question', { schema: QUESTION_SCHEMA, definitions: {} });

export const BATCH_OPERATION = {
  ...ofRegistry('any'),
  method: 'POST',
  kind: 'batch',
  version: 'any',
  id: 'checkBatch',
  path: '/registry/any/check',
  summary: `Check up to ${MAX_QUESTIONS.toLocaleString('en')} questions in one request`,
  description:
    'Each question is for one registry or both, for any chain, and of any kind. All questions of a chain are answered as of one block, which the answer names. The answers are in the order of the questions. A question that cannot be answered has a problem instead of a result: look at each. If no chain can answer, the response is a problem. Send `Accept: application/x-ndjson` to get a line for each answer as soon as it is known: the last line is `{"complete":…}`, and a response without it is cut off. Without a key, each question counts as a request, and a body as at least one for each KiB. With `proof=true`, a batch has at most 100 questions.',
  params: { ...AS_OF_PARAMS, ...NUMBERS, ...PROOF },
  rules: [ONE_POINT_IN_TIME],
  requestBody: {
    description:
      'An object with `questions`, or one question per line as `application/x-ndjson`. A `tokenId` above 2^53-1 must be a string.',
    content: {
      'application/json': object({ questions: arrayOf(QUESTION, { maxItems: MAX_QUESTIONS }) }),
      'application/x-ndjson': QUESTION,
    },
  },
  answer: {
    description: 'The answers. As `application/x-ndjson`, the schema is that of a line.',
    body: BATCH,
    line: BATCH_LINE,
    headers: ['X-As-Of-Timestamp'],
    hasETag: false,
  },
  problems: [...ofRegistry('any').problems, 'no-chain-answered', ...BODY_PROBLEMS, ...PROOF_PROBLEMS],
} as const satisfies OperationBase & { readonly version: 'any' };
