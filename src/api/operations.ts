// The operations of the API. Routing, validation, types, OpenAPI, /docs and URLs are derived from these declarations.

import type { Address } from '../registry/delegation.ts';
import { SCOPES, type Scope } from '../registry/scopes.ts';
import { hasRights, keepsPlace, NEWEST_FIRST, type VERSIONS, type Version } from '../registry/versions.ts';
import { ANY_OPERATIONS, type AnyOperation } from './any-operations.ts';
import { BATCH_OPERATION } from './batch-operation.ts';
import { EXCLUSIVE, type ExclusiveOperation } from './exclusive-operations.ts';
import { BLOCK_HEADERS } from './headers.ts';
import { inPath, type OperationBase, optional, type Rule, withDefault } from './operation.ts';
import * as p from './params.ts';
import { REGISTRIES, type Registry, type ScopeOfRegistry, scopesOfRegistry } from './registries.ts';
import {
  CHECK_OPTIONS,
  CHECK_PARAMS,
  COMMON_PARAMS,
  NUMBERS,
  ONE_POINT_IN_TIME,
  ofRegistry,
  PROOF_PROBLEMS,
  type WalletName,
} from './registry-operation.ts';
import {
  BALANCE,
  DELEGATION,
  DETAILED_DELEGATION,
  explanation,
  HEALTH,
  NETWORK,
  PROVEN_ANSWER,
  PROVEN_BALANCE,
  READINESS,
} from './responses.ts';
import { anyObject, anyOf, arrayOf, boolean, described, type Shape } from './shape.ts';
import { VOTES_OPERATIONS, type VotesOperation } from './votes-operations.ts';
import { WALLET_BATCHES, type WalletBatchOperation } from './wallet-batch-operations.ts';

// Checks

type CheckParamName<V extends Registry, S extends Scope> =
  | WalletName<V>
  | ((typeof SCOPES)[S]['needsContract'] extends true ? 'contract' : never)
  | ((typeof SCOPES)[S]['needsTokenId'] extends true ? 'tokenId' : never)
  | ((typeof REGISTRIES)[V]['hasRights'] extends true ? 'rights' : never)
  | keyof typeof CHECK_OPTIONS;
type CheckParams<V extends Registry, S extends Scope> = Pick<typeof CHECK_PARAMS, CheckParamName<V, S>>;

function checkParams<V extends Registry, S extends ScopeOfRegistry<V>>(version: V, scope: S): CheckParams<V, S> {
  const { wallets, hasRights } = REGISTRIES[version];
  const { needsContract, needsTokenId } = SCOPES[scope];
  const names = [
    wallets.to,
    wallets.from,
    ...(needsContract ? ['contract'] : []),
    ...(needsTokenId ? ['tokenId'] : []),
    ...(hasRights ? ['rights'] : []),
    ...Object.keys(CHECK_OPTIONS),
  ] as CheckParamName<V, S>[];
  return Object.fromEntries(names.map((name) => [name, CHECK_PARAMS[name]])) as CheckParams<V, S>;
}

