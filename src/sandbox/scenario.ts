// Reads a scenario: the grants and revocations that a sandbox makes instead of its own history, one to a block.

import { createJsonReader, isObject, JsonError, JsonNumber, type JsonValue } from '../api/json-reader.ts';
import { Fault, readAddress, rights, timestamp, tokenId } from '../api/params.ts';
import { nearest } from '../api/query.ts';
import { type Address, type DelegationKey, KINDS, KINDS_OF, type Kind, NO_RIGHTS } from '../registry/delegation.ts';
import { grantCall, type RegistryCall, revokeCall } from '../registry/registry-call.ts';
import { ALL_VERSIONS, hasRights, type Version } from '../registry/versions.ts';
import { UsageError } from '../service/terminal.ts';

export interface TimedCall {
  /** Unix seconds: the time of its block. */
  readonly at: number;
  readonly call: RegistryCall;
}

/** A step without a time follows a second after the one before. */
type Step = { readonly call: RegistryCall; readonly at: number | undefined };

export interface Scenario {
  /** Unix seconds: the time of block 0. */
  readonly startedAt: number;
  readonly calls: readonly TimedCall[];
}

type Field = 'version' | 'from' | 'to' | 'contract' | 'tokenId' | 'rights' | 'amount' | 'at';

/** How the text of each field is read. */
const READERS = {
  version: (text: string): Version | Fault =>
    ALL_VERSIONS.find((version) => String(version) === text) ?? new Fault(`must be ${ALL_VERSIONS.join(' or ')}`),
  from: readAddress,
  to: readAddress,
  contract: readAddress,
  tokenId: tokenId.read,
  rights: rights.read,
  amount: readAmount,
  at: timestamp.read,
} as const satisfies Record<Field, (text: string) => unknown>;

type Values = { readonly [F in Field]?: Exclude<ReturnType<(typeof READERS)[F]>, Fault> };

/** Revocations of v1 that name no single delegation, by their functions in the contract. */
const WHOLE_REVOCATIONS = new Map<string, { fields: Field[]; call(from: Address, to: Address): RegistryCall }>([
  ['DELEGATE', { fields: ['from', 'to'], call: (from, to) => ['v1', from, 'revokeDelegate', [to]] }],
  ['ALL_DELEGATES', { fields: ['from'], call: (from) => ['v1', from, 'revokeAllDelegates', []] }],
  ['SELF', { fields: ['from', 'to'], call: (from, to) => ['v1', to, 'revokeSelf', [from]] }],
]);

/** Throws a UsageError that names the file, the line and the field. */
export function readScenario(text: string, name: string, now = Math.floor(Date.now() / 1000)): Scenario {
  const reader = createJsonReader(text);
  const steps: Step[] = [];
  const fail = (position: number, detail: string): never => {
    const line = text.slice(0, position).split('\n').length;
    throw new UsageError(`${name}, line ${line}: ${detail}. See docs/integrating.md, "In your tests".`);
  };
  try {
    reader.require('[');
    do {
      const start = reader.position();
      try {
        const step = readStep(reader.readValue());
        const last = steps.findLast(({ at }) => at !== undefined)?.at;
        if (step.at !== undefined && step.at > now) throw new Fault('at is in the future');
        if (step.at !== undefined && last !== undefined && step.at <= last)
          throw new Fault('at must be later than in the steps before');
        steps.push(step);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        fail(start, `step ${steps.length + 1}: ${error.detail}`);
      }
    } while (reader.take(','));
    reader.require(']');
    reader.requireEnd();
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    fail(reader.position(), `not valid JSON: ${error.message}`);
  }
  return withTimes(steps, now);
}

function withTimes(steps: readonly Step[], now: number): Scenario {
  const timed = steps.findIndex(({ at }) => at !== undefined);
  const startedAt = (timed < 0 ? now - steps.length : (steps[timed]?.at as number) - timed) - 1;
  let last = startedAt;
  const calls = steps.map(({ call, at = last + 1 }) => {
    last = at;
    return { at, call };
  });
  return { startedAt, calls };
}

