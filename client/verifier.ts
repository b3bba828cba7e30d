// What `delegations-client/verify` consists of: the server's own verification, with the questions of the client. It is bundled into
// src/verify.js, so that the package does not depend on the server: npm run types -w client.

import { ProofError, verifyAnswer } from '../src/proof/answer-proof.ts';
import { faultOfQuestion, type Question } from '../src/registry/check.ts';
import { type Bytes32, isBytes32, NO_RIGHTS } from '../src/registry/delegation.ts';
import { rightsOf, TEXT_PREFIX } from '../src/registry/rights.ts';
import { SCOPES } from '../src/registry/scopes.ts';
import type { ProvableQuestion, verifyCheck as VerifyCheck } from './src/verify.js';

export { ProofError };

export const verifyCheck: typeof VerifyCheck = (question, answer, { blockHash }) => {
  const trusted = blockHash.toLowerCase();
  if (!isBytes32(trusted)) throw new TypeError(`blockHash must be 32 bytes in hex, not ${blockHash}`);
  return verifyAnswer(toQuestion(question), answer, trusted) as never;
};

function toQuestion({ check, from, to, contract, tokenId, rights, version }: ProvableQuestion): Question {
  if (!Object.hasOwn(SCOPES, check))
    throw new TypeError(`check must be one of ${Object.keys(SCOPES).join(', ')}, not ${check}`);
  const scope = SCOPES[check];
  const registry = version ?? (check === 'token' ? 1 : 'any');
  if (!scope.selectors[registry === 'any' ? 2 : registry])
    throw new TypeError(`Registry ${registry} has no check ${check}`);
  const question = {
    version: registry,
    scope: check,
    from: from.toLowerCase(),
    to: to.toLowerCase(),
    ...(scope.needsContract && { contract: contract?.toLowerCase() }),
    ...(scope.needsTokenId && { tokenId: tokenId === undefined ? tokenId : BigInt(tokenId) }),
    ...(registry !== 1 && { rights: toRights(rights) }),
  } as unknown as Question;
  const fault = faultOfQuestion(question);
  if (fault !== null) throw new TypeError(`Invalid question: ${fault}`);
  return question;
}

function toRights(rights: string | undefined): Bytes32 | null {
  if (rights === undefined || rights === '') return NO_RIGHTS;
  return rights.startsWith(TEXT_PREFIX)
    ? rightsOf(rights.slice(TEXT_PREFIX.length))
    : (rights.toLowerCase() as Bytes32);
}
