// The ten operations of the API, each described once: routing, validation and OpenAPI read this table.

import type { Question } from '../registry/check.ts';
import type { Version } from '../registry/versions.ts';
import type { Param } from './params.ts';
import * as p from './params.ts';

export type Scope = Question['scope'];

interface OperationBase {
  readonly version: Version;
  readonly path: string;
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly required: readonly Param<unknown>[];
  readonly optional: readonly Param<unknown>[];
}

export interface CheckOperation extends OperationBase {
  readonly kind: 'check';
  readonly scope: Scope;
}

export interface ListOperation extends OperationBase {
  readonly kind: 'list';
}

export type Operation = CheckOperation | ListOperation;

const TIME = [p.block, p.timestamp] as const;

function check(version: Version, scope: Scope, summary: string, description: string): CheckOperation {
  const pair = version === 1 ? [p.delegate, p.vault] : [p.to, p.from];
  const target =
    scope === 'all' ? [] : scope === 'contract' || scope === 'erc20' ? [p.contract] : [p.contract, p.tokenId];
  return {
    kind: 'check',
    version,
    scope,
    path: `/registry/v${version}/check/${scope}`,
    id: `check${scope[0]?.toUpperCase()}${scope.slice(1)}V${version}`,
    summary,
    description,
    required: [...pair, ...target],
    optional: [...(version === 2 ? [p.delegate, p.vault, p.rights] : []), p.chainId, ...TIME, p.numbers, p.explain],
  };
}

function list(version: Version, summary: string, description: string): ListOperation {
  return {
    kind: 'list',
    version,
    path: `/registry/v${version}/{wallet}`,
    id: `listV${version}`,
    summary,
    description,
    required: [p.wallet],
    optional: [
      p.chainId,
      ...TIME,
      p.direction,
      p.type,
      p.contractFilter,
      ...(version === 2 ? [p.rightsFilter] : []),
      p.detail,
      p.numbers,
      p.limit,
      p.cursor,
    ],
  };
}

const LIST =
  'Incoming and outgoing delegations together, each once, oldest grant first. The list comes whole, however long it is; `limit` asks for pages, and the `Link` header of each leads to the next. All pages are of the block of the first.';
const RESTRICTED =
  'A delegation that is limited to a right looks like an unlimited one unless `detail=full` is asked: use a check to decide.';
const BALANCE =
  'An amount that covers the whole wallet or contract is 2^256-1, as the registry has it; 0 means that nothing is delegated.';

export const OPERATIONS: readonly Operation[] = [
  list(2, 'The v2 delegations of a wallet', `${LIST} ${RESTRICTED}`),
  check(
    2,
    'all',
    'Whether `to` may act for the whole wallet `from`',
    'True where `from` has delegated its entire wallet to `to`.',
  ),
  check(
    2,
    'contract',
    'Whether `to` may act for `from` at a contract',
    'True where `from` has delegated its entire wallet, or this contract, to `to`.',
  ),
  check(
    2,
    'erc721',
    'Whether `to` may act for `from` with one ERC-721 token',
    'True where `from` has delegated its entire wallet, the contract, or this very token to `to`.',
  ),
  check(2, 'erc1155', 'How much of an ERC-1155 token `from` has delegated to `to`', BALANCE),
  check(2, 'erc20', 'How much of an ERC-20 token `from` has delegated to `to`', BALANCE),
  list(1, 'The v1 delegations of a wallet', LIST),
  check(
    1,
    'all',
    'Whether the delegate may act for the whole vault',
    'True where the vault has delegated all of itself to the delegate.',
  ),
  check(
    1,
    'contract',
    'Whether the delegate may act for the vault at a contract',
    'True where the vault has delegated all of itself, or this contract, to the delegate.',
  ),
  check(
    1,
    'token',
    'Whether the delegate may act for the vault with one token',
    'True where the vault has delegated all of itself, the contract, or this very token to the delegate.',
  ),
];
