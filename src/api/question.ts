// The question that a check asks of the registry, from the request's parameters.

import type { AnyQuestion, Question } from '../registry/check.ts';
import type { Scope } from '../registry/scopes.ts';
import type { RequestOf } from './operation.ts';
import type { CheckOperation } from './operations.ts';
import { REGISTRIES, type Registry } from './registries.ts';

type CheckRequest = RequestOf<CheckOperation>;

/** The parameters that say how and when, not what. */
export type CheckOptions = Pick<CheckRequest, 'chainId' | 'block' | 'timestamp' | 'numbers' | 'explain' | 'proof'>;

/** The parameters that are part of the question. */
export type QuestionParam = 'to' | 'from' | 'delegate' | 'vault' | 'contract' | 'tokenId' | 'rights';

/** A parameter that is in neither does not compile. */
type Read = Exclude<keyof CheckRequest, QuestionParam | keyof CheckOptions> extends never ? CheckRequest : never;

/** The question of parameters that were read by the declaration of its check: they are those that its scope and registry need. */
export function buildQuestion(
  version: Registry,
  scope: Scope,
  from: unknown,
  to: unknown,
  { contract, tokenId, rights }: { readonly contract?: unknown; readonly tokenId?: unknown; readonly rights?: unknown },
): Question | AnyQuestion {
  const question: Record<string, unknown> = { version, scope, to, from };
  if (contract !== undefined) question['contract'] = contract;
  if (tokenId !== undefined) question['tokenId'] = tokenId;
  if (rights !== undefined) question['rights'] = rights;
  return question as unknown as Question | AnyQuestion;
}

/** The question, and the parameters that are not part of it. */
export function splitQuestion({ version, scope }: CheckOperation, request: Read) {
  const { wallets } = REGISTRIES[version];
  const question = buildQuestion(version, scope, request[wallets.from], request[wallets.to], request);
  return { question, options: request as CheckOptions };
}
