// Which other delegations give what a delegation gives: while one of them stays, the wallet can do the same as before.

import { type AnyQuestion, grantingKeys, questionFor } from './check.ts';
import { type DelegationKey, delegationId, NO_RIGHTS } from './delegation.ts';
import type { ScopeOf } from './scopes.ts';

/** What applications that ask both registries ask, where a v1 delegation grants it. v1 does not record the standard of a token. */
const ASKED_OF_BOTH = {
  all: ['all'],
  contract: ['contract'],
  token: ['erc721', 'erc1155'],
} as const satisfies { readonly [S in ScopeOf<1>]: readonly ScopeOf<2>[] };

function questionsOf(delegation: DelegationKey): AnyQuestion[] {
  const question = questionFor(delegation);
  if (question.version === 2) return [{ ...question, version: 'any' }];
  const { version: _, scope, ...about } = question;
  return ASKED_OF_BOTH[scope].map(
    (asked) => ({ ...about, version: 'any', scope: asked, rights: NO_RIGHTS }) as AnyQuestion,
  );
}

/** The ids of the delegations in either registry each of which gives the same, this one included; of an amount, perhaps less. */
export const idsThatGrantTheSame = (delegation: DelegationKey): ReadonlySet<string> =>
  new Set(questionsOf(delegation).flatMap(grantingKeys).map(delegationId));

/** Whether each gives what the other gives: in the other registry, say. */
export const grantEqually = (one: DelegationKey, other: DelegationKey): boolean =>
  idsThatGrantTheSame(one).has(delegationId(other)) && idsThatGrantTheSame(other).has(delegationId(one));
