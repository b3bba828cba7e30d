// What the registries' own checks answer. The whole rule is one list: the delegations that would grant what is asked.

import type { Address, Bytes32, Delegation, DelegationKey, Kind } from './delegation.ts';
import { isAddress, isBytes32, isUint256, KINDS, MAX_UINT256, NO_RIGHTS } from './delegation.ts';
import { ALL_SCOPES, SCOPES, type Scope, type ScopeOf, V1_SCOPE } from './scopes.ts';
import { hasRights, NEWEST_FIRST, neverGrants, type VERSIONS, type Version } from './versions.ts';

interface Pair {
  /** The cold wallet that would have granted. */
  readonly from: Address;
  /** The hot wallet that wants to act. */
  readonly to: Address;
}

type TargetOf<S extends Scope> = ((typeof SCOPES)[S]['needsContract'] extends true
  ? { readonly contract: Address }
  : unknown) &
  ((typeof SCOPES)[S]['needsTokenId'] extends true ? { readonly tokenId: bigint } : unknown);

/** Without rights (all zero) only unrestricted delegations count. */
type RightsOf<V extends Version> = (typeof VERSIONS)[V]['hasRights'] extends true
  ? { readonly rights: Bytes32 }
  : unknown;

/** A question to the registry of one version. */
export type QuestionOf<V extends Version> = {
  [S in ScopeOf<V>]: { readonly version: V; readonly scope: S } & Pair & RightsOf<V> & TargetOf<S>;
}[ScopeOf<V>];

export type Question = { [V in Version]: QuestionOf<V> }[Version];

/** A question to both registries: a grant in either counts. A v1 grant has no right, so it counts for every right. */
export type AnyQuestion = {
  [S in ScopeOf<2>]: { readonly version: 'any'; readonly scope: S } & Pair & RightsOf<2> & TargetOf<S>;
}[ScopeOf<2>];

type WithoutPair<Q> = Q extends Pair ? Omit<Q, keyof Pair> : never;

export type AnyTarget = WithoutPair<AnyQuestion>;

/** What a question asks about, whoever the two wallets are. */
export type Target = WithoutPair<Question | AnyQuestion>;

/** What a question to every registry asks of each. */
const PART_OF: { readonly [V in Version]: (question: AnyQuestion) => QuestionOf<V> } = {
  1(question) {
    const { from, to, scope } = question;
    const { needsContract, needsTokenId } = SCOPES[V1_SCOPE[scope]];
    const contract = needsContract && 'contract' in question ? { contract: question.contract } : {};
    const tokenId = needsTokenId && 'tokenId' in question ? { tokenId: question.tokenId } : {};
    return { version: 1, scope: V1_SCOPE[scope], from, to, ...contract, ...tokenId } as QuestionOf<1>;
  },
  2: (question) => ({ ...question, version: 2 }),
};

/** The questions to each registry that a question consists of, the newest version first. */
export const partsOf = (question: Question | AnyQuestion): Question[] =>
  question.version === 'any' ? NEWEST_FIRST.map((version) => PART_OF[version](question)) : [question];

/** The delegations each of which, if it holds, grants what is asked: nine at most, the newest version first. */
export function grantingKeys(question: Question | AnyQuestion): DelegationKey[] {
  if (question.version === 'any') return partsOf(question).flatMap(grantingKeys);
  const { version, from } = question;
  if (!('rights' in question)) return keysWithRights(question, null);
  if (neverGrants(version, from)) return [];
  const unrestricted = keysWithRights(question, NO_RIGHTS);
  return question.rights === NO_RIGHTS ? unrestricted : [...unrestricted, ...keysWithRights(question, question.rights)];
}

function keysWithRights(question: Question, rights: Bytes32 | null): DelegationKey[] {
  const { version, from, to, scope } = question;
  const keys: DelegationKey[] = [];
  for (const kind of SCOPES[scope].grantedBy) {
    const has = KINDS[kind];
    const contract = has.contract && 'contract' in question ? question.contract : null;
    const tokenId = has.tokenId && 'tokenId' in question ? question.tokenId : null;
    keys.push({ version, kind, from, to, contract, tokenId, rights });
  }
  return keys;
}

/** What is wrong with a question, in words, or null for a good one. */
export function faultOfQuestion(question: Question | AnyQuestion): string | null {
  const { from, to } = question;
  if (!isAddress(from)) return `from ${from} is not a lower-case address`;
  if (!isAddress(to)) return `to ${to} is not a lower-case address`;
  if ('rights' in question && !isBytes32(question.rights))
    return `rights ${question.rights} are not lower-case bytes32`;
  if ('contract' in question && !isAddress(question.contract))
    return `contract ${question.contract} is not a lower-case address`;
  if ('tokenId' in question && !isUint256(question.tokenId)) return `tokenId ${question.tokenId} is not a uint256`;
  return null;
}

/** Of two scopes that end with the same kind, the first. */
const SCOPE_OF_KIND = new Map<Kind, Scope>(
  ALL_SCOPES.toReversed().map((scope) => [SCOPES[scope].grantedBy.at(-1) as Kind, scope]),
);

/** The question that this delegation alone answers with yes. */
export function questionFor({ version, kind, from, to, contract, tokenId, rights }: DelegationKey): Question {
  const target = { ...(contract === null ? {} : { contract }), ...(tokenId === null ? {} : { tokenId }) };
  const base = { version, scope: SCOPE_OF_KIND.get(kind), from, to, ...target };
  return (hasRights(version) ? { ...base, rights: rights ?? NO_RIGHTS } : base) as Question;
}

/** True when the scope is answered by a balance, not by yes or no. */
export const asksBalance = ({ scope }: Pick<Question, 'scope'>): boolean => SCOPES[scope].answersBalance;

/** The registry's answer, given those of the granting delegations that hold. */
export function answer(question: Question | AnyQuestion, granting: readonly Pick<Delegation, 'amount'>[]) {
  if (!asksBalance(question)) return granting.length > 0;
  let balance = 0n;
  for (const { amount } of granting) {
    // The whole wallet or the whole contract is delegated: no amount limits it.
    const granted = amount ?? MAX_UINT256;
    if (granted > balance) balance = granted;
  }
  return balance;
}
