// Generates the types of the client from the declarations of the API, so that the package does not depend on the server.

import type { ParamUse } from '../src/api/operation.ts';
import { OPERATIONS } from '../src/api/operations.ts';
import * as p from '../src/api/params.ts';
import { PROBLEMS, type ProblemType } from '../src/api/problems.ts';
import { type Fields, type JsonSchema, object, type Shape, uint256 } from '../src/api/shape.ts';

/** For probes, and for tools that read the document. */
const OUTSIDE = new Set(['health', 'ready', 'openapi']);
export const CLIENT_OPERATIONS = OPERATIONS.filter(({ id }) => !OUTSIDE.has(id));

/** Only pages of the service itself get these. */
const OF_DEVELOPERS: readonly ProblemType[] = [
  'signed-out',
  'sign-in-refused',
  'forbidden',
  'too-many-keys',
  'too-many-webhooks',
  'no-active-key',
];
export const CLIENT_PROBLEMS = (Object.keys(PROBLEMS) as ProblemType[]).filter((type) => !OF_DEVELOPERS.includes(type));

/** What a caller of the client gives, where the schema of the text in the URL does not say it. */
const INPUTS = new Map<p.Param<unknown>, string>([
  [p.tokenId, 'bigint'],
  [p.chainIds, "number | readonly number[] | 'served'"],
  [p.block, "number | bigint | 'latest' | 'finalized'"],
  [p.timestamp, 'Date | number | string'],
]);

/** The client sets these by itself. */
const SET_BY_CLIENT = new Set(['numbers', 'explain', 'proof', 'detail', 'types']);

/** A check has the same names in every version. */
const RENAMED: Readonly<Record<string, string>> = { delegate: 'to', vault: 'from' };

type Schema = JsonSchema & { readonly [name: string]: unknown };

const isUint256 = ({ oneOf }: Schema) => JSON.stringify(oneOf) === JSON.stringify(uint256.schema['oneOf']);
const listOf = (value: unknown) => value as readonly Schema[];
const union = (types: readonly string[]) => [...new Set(types)].join(' | ');

export function typeText(schema: Schema): string {
  const { $ref, type, items, pattern } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  if (isUint256(schema)) return 'bigint';
  if (schema['const'] !== undefined) return literal(schema['const']);
  if (schema['enum'] !== undefined) return union((schema['enum'] as unknown[]).map(literal));
  const either = schema['anyOf'] ?? schema['oneOf'];
  if (either !== undefined) return union(listOf(either).map(typeText));
  if (type === 'array') {
    const item = typeText(items as Schema);
    return `readonly ${item.includes(' | ') ? `(${item})` : item}[]`;
  }
  if (type === 'object') return objectText(schema);
  if (type === 'string') return typeof pattern === 'string' && pattern.startsWith('^0x') ? 'Hex' : 'string';
  return type === 'integer' ? 'number' : String(type);
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

function objectText({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties as Record<string, Schema>).map(([name, schema]) =>
    fieldText(name, typeText(schema), (required as string[]).includes(name), schema['description']),
  );
  const rest = additionalProperties === true ? ['readonly [field: string]: unknown;'] : [];
  return recordText([...fields, ...rest]);
}

const recordText = (fields: readonly string[]) =>
  fields.length === 0 ? 'Record<never, never>' : `{ ${fields.join(' ')} }`;

const fieldText = (name: string, type: string, isRequired: boolean, description?: unknown) =>
  `${description === undefined ? '' : `\n/** ${description} */\n`}readonly ${name}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'};`;

function paramText(name: string, { param, required }: ParamUse, isCheck: boolean): string {
  const isFlag = JSON.stringify(param.schema['enum']) === '["true","false"]';
  const written = param.schema['pattern'] === undefined ? typeText(param.schema) : 'string';
  const type = INPUTS.get(param) ?? (isFlag ? 'boolean' : written);
  return fieldText((isCheck && RENAMED[name]) || name, type, required, param.description);
}

/** The names of all fields that hold a uint256, which the API writes as text with `numbers=string`. */
function uint256Names(schema: Schema, into: Set<string>, definitions: Readonly<Record<string, JsonSchema>>): void {
  const holds = (one: Schema): boolean => {
    const { $ref } = one;
    if (typeof $ref === 'string') return holds(definitions[$ref.slice($ref.lastIndexOf('/') + 1)] as Schema);
    return isUint256(one) || listOf(one['anyOf'] ?? one['oneOf'] ?? []).some(holds);
  };
  for (const [name, value] of Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)) {
    if (holds(value)) into.add(name);
  }
  for (const value of Object.values(schema)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one === 'object' && one !== null) uint256Names(one as Schema, into, definitions);
    }
  }
}

const HEADER = `// The types of the API. Generated from src/api by \`npm run types -w client\`: do not edit.

/** 0x and hex digits. */
export type Hex = \`0x\${string}\`;
`;

export function apiTypes(): string {
  const bodies = CLIENT_OPERATIONS.map(({ answer }): Shape<unknown> => answer.body);
  const fieldsOf = (type: ProblemType): Fields => (PROBLEMS[type] as { readonly fields?: Fields }).fields ?? {};
  const problems = CLIENT_PROBLEMS.map((type) => object(fieldsOf(type)));
  const definitions: Record<string, JsonSchema> = Object.assign(
    {},
    ...[...bodies, ...problems].map((one) => one.definitions),
  );
  const numbers = new Set<string>();
  for (const { schema } of [...bodies, ...Object.values(definitions).map((schema) => ({ schema }))])
    uint256Names(schema, numbers, definitions);

  const types = Object.entries(definitions).map(([name, schema]) => {
    const text = typeText(schema);
    const about = schema['description'] === undefined ? '' : `/** ${schema['description']} */\n`;
    return `${about}export ${text.startsWith('{') && !text.includes('} | {') ? `interface ${name} ${text}` : `type ${name} = ${text};`}`;
  });
  const operations = CLIENT_OPERATIONS.map(({ id, kind, params, answer }) => {
    const uses = Object.entries(params as Readonly<Record<string, ParamUse>>);
    const fields = uses
      .filter(([name]) => !SET_BY_CLIENT.has(name))
      .map(([name, use]) => paramText(name, use, kind === 'check'));
    return `readonly ${id}: { readonly params: ${recordText(fields)}; readonly body: ${typeText(answer.body.schema)} };`;
  });
  const problemRows = CLIENT_PROBLEMS.map((type, index) => {
    const fields = typeText(problems[index]?.schema ?? {});
    return `\n/** ${PROBLEMS[type].help} */\nreadonly '${type}': ${fields};`;
  });
  return [
    HEADER,
    `/** Fields that hold a uint256. */\nexport const UINT256_FIELDS = ${JSON.stringify([...numbers].sort())};`,
    ...types,
    `/** The parameters and the body of each operation. */\nexport interface Operations { ${operations.join('\n')} }`,
    `/** What each type of problem has beyond title, status and detail. */\nexport interface ProblemFields { ${problemRows.join('\n')} }`,
  ].join('\n\n');
}