function readStep(value: JsonValue): Step {
  if (!isObject(value)) throw new Fault('must be an object such as {"grant": "ALL", "from": "0x…", "to": "0x…"}');
  const [repeated] = value.repeated;
  if (repeated !== undefined) throw new Fault(`${repeated} is given more than once`);
  const { names, values: written } = value;
  const { grant, revoke, ...given } = Object.fromEntries(names.map((field, place) => [field, written[place] ?? null]));
  if ((grant === undefined) === (revoke === undefined)) throw new Fault('must have either grant or revoke');
  const values = readFields(given);
  const { version = 2, at } = values;
  const whole = version === 1 && typeof revoke === 'string' ? WHOLE_REVOCATIONS.get(revoke) : undefined;
  if (whole !== undefined) {
    requireFields(values, whole.fields, []);
    return { call: whole.call(values.from as Address, values.to as Address), at };
  }
  const kind = readKind(grant === undefined ? 'revoke' : 'grant', grant ?? revoke ?? null, version);
  const shape = KINDS[kind];
  const scope = (['contract', 'tokenId'] as const).filter((field) => shape[field]);
  const amount = shape.amount && grant !== undefined ? (['amount'] as const) : [];
  requireFields(values, ['from', 'to', ...scope, ...amount], hasRights(version) ? ['rights'] : []);
  const key: DelegationKey = {
    version,
    kind,
    from: values.from as Address,
    to: values.to as Address,
    contract: values.contract ?? null,
    tokenId: values.tokenId ?? null,
    rights: hasRights(version) ? (values.rights ?? NO_RIGHTS) : null,
  };
  return { call: grant === undefined ? revokeCall(key) : grantCall({ ...key, amount: values.amount ?? null }), at };
}

function readKind(field: 'grant' | 'revoke', value: JsonValue, version: Version): Kind {
  const kinds = KINDS_OF[version];
  const found = kinds.find((kind) => kind === value);
  if (found !== undefined) return found;
  const all = [...kinds, ...(field === 'revoke' && version === 1 ? WHOLE_REVOCATIONS.keys() : [])];
  throw new Fault(`${field} must be one of ${all.join(', ')} in version ${version}`);
}

function readFields(given: Readonly<Record<string, JsonValue>>): Values {
  return Object.fromEntries(
    Object.entries(given).map(([field, value]) => {
      const read = Object.hasOwn(READERS, field) ? READERS[field as Field] : undefined;
      if (read === undefined) {
        const near = nearest(field, Object.keys(READERS));
        throw new Fault(`${field} is not a known field${near === null ? '' : `; did you mean ${near}?`}`);
      }
      if (typeof value !== 'string' && !(value instanceof JsonNumber))
        throw new Fault(`${field} must be a string or a number`);
      const result = read(typeof value === 'string' ? value : value.text);
      if (result instanceof Fault) throw new Fault(`${field} ${result.detail}`);
      return [field, result];
    }),
  );
}

/** `version` and `at` can always be given. */
function requireFields(values: Values, required: readonly Field[], optional: readonly Field[]): void {
  const missing = required.find((field) => values[field] === undefined);
  if (missing !== undefined) throw new Fault(`${missing} is required`);
  const allowed = new Set<string>([...required, ...optional, 'version', 'at']);
  const extra = Object.keys(values).find((field) => !allowed.has(field));
  if (extra !== undefined) throw new Fault(`${extra} has no meaning here`);
}

function readAmount(text: string): bigint | Fault {
  const value = /^[0-9]{1,78}$/.test(text) ? BigInt(text) : null;
  return value !== null && value > 0n && value < 2n ** 256n
    ? value
    : new Fault('must be an amount in decimal digits, from 1 to 2^256-1');
}
