// From a query string to typed values: all faults at once, each with its parameter.

import type { Question } from '../registry/check.ts';
import { type Address, type Bytes32, NO_RIGHTS } from '../registry/delegation.ts';
import type { Version } from '../registry/versions.ts';
import type { CheckOperation, ListOperation, Operation } from './operations.ts';
import * as p from './params.ts';
import { Fault, type Param } from './params.ts';
import { faults as badRequest, type ParameterFault } from './problems.ts';
import { parseQuery, type Query } from './query.ts';

interface CommonRequest {
  readonly chainId: number;
  readonly block: p.BlockChoice | undefined;
  readonly timestamp: number | undefined;
  readonly numbers: 'number' | 'string';
}

export interface CheckRequest extends CommonRequest {
  readonly question: Question;
  readonly explain: boolean;
}

export interface ListRequest extends CommonRequest {
  readonly version: Version;
  readonly wallet: Address;
  readonly direction: 'incoming' | 'outgoing' | undefined;
  readonly type: 'ALL' | 'CONTRACT' | 'TOKEN' | undefined;
  readonly contract: Address | undefined;
  readonly rights: Bytes32 | undefined;
  readonly detailed: boolean;
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

const known = new Map<Operation, ReadonlySet<string>>();

/** The names that an operation's query may have. */
function namesOf(operation: Operation): ReadonlySet<string> {
  let names = known.get(operation);
  if (names === undefined) {
    const all = [...operation.required, ...operation.optional].map(({ name }) => name);
    names = new Set(all.filter((name) => name !== p.wallet.name));
    known.set(operation, names);
  }
  return names;
}

/** Reads parameters one by one and keeps every fault for the end. */
function reader({ values, faults }: Query) {
  const fault = (parameter: string, detail: string) => void faults.push({ parameter, detail });
  const optional = <T>(param: Param<T>): T | undefined => {
    const text = values.get(param.name);
    if (text === undefined) return undefined;
    const value = param.read(text);
    if (!(value instanceof Fault)) return value;
    fault(param.name, value.detail);
    return undefined;
  };
  const required = <T>(param: Param<T>, missing = 'is missing'): T | undefined => {
    if (!values.has(param.name)) fault(param.name, missing);
    return optional(param);
  };
  return { values, fault, optional, required };
}

type Reader = ReturnType<typeof reader>;

function readCommon({ values, fault, optional }: Reader): CommonRequest {
  if (values.has(p.block.name) && values.has(p.timestamp.name)) {
    fault(p.timestamp.name, 'cannot be given together with block');
  }
  return {
    chainId: optional(p.chainId) ?? 1,
    block: optional(p.block),
    timestamp: optional(p.timestamp),
    numbers: optional(p.numbers) ?? 'number',
  };
}

/** The pair under either of its names in v2, which must be complete and agree. */
function readPair(
  { values, fault, required }: Reader,
  version: Version,
): { to?: Address | undefined; from?: Address | undefined } {
  const named = ({ name }: Param<Address>) => values.has(name);
  const vaultNames = named(p.delegate) || named(p.vault);
  if (version === 1) return { to: required(p.delegate), from: required(p.vault) };
  const walletNames = named(p.to) || named(p.from);
  if (!vaultNames) return { to: required(p.to), from: required(p.from) };
  const mixed = `is missing: give to and from, or delegate and vault, not one of each`;
  const old = { to: required(p.delegate, mixed), from: required(p.vault, mixed) };
  if (!walletNames) return old;
  const pair = { to: required(p.to, mixed), from: required(p.from, mixed) };
  for (const [side, other] of [
    ['to', 'delegate'],
    ['from', 'vault'],
  ] as const) {
    if (pair[side] !== undefined && old[side] !== undefined && pair[side] !== old[side]) {
      fault(side, `is another wallet than ${other}`);
    }
  }
  return pair;
}

export function readCheck(operation: CheckOperation, query: string): CheckRequest {
  const parsed = parseQuery(query, namesOf(operation));
  const read = reader(parsed);
  const { version, scope } = operation;
  const pair = readPair(read, version);
  const contract = operation.required.includes(p.contract) ? read.required(p.contract) : undefined;
  const tokenId = operation.required.includes(p.tokenId) ? read.required(p.tokenId) : undefined;
  const rights = version === 2 ? (read.optional(p.rights) ?? NO_RIGHTS) : undefined;
  const common = readCommon(read);
  const explain = read.optional(p.explain) === 'true';
  refuse(parsed.faults);
  const question = {
    version,
    scope,
    ...pair,
    ...(contract === undefined ? {} : { contract }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(rights === undefined ? {} : { rights }),
  } as Question;
  return { ...common, question, explain };
}

export function readList(operation: ListOperation, wallet: string, query: string): ListRequest {
  const parsed = parseQuery(query, namesOf(operation));
  const read = reader(parsed);
  const address = p.wallet.read(wallet);
  if (address instanceof Fault) parsed.faults.unshift({ parameter: p.wallet.name, detail: address.detail });
  const request = {
    ...readCommon(read),
    version: operation.version,
    wallet: address as Address,
    direction: read.optional(p.direction),
    type: read.optional(p.type),
    contract: read.optional(p.contractFilter),
    rights: operation.version === 2 ? read.optional(p.rightsFilter) : undefined,
    detailed: read.optional(p.detail) === 'full',
    limit: read.optional(p.limit),
    cursor: read.optional(p.cursor),
  };
  if (read.values.has(p.cursor.name) && !read.values.has(p.limit.name))
    read.fault(p.limit.name, 'is missing beside cursor');
  refuse(parsed.faults);
  return request;
}

function refuse(faults: readonly ParameterFault[]): void {
  if (faults.length > 0) throw badRequest(faults);
}
