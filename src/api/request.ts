// Reads a request's parameters as its operation declares them. All faults are reported at once.

import type { Declaration, ParamUse, RequestOf } from './operation.ts';
import { Fault, type Param } from './params.ts';
import { badRequest, type ParameterFault } from './problems.ts';
import { parseQuery } from './query.ts';

/** What a request gives, with the faults that were found on the way. */
export interface Given {
  readonly values: { get(name: string): string | undefined };
  readonly faults: ParameterFault[];
}

type Plan = ReturnType<typeof createPlan>;

const plans = new Map<Declaration, Plan>();

function planOf(operation: Declaration): Plan {
  let plan = plans.get(operation);
  if (plan === undefined) {
    plan = createPlan(operation);
    plans.set(operation, plan);
  }
  return plan;
}

const turnOf = (use: ParamUse) => (use.in === 'path' ? 0 : 'synonym' in use ? 1 : use.required ? 2 : 3);

function createPlan({ params, ignored = [] }: Declaration) {
  // In the order in which they are read: in the path, with a synonym, other required ones, optional ones.
  const uses = Object.entries(params)
    .map(([name, use]) => ({ name, use }))
    .sort((a, b) => turnOf(a.use) - turnOf(b.use));
  const withSynonym = uses.flatMap(({ name, use }) =>
    'synonym' in use ? [[name, use.param, use.synonym as string] as const] : [],
  );
  const namesOf = (isRequired: boolean) =>
    uses.flatMap(({ name, use }) => (use.in === 'query' && use.required === isRequired ? [name] : []));
  // The names that the query may have.
  const known: ReadonlySet<string> = new Set([
    ...namesOf(true),
    ...withSynonym.map(([, , synonym]) => synonym),
    ...namesOf(false),
  ]);
  const synonyms = withSynonym.map(([, , synonym]) => synonym);
  const names = withSynonym.map(([name]) => name);
  const missing = `is required: send ${names.join(' and ')}, or ${synonyms.join(' and ')}, not one of each`;
  return { uses, withSynonym, synonyms, missing, known, ignored: new Set(ignored) as ReadonlySet<string> };
}

const leftOut = (text: string) => `. The program that sent it had no value, and wrote ${text}: leave the parameter out`;
/** What a program writes for a value that it does not have. */
const PROGRAM_WORDS: ReadonlyMap<string | undefined, string> = new Map([
  ['', leftOut('nothing')],
  ...['undefined', 'null', 'NaN'].map((word): [string, string] => [word, leftOut(word)]),
]);

/** Every parameter of the operation by name. Throws a bad-request problem that names all faults. */
export const readRequest = <O extends Declaration>(
  operation: O,
  path: Readonly<Record<string, string>>,
  query: string,
): RequestOf<O> => {
  const { known, ignored } = planOf(operation);
  return readValues(operation, path, parseQuery(query, known, ignored));
};

/** The names that a request of the operation may have, and those that it ignores. */
export const namesOf = (operation: Declaration): Pick<Plan, 'known' | 'ignored'> => planOf(operation);

/** The same from values that are already separated. */
export function readValues<O extends Declaration>(
  operation: O,
  path: Readonly<Record<string, string>>,
  { values, faults }: Given,
): RequestOf<O> {
  const { uses, withSynonym, synonyms, missing } = planOf(operation);
  const request: Record<string, unknown> = {};
  const isGiven = (name: string) => values.get(name) !== undefined;
  const usesSynonyms = synonyms.some(isGiven);
  if (usesSynonyms) {
    const usesNames = withSynonym.some(([name]) => isGiven(name));
    for (const [name, param, synonym] of withSynonym) {
      const value = readValue(synonym, param, values.get(synonym), faults, missing);
      request[name] = value;
      // If they are given under both names, the values must be equal.
      const same = usesNames ? readValue(name, param, values.get(name), faults, missing) : value;
      if (value !== undefined && same !== undefined && value !== same)
        faults.push({ parameter: name, detail: `differs from ${synonym}, which means the same` });
    }
  }
  for (const { name, use } of uses) {
    if (usesSynonyms && 'synonym' in use) continue;
    const text = use.in === 'path' ? path[name] : values.get(name);
    request[name] = text === undefined && !use.required ? use.default : readValue(name, use.param, text, faults);
  }
  for (const rule of operation.rules) {
    const fault = rule(isGiven);
    if (fault !== null) faults.push(fault);
  }
  if (faults.length > 0) throw badRequest(faults);
  return request as RequestOf<O>;
}

function readValue(
  name: string,
  param: Param<unknown>,
  text: string | undefined,
  faults: ParameterFault[],
  missing = 'is required',
): unknown {
  const value = text === undefined ? new Fault(missing) : param.read(text);
  if (!(value instanceof Fault)) return value;
  faults.push({ parameter: name, detail: value.detail + (PROGRAM_WORDS.get(text) ?? '') });
  return undefined;
}
