// Checks one question, at the head or as of a block.

import { type AnyQuestion, faultOfQuestion, type Question } from '../../registry/check.ts';
import { StoreError } from '../errors.ts';
import type { IndexHash } from '../index-hash.ts';
import type { CheckResult, HeldDelegation } from '../store.ts';
import { createCheckAt } from './check-at.ts';
import type { CheckNow } from './check-now.ts';
import type { HeldColumns } from './held-columns.ts';
import { requireBlockNumber } from './refusals.ts';
import type { StateReader } from './state-reader.ts';

export function createCheck<D extends HeldDelegation>(
  read: StateReader,
  hash: IndexHash,
  held: HeldColumns<D>,
  checkNow: CheckNow<D>,
): (chainId: number, question: Question | AnyQuestion, block?: number) => Promise<CheckResult<D>> {
  const checkAt = createCheckAt(read, hash, held);
  return async (chainId, question, block) => {
    const fault = faultOfQuestion(question);
    if (fault !== null) throw new StoreError('bad-question', fault);
    if (block === undefined) return checkNow(chainId, question);
    requireBlockNumber(block);
    return checkAt(chainId, question, block);
  };
}
