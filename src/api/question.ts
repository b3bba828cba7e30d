// The question that a check asks of the registry, from the request's parameters.

import type { AnyQuestion, Question } from '../registry/check.ts';
import type { RequestOf } from './operation.ts';
import type { CheckOperation } from './operations.ts';
import { REGISTRIES } from './registries.ts';

type CheckRequest = RequestOf<CheckOperation>;

/** The parameters that say how and when, not what. */
type Options = Pick<CheckRequest, 'chainId' | 'block' | 'timestamp' | 'numbers' | 'explain'>;

/** The parameters that are part of the question. */
export type QuestionParam = 'to' | 'from' | 'delegate' | 'vault' | 'contract' | 'tokenId' | 'rights';

/** A parameter that is in neither does not compile. */
type Read = Exclude<keyof CheckRequest, QuestionParam | keyof Options> extends never ? CheckRequest : never;

/** The question, and the parameters that are not part of it. */
export function splitQuestion({ version, scope }: CheckOperation, request: Read) {
  const { wallets } = REGISTRIES[version];
  const { contract, tokenId, rights } = request;
  const question: Record<string, unknown> = { version, scope, to: request[wallets.to], from: request[wallets.from] };
  // The operation's parameters are those that its scope and registry need.
  if (contract !== undefined) question['contract'] = contract;
  if (tokenId !== undefined) question['tokenId'] = tokenId;
  if (rights !== undefined) question['rights'] = rights;
  return { question: question as unknown as Question | AnyQuestion, options: request as Options };
}