/** Live clients send one set of parameters to every check. The wider question can only be stricter. */
function ignoredBy(scope: Scope): readonly string[] {
  const { needsContract, needsTokenId } = SCOPES[scope];
  return [...(needsContract ? [] : ['contract']), ...(needsTokenId ? [] : ['tokenId'])];
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** What a check is about. */
const SUBJECTS: Readonly<Record<Scope, string>> = {
  all: 'the whole wallet',
  contract: 'a contract',
  token: 'a token',
  erc721: 'an ERC-721 token',
  erc1155: 'ERC-1155',
  erc20: 'ERC-20',
};

function checkTexts(scope: Scope, { from, to }: Readonly<Record<'from' | 'to', string>>) {
  const [subject, { needsContract, needsTokenId, answersBalance }] = [SUBJECTS[scope], SCOPES[scope]];
  if (answersBalance)
    return {
      summary: `Get the ${subject} balance that \`${from}\` has delegated to \`${to}\``,
      description:
        '0 if there is no delegation. If the whole wallet or contract is delegated, the balance is 2^256-1, as in the registry.',
    };
  const whom = needsContract ? `\`${from}\` on ${subject}` : `${subject} \`${from}\``;
  const covered = needsTokenId ? ', the contract, or this token' : needsContract ? ' or this contract' : '';
  return {
    summary: `Check whether \`${to}\` may act for ${whom}`,
    description: `True if \`${from}\` has delegated its entire wallet${covered} to \`${to}\`.`,
  };
}

type IfBalance<S extends Scope, Yes, No> = (typeof SCOPES)[S]['answersBalance'] extends true ? Yes : No;

function checkBody<V extends Registry, S extends Scope>(version: V, scope: S) {
  const { answersBalance } = SCOPES[scope];
  const value = (answersBalance ? BALANCE : boolean) as IfBalance<S, typeof BALANCE, typeof boolean>;
  const proven = answersBalance ? PROVEN_BALANCE : PROVEN_ANSWER;
  return anyOf(
    value,
    described(explanation(version, value), 'With `explain=true`.'),
    proven as IfBalance<S, typeof PROVEN_BALANCE, typeof PROVEN_ANSWER>,
  );
}

function defineCheck<V extends Registry, S extends ScopeOfRegistry<V>>(version: V, scope: S) {
  const { wallets, segment } = REGISTRIES[version];
  const { summary, description } = checkTexts(scope, wallets);
  const ignored = ignoredBy(scope);
  const ignoredText =
    ignored.length === 0
      ? ''
      : ` Ignores ${ignored.map((name) => `\`${name}\``).join(' and ')}, which it does not need.`;
  const shared = ofRegistry(version);
  return {
    ...shared,
    kind: 'check',
    version,
    scope,
    path: `/registry/${segment}/check/${scope}`,
    id: `check${capitalized(scope)}${capitalized(segment)}`,
    summary,
    description: description + ignoredText,
    params: checkParams(version, scope),
    ignored,
    rules: [ONE_POINT_IN_TIME],
    answer: {
      description: SCOPES[scope].answersBalance ? 'The balance.' : '`true` or `false`.',
      body: checkBody(version, scope),
      headers: BLOCK_HEADERS,
      hasETag: true,
    },
    problems: [...shared.problems, ...PROOF_PROBLEMS],
  } as const satisfies OperationBase & { readonly version: V; readonly scope: S };
}

type CheckOf<V extends Registry, S extends ScopeOfRegistry<V>> = ReturnType<typeof defineCheck<V, S>>;
export type CheckOperation = {
  [V in Registry]: { [S in ScopeOfRegistry<V>]: CheckOf<V, S> }[ScopeOfRegistry<V>];
}[Registry];

const checksOf = <V extends Registry>(version: V) =>
  Object.fromEntries(scopesOfRegistry(version).map((scope) => [scope, defineCheck(version, scope)])) as {
    [S in ScopeOfRegistry<V>]: CheckOf<V, S>;
  };

/** By registry and scope. */
export const CHECKS = { 1: checksOf(1), 2: checksOf(2), any: checksOf('any') } as const;

/** The check of a scope that a registry is known to have. */
export const checkOf = (version: Registry, scope: Scope): CheckOperation =>
  (CHECKS[version] as Partial<Record<Scope, CheckOperation>>)[scope] as CheckOperation;

// Lists

const LIST_FILTERS = {
  direction: optional(p.direction),
  type: optional(p.type),
  contract: optional(p.contractFilter),
  unrestricted: withDefault(p.unrestricted, 'false'),
} as const;
const LIST_OPTIONS = {
  detail: optional(p.detail),
  types: optional(p.types),
  ...NUMBERS,
  limit: optional(p.limit),
  cursor: optional(p.cursor),
} as const;
const RIGHTS_FILTER = { rights: optional(p.rightsFilter) } as const;

type ListParams<V extends Version> = { readonly wallet: ReturnType<typeof inPath<Address>> } & typeof COMMON_PARAMS &
  typeof LIST_FILTERS &
  typeof LIST_OPTIONS &
  ((typeof VERSIONS)[V]['hasRights'] extends true ? typeof RIGHTS_FILTER : unknown);

const CURSOR_NEEDS_LIMIT: Rule = (isGiven) =>
  isGiven('cursor') && !isGiven('limit') ? { parameter: 'limit', detail: 'is required with cursor' } : null;

const INCOMING_FIRST =
  'Incoming delegations, then outgoing ones. A delegation of a wallet to itself is listed once, among the incoming.';
const orderText = (version: Version) =>
  keepsPlace(version)
    ? "Each part has the order of the contract's own lists: by the first grant of the delegation, so a renewed grant keeps its place."
    : 'Each part has the oldest grant first.';
const LIST_TEXT =
  'The whole list is sent, however long. With `limit` it comes in pages, and the `Link` header of each leads to the next. All pages are as of the block of the first.';
const RIGHTS_TEXT =
  'A delegation limited to a right looks like an unrestricted one unless you set `detail=full`; `unrestricted=true` leaves it out. To decide whether a wallet may act, use a check.';

function defineList<V extends Version>(version: V) {
  const params = {
    wallet: inPath(p.listedWallet),
    ...COMMON_PARAMS,
    ...LIST_FILTERS,
    ...(hasRights(version) ? RIGHTS_FILTER : {}),
    ...LIST_OPTIONS,
  };
  const texts = [INCOMING_FIRST, orderText(version), LIST_TEXT, ...(hasRights(version) ? [RIGHTS_TEXT] : [])];
  const shared = ofRegistry(version);
  return {
    ...shared,
    kind: 'list',
    version,
    path: `/registry/v${version}/{wallet}`,
    id: `listV${version}`,
    summary: `List the v${version} delegations of a wallet`,
    description: texts.join(' '),
    params: params as unknown as ListParams<V>,
    rules: [ONE_POINT_IN_TIME, CURSOR_NEEDS_LIMIT],
    answer: {
      description: 'The delegations. With `detail=full`, in full detail.',
      body: anyOf(arrayOf(DELEGATION[version]), arrayOf(DETAILED_DELEGATION[version])),
      headers: [...BLOCK_HEADERS, 'Link'],
      hasETag: true,
    },
    problems: [...shared.problems, 'cursor-gone'],
  } as const satisfies OperationBase & { readonly version: V };
}

type ListOf<V extends Version> = ReturnType<typeof defineList<V>>;
export type ListOperation = { [V in Version]: ListOf<V> }[Version];

/** By version. */
export const LISTS: { readonly [V in Version]: ListOf<V> } = { 1: defineList(1), 2: defineList(2) };

// The service itself

const defineStatus = <const Kind extends string, Body extends Shape<unknown>, const B extends 'page' | 'free'>(
  kind: Kind,
  path: string,
  budget: B,
  [summary, description]: readonly [string, string],
  answer: readonly [description: string, body: Body],
  problems: readonly ['not-ready'] | readonly [] = [],
) =>
  ({
    method: 'GET',
    tag: 'status',
    params: {},
    rules: [],
    kind,
    id: kind,
    path,
    summary,
    description,
    problems,
    budget,
    answer: { description: answer[0], body: answer[1], headers: [], hasETag: false },
  }) as const satisfies OperationBase;

export const NETWORKS_OPERATION = defineStatus(
  'networks',
  '/networks',
  'page',
  ['List the served chains', 'The head, lag and progress of every served chain.'],
  ['The served chains.', arrayOf(NETWORK)],
  ['not-ready'],
);
export const HEALTH_OPERATION = defineStatus(
  'health',
  '/health',
  'free',
  ['Check that the process is alive', 'Checks nothing but the process itself.'],
  ['Process is alive.', HEALTH],
);
export const READY_OPERATION = defineStatus(
  'ready',
  '/ready',
  'free',
  [
    'Check that the service can answer',
    'Ready means that the database is available and at least one chain is up to date.',
  ],
  ['Ready, with the chains that are up to date.', READINESS],
  ['not-ready'],
);
const OPENAPI_OPERATION = defineStatus(
  'openapi',
  '/openapi.json',
  'page',
  ['Get the OpenAPI document', 'OpenAPI 3.1.'],
  ['This document.', anyObject],
);

export type BatchOperation = typeof BATCH_OPERATION;
export type RegistryOperation = CheckOperation | ListOperation;
const STATUS_OPERATIONS = [NETWORKS_OPERATION, HEALTH_OPERATION, READY_OPERATION, OPENAPI_OPERATION] as const;
type StatusOperation = (typeof STATUS_OPERATIONS)[number];
export type Operation =
  | RegistryOperation
  | AnyOperation
  | ExclusiveOperation
  | BatchOperation
  | WalletBatchOperation
  | VotesOperation
  | StatusOperation;

/** Both registries first, then the newest version. */
export const REGISTRY_OPERATIONS: readonly RegistryOperation[] = [
  ...Object.values(CHECKS.any),
  ...NEWEST_FIRST.flatMap((version) => [LISTS[version], ...(Object.values(CHECKS[version]) as CheckOperation[])]),
];

export const OPERATIONS: readonly Operation[] = [
  ...ANY_OPERATIONS,
  ...REGISTRY_OPERATIONS,
  ...Object.values(EXCLUSIVE),
  BATCH_OPERATION,
  ...WALLET_BATCHES,
  ...VOTES_OPERATIONS,
  ...STATUS_OPERATIONS,
];
