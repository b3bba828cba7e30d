// The ten operations of the API, each described once: routing, validation and OpenAPI read this table.

import type { Question } from '../registry/check.ts';
import type { Version } from '../registry/delegation.ts';
import type { Param } from './params.ts';
import * as p from './params.ts';

export type Scope = Question['scope'];

interface OperationBase {
  readonly version: Version;
  readonly path: string;
  readonly summary: string;
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

function check(version: Version, scope: Scope, summary: string): CheckOperation {
  const pair = version === 1 ? [p.delegate, p.vault] : [p.to, p.from];
  const target =
    scope === 'all' ? [] : scope === 'contract' || scope === 'erc20' ? [p.contract] : [p.contract, p.tokenId];
  return {
    kind: 'check',
    version,
    scope,
    path: `/registry/v${version}/check/${scope}`,
    summary,
    required: [...pair, ...target],
    optional: [...(version === 2 ? [p.delegate, p.vault, p.rights] : []), p.chainId, ...TIME, p.numbers, p.explain],
  };
}

function list(version: Version, summary: string): ListOperation {
  return {
    kind: 'list',
    version,
    path: `/registry/v${version}/{wallet}`,
    summary,
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

export const OPERATIONS: readonly Operation[] = [
  list(2, 'The incoming and outgoing v2 delegations of a wallet'),
  check(2, 'all', 'Whether `to` may act for the whole of `from`'),
  check(2, 'contract', 'Whether `to` may act for `from` at a contract'),
  check(2, 'erc721', 'Whether `to` may act for `from` with one ERC-721 token'),
  check(2, 'erc1155', 'How much of an ERC-1155 token `from` has delegated to `to`'),
  check(2, 'erc20', 'How much of an ERC-20 token `from` has delegated to `to`'),
  list(1, 'The incoming and outgoing v1 delegations of a wallet'),
  check(1, 'all', 'Whether the delegate may act for the whole vault'),
  check(1, 'contract', 'Whether the delegate may act for the vault at a contract'),
  check(1, 'token', 'Whether the delegate may act for the vault with one token'),
];
