// Reads the body of a batch: each question by the rules of the check that it names.

import type { AnyQuestion, Question } from '../registry/check.ts';
import type { Scope } from '../registry/scopes.ts';
import type { Version } from '../registry/versions.ts';
import { MAX_QUESTIONS, QUESTION_PARAMS, type QuestionField } from './batch-operation.ts';
import {
  createForms,
  createJsonReader,
  isObject,
  JsonError,
  JsonNumber,
  type JsonObject,
  type JsonScalar,
  type JsonValue,
} from './json-reader.ts';
import { type Declaration, handled, type RequestOf } from './operation.ts';
import { checkOf } from './operations.ts';
import * as p from './params.ts';
import { badRequest, type ParameterFault, Problem } from './problems.ts';
import { MAX_FAULTS, nameFault, shorten } from './query.ts';
import { buildQuestion } from './question.ts';
import { REGISTRIES, type Registry, scopesOfRegistry } from './registries.ts';
import { type Given, namesOf, readValues } from './request.ts';

export interface ChainQuestion {
  readonly chainId: number;
  readonly question: Question | AnyQuestion;
}

export type BatchFormat = 'json' | 'ndjson';

/** The questions of a body, one at a time, as JSON; a problem for a line that is not JSON. Throws if the whole body is invalid. */
export function* splitBatch(body: string, format: BatchFormat): Generator<JsonValue | Problem> {
  let count = 0;
  for (const question of format === 'json' ? readEnvelope(body) : readLines(body)) {
    if (++count > MAX_QUESTIONS)
      throw badRequest([{ parameter: 'questions', detail: `must be at most ${MAX_QUESTIONS}: send several batches` }]);
    yield question;
  }
}

const notJson = (error: unknown) => {
  if (!(error instanceof JsonError)) throw error;
  return new Problem('bad-request', `Not valid JSON: ${error.message}.`);
};

function* readEnvelope(body: string): Generator<JsonValue> {
  const reader = createJsonReader(body);
  try {
    reader.require('{');
    const name = reader.take('}') ? null : reader.readString();
    if (name !== 'questions') throw badRequest([envelopeFault(name)]);
    reader.require(':');
    reader.require('[');
    if (!reader.take(']')) {
      do yield reader.readValue();
      while (reader.take(','));
      reader.require(']');
    }
    if (reader.take(',')) throw badRequest([envelopeFault(reader.readString())]);
    reader.require('}');
    reader.requireEnd();
  } catch (error) {
    throw error instanceof Problem ? error : notJson(error);
  }
}

function envelopeFault(name: string | null): ParameterFault {
  if (name === null) return { parameter: 'questions', detail: 'is required' };
  if (name === 'questions') return { parameter: name, detail: 'is given more than once' };
  const detail = ['block', 'timestamp', 'numbers'].includes(name)
    ? 'belongs in the query of the URL, not in the body'
    : 'is not a known field of the body, which has only questions';
  return { parameter: shorten(name), detail };
}

/** Empty lines may follow the last question. An empty line before it is a question that is not JSON. */
function* readLines(text: string): Generator<JsonValue | Problem> {
  const body = text.trimEnd();
  const forms = createForms();
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf('\n', start);
    const end = newline < 0 ? body.length : newline;
    const reader = createJsonReader(body.slice(start, end), forms);
    start = end + 1;
    try {
      const question = reader.readValue();
      reader.requireEnd();
      yield question;
    } catch (error) {
      yield notJson(error);
    }
  }
}

type ReadQuestion = Partial<RequestOf<{ params: typeof QUESTION_PARAMS; rules: [] }>> & { readonly chainId: number };

function declare(registry: Registry, scope: Scope): Declaration {
  const { params, ignored } = checkOf(registry, scope);
  const names = (Object.keys(QUESTION_PARAMS) as QuestionField[]).filter(
    (name) => name in params || ['version', 'check', 'to', 'from'].includes(name),
  );
  return { params: Object.fromEntries(names.map((name) => [name, QUESTION_PARAMS[name]])), rules: [], ignored };
}

