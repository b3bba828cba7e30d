// Draws the benchmark's questions: contract checks without rights, half of them for pairs with a delegation.

import { splitUrl } from '../src/api/query.ts';
import { checkUrl } from '../src/api/url.ts';
import type { QuestionOf } from '../src/registry/check.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { type Address, type Delegation, NO_RIGHTS } from '../src/registry/delegation.ts';
import { createRandom } from '../test/support/random.ts';

export type ContractQuestion = Extract<QuestionOf<2>, { scope: 'contract' }>;

/** How an address is written in a request. */
export type Form = (address: Address) => string;
export const lowerCase: Form = (address) => address;
export const FORMS: readonly (readonly [string, Form])[] = [
  ['lower case', lowerCase],
  ['checksummed', checksummed],
];

export function drawQuestions(delegations: readonly Delegation[], many: number): ContractQuestion[] {
  const random = createRandom(3);
  const askable = delegations.filter(
    ({ version, contract, rights }) => version === 2 && contract !== null && rights === NO_RIGHTS,
  );
  const draw = () => askable[Math.floor(random() * askable.length)];
  return Array.from({ length: many }, (_, turn) => {
    const [one, other] = [draw(), draw()];
    if (one?.contract == null || other === undefined) throw new Error('The sample has no contract delegation');
    const { from, contract } = one;
    return { version: 2, scope: 'contract', from, to: (turn % 2 === 0 ? one : other).to, contract, rights: NO_RIGHTS };
  });
}

/** The question's URL, without the rights that every check has by default. */
export const urlOf = ({ version, scope, to, from, contract }: ContractQuestion, form: Form) =>
  checkUrl({ version, scope, to: form(to), from: form(from), contract: form(contract) });

/** The same query for peers with paths of their own. */
export const queryOf = (question: ContractQuestion, form: Form) => splitUrl(urlOf(question, form)).query;
