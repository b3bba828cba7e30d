// What the registries' own checks answer. The whole rule is one list: the delegations that would grant what is asked.

import {
  type Address,
  type Bytes32,
  type Delegation,
  type DelegationKey,
  isAddress,
  isBytes32,
  isUint256,
  MAX_UINT256,
  NO_RIGHTS,
} from './delegation.ts';

interface Pair {
  /** The cold wallet that would have granted. */
  readonly from: Address;
  /** The hot wallet that wants to act. */
  readonly to: Address;
}

/** A question to the v1 registry. */
export type QuestionV1 = { readonly version: 1 } & Pair &
  (
    | { readonly scope: 'all' }
    | { readonly scope: 'contract'; readonly contract: Address }
    | { readonly scope: 'token'; readonly contract: Address; readonly tokenId: bigint }
  );

/** A question to the v2 registry. Without rights (all zero) only unrestricted delegations count. */
export type QuestionV2 = { readonly version: 2; readonly rights: Bytes32 } & Pair &
  (
    | { readonly scope: 'all' }
    | { readonly scope: 'contract'; readonly contract: Address }
    | { readonly scope: 'erc20'; readonly contract: Address }
    | { readonly scope: 'erc721' | 'erc1155'; readonly contract: Address; readonly tokenId: bigint }
  );

export type Question = QuestionV1 | QuestionV2;

/** The v2 contract answers no for these two senders, whatever its logs say. */
const NEVER_GRANTORS: readonly string[] = [`0x${'0'.repeat(40)}`, `0x${'0'.repeat(39)}1`];

/** The delegations each of which, if it holds, grants what is asked: six at most. */
export function grantingKeys(question: Question): DelegationKey[] {
  if (question.version === 1) return keysWithRights(question, null);
  if (NEVER_GRANTORS.includes(question.from)) return [];
  const unrestricted = keysWithRights(question, NO_RIGHTS);
  return question.rights === NO_RIGHTS ? unrestricted : [...unrestricted, ...keysWithRights(question, question.rights)];
}

const TOKEN_KIND = { token: 'TOKEN', erc721: 'ERC721', erc20: 'ERC20', erc1155: 'ERC1155' } as const;

function keysWithRights(question: Question, rights: Bytes32 | null): DelegationKey[] {
  const { version, from, to, scope } = question;
  const all: DelegationKey = { version, kind: 'ALL', from, to, contract: null, tokenId: null, rights };
  if (scope === 'all') return [all];
  const contract: DelegationKey = { ...all, kind: 'CONTRACT', contract: question.contract };
  if (scope === 'contract') return [all, contract];
  const tokenId = scope === 'erc20' ? null : question.tokenId;
  return [all, contract, { ...contract, kind: TOKEN_KIND[scope], tokenId }];
}

/** What is wrong with a question, in words, or null for a good one. */
export function faultOfQuestion(question: Question): string | null {
  const { from, to, scope } = question;
  if (!isAddress(from)) return `from ${from} is not a lower-case address`;
  if (!isAddress(to)) return `to ${to} is not a lower-case address`;
  if (question.version === 2 && !isBytes32(question.rights))
    return `rights ${question.rights} are not lower-case bytes32`;
  if (scope !== 'all' && !isAddress(question.contract))
    return `contract ${question.contract} is not a lower-case address`;
  if ('tokenId' in question && !isUint256(question.tokenId)) return `tokenId ${question.tokenId} is not a uint256`;
  return null;
}

const SCOPE_OF_KIND = {
  ALL: 'all',
  CONTRACT: 'contract',
  TOKEN: 'token',
  ERC721: 'erc721',
  ERC20: 'erc20',
  ERC1155: 'erc1155',
} as const;

/** The question that a delegation is there to answer with yes. */
export function questionFor({ version, kind, from, to, contract, tokenId, rights }: DelegationKey): Question {
  const target = { ...(contract === null ? {} : { contract }), ...(tokenId === null ? {} : { tokenId }) };
  const base = { version, scope: SCOPE_OF_KIND[kind], from, to, ...target };
  return (version === 1 ? base : { ...base, rights: rights ?? NO_RIGHTS }) as Question;
}

/** True when the scope is answered by a balance, not by yes or no. */
export const asksBalance = (question: Question): boolean => question.scope === 'erc20' || question.scope === 'erc1155';

/** The registry's answer, given those of the granting delegations that hold. */
export function answer(question: Question, granting: readonly Pick<Delegation, 'amount'>[]): boolean | bigint {
  if (!asksBalance(question)) return granting.length > 0;
  let balance = 0n;
  for (const { amount } of granting) {
    // The whole wallet or the whole contract is delegated: no amount limits it.
    const granted = amount ?? MAX_UINT256;
    if (granted > balance) balance = granted;
  }
  return balance;
}