const declarationsOf = (registry: Registry) =>
  new Map<Scope, Declaration>(scopesOfRegistry(registry).map((scope) => [scope, declare(registry, scope)]));
/** By registry and scope. */
const DECLARATIONS: { readonly [R in Registry]: ReadonlyMap<Scope, Declaration> } = {
  any: declarationsOf('any'),
  1: declarationsOf(1),
  2: declarationsOf(2),
};

/** Throws a bad-request problem that names all faults. */
export function readQuestion(value: JsonValue): ChainQuestion {
  if (!isObject(value)) throw new Problem('bad-request', 'The question must be a JSON object.');
  const { registry, scope, declaration } = readKind(value);
  const asked = readValues(declaration, {}, toQuery(value, namesOf(declaration))) as ReadQuestion;
  return { chainId: asked.chainId, question: buildQuestion(registry, scope, asked.from, asked.to, asked) };
}

// Another field of a question does not compile until it is read.
handled({} as Omit<ReadQuestion, 'version' | 'check' | 'chainId' | 'from' | 'to' | 'contract' | 'tokenId' | 'rights'>);

/** Makes the fields the query of a single check: nearly all are texts already. */
function toQuery(object: JsonObject, { known, ignored }: ReturnType<typeof namesOf>): Given {
  const { names, values, repeated } = object;
  const faults: ParameterFault[] = [];
  const add = (name: string, detail: string) => {
    if (faults.length < MAX_FAULTS) faults.push({ parameter: shorten(name), detail });
  };
  for (const name of repeated) add(name, 'is given more than once');
  let isReadable = true;
  for (let place = 0; place < names.length; place++) {
    const [name, field] = [names[place] as string, values[place] as JsonScalar];
    if (field === null) continue;
    if (!known.has(name)) {
      if (!ignored.has(name)) add(name, nameFault(name, known, faults.length === 0));
    } else if (typeof field !== 'string') {
      const text = toText(field);
      if (typeof text === 'string') values[place] = text;
      else {
        isReadable = false;
        add(name, text.detail);
      }
    }
  }
  // Otherwise such a field would be reported as missing too.
  if (!isReadable) throw badRequest(faults);
  return { values: object as { get(name: string): string | undefined }, faults };
}

/** What a question asks, and of which registry. */
function readKind(fields: JsonObject) {
  const faults: ParameterFault[] = [];
  const version = readField('version', p.registry, fields, faults) ?? 'any';
  const scope = readField('check', p.scope, fields, faults);
  if (scope === null && faults.length === 0) faults.push({ parameter: 'check', detail: 'is required' });
  if (scope === null || faults.length > 0) throw badRequest(faults);
  const registry: Registry = version === 'any' ? version : (Number(version) as Version);
  const declarations = DECLARATIONS[registry];
  const declaration = declarations.get(scope);
  if (declaration !== undefined) return { registry, scope, declaration };
  const choices = [...declarations.keys()].join(', ');
  const detail = `must be one of ${choices} in ${REGISTRIES[registry].segment}, not "${scope}"`;
  throw badRequest([{ parameter: 'check', detail }]);
}

/** Null if the field is absent or wrong. */
function readField<T>(name: string, param: p.Param<T>, fields: JsonObject, faults: ParameterFault[]): T | null {
  const field = fields.get(name);
  if (field === undefined) return null;
  const text = toText(field);
  const value = typeof text === 'string' ? param.read(text) : text;
  if (!(value instanceof p.Fault)) return value;
  faults.push({ parameter: name, detail: value.detail });
  return null;
}

const DIGITS = /^[0-9]+$/;
const INEXACT = new p.Fault('is a JSON number above 2^53-1, which JSON libraries round: send it as a string');
const WRONG_TYPE = new p.Fault('must be a string or a number');

/** A field as the text of a query parameter. */
function toText(value: JsonScalar): string | p.Fault {
  if (typeof value === 'string') return value;
  if (!(value instanceof JsonNumber)) return WRONG_TYPE;
  return DIGITS.test(value.text) && !Number.isSafeInteger(Number(value.text)) ? INEXACT : value.text;
}
