// Answers checks: one question, one value.

import { arrayText, writerFor } from '../../api/json-text.ts';
import { handled } from '../../api/operation.ts';
import type { CheckOperation } from '../../api/operations.ts';
import { badRequest } from '../../api/problems.ts';
import { type CheckOptions, splitQuestion } from '../../api/question.ts';
import type { Registry } from '../../api/registries.ts';
import { readRequest } from '../../api/request.ts';
import { explanation } from '../../api/responses.ts';
import { anyOf, boolean, uint256 } from '../../api/shape.ts';
import {
  type anyRecordText,
  blockText,
  detailedRecordText,
  type Format,
  valueText,
} from '../../feed/delegation-json.ts';
import { answer, partsOf } from '../../registry/check.ts';
import type { CheckResult, DetailedDelegation, HeldDelegation } from '../../store/store.ts';
import { othersOfTurn } from '../../store/turns.ts';
import { readAsOf, reportUnread, requireFresh } from '../context/as-of.ts';
import { requireServed } from '../context/served-chains.ts';
import type { Call } from '../context/service.ts';
import { type Answer, blockHeaders, tagged } from '../wire/answer.ts';
import { provenText, requireProofs } from './proven.ts';

// Another option does not compile until it is read here.
handled({} as Omit<CheckOptions, 'chainId' | 'block' | 'timestamp' | 'numbers' | 'explain' | 'proof'>);

export async function answerCheck(operation: CheckOperation, call: Call): Promise<Answer> {
  const { query, request, service } = call;
  const { question, options } = splitQuestion(operation, readRequest(operation, {}, query));
  const { chainId, block, timestamp, numbers: mode, explain, proof } = options;
  requireServed(chainId, operation.version, service.chainIds);
  const [isExplained, isProven] = [explain === 'true', proof === 'true'];
  if (isProven) requireProofs(service);
  if (isProven && isExplained)
    throw badRequest([{ parameter: 'proof', detail: 'cannot be combined with explain=true' }]);
  const { store } = service;
  await othersOfTurn;
  const read = (at?: number): Promise<CheckResult<HeldDelegation>> =>
    isExplained ? store.explain(chainId, question, at) : store.check(chainId, question, at);
  const reading = readAsOf(store, chainId, { block, timestamp }, read);
  const { result, reach } = await reportUnread({ chainId, to: question.to }, service, reading);
  const now = service.now();
  requireFresh(result.chain, reach, now, service, question);
  if (result.granting.length === 0 && service.onDenied !== undefined) {
    for (const part of partsOf(question)) service.onDenied(chainId, part);
  }

  const headers = blockHeaders(result.chain, result.block, now, { request, budget: operation.budget, timestamp });
  const value = answer(question, result.granting);
  const body = isExplained
    ? EXPLANATION(
        { ...(result as CheckResult<DetailedDelegation>), value, registry: operation.version },
        { mode, chainId },
      )
    : isProven
      ? await provenText(call, result.chain, result.block, question, value, mode)
      : valueText(value, mode);
  return tagged(request, headers, body);
}

/** Explained answers are read in detail. */
interface Explained extends CheckResult<DetailedDelegation> {
  readonly value: boolean | bigint;
  readonly registry: Registry;
}

/** The answer to a check with `explain=true`. Only the records of the registries differ. */
const EXPLANATION = writerFor<Explained, Format>()(explanation('any', anyOf(boolean, uint256)), {
  result: ({ value }, { mode }) => valueText(value, mode),
  delegations: ({ granting, registry }, format) =>
    arrayText(granting.map((row) => detailedRecordText(row, format, registry) as ReturnType<typeof anyRecordText>)),
  block: ({ block }) => blockText(block),
});
