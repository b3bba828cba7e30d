// The question that a check asks of the registry, from the request's parameters.

import type { AnyQuestion, Question } from '../registry/check.ts';
import type { RequestOf } from './operation.ts';
import type { CheckOperation } from './operations.ts';
import { REGISTRIES } from './registries.ts';

type CheckRequest = RequestOf<CheckOperation>;

/** The parameters that are part of the question. */
export type QuestionParam = Exclude<keyof CheckRequest, keyof ReturnType<typeof splitQuestion>['options']>;

/** The question, and the parameters that are not part of it. */
export function splitQuestion({ version, scope }: CheckOperation, request: CheckRequest) {
  const { to, from, delegate, vault, contract, tokenId, rights, ...options } = request;
  const given = { to, from, delegate, vault };
  const { wallets } = REGISTRIES[version];
  const question = {
    version,
    scope,
    to: given[wallets.to],
    from: given[wallets.from],
    ...(contract === undefined ? {} : { contract }),
    ...(tokenId === undefined ? {} : { tokenId }),
    ...(rights === undefined ? {} : { rights }),
  };
  // The operation's parameters are those that its scope and registry need.
  return { question: question as Question | AnyQuestion, options };
}
