// Proofs of answers: what a provider proves must be what the index says, or the answer is refused.

import { plainText, stringify, writerFor } from '../../api/json-text.ts';
import type { NumberMode } from '../../api/params.ts';
import { Problem } from '../../api/problems.ts';
import { PROVEN_BLOCK, provenAnswer, REGISTRY_PROOF } from '../../api/responses.ts';
import { anyOf, arrayOf, boolean, uint256 } from '../../api/shape.ts';
import type { ProofReader } from '../../chain/prove/proof-reader.ts';
import type { AnswerProof } from '../../chain/prove/prove-answer.ts';
import { valueText } from '../../feed/delegation-json.ts';
import type { ProvenBlock } from '../../proof/answer-proof.ts';
import type { AnyQuestion, Question } from '../../registry/check.ts';
import type { AnswerBlock, ChainState } from '../../store/store.ts';
import type { Call } from '../context/service.ts';
import { countedAs } from '../limits/shares.ts';

const RETRY_SECONDS = 5;
const DISPUTED_SECONDS = 60;

const UNAVAILABLE = {
  'no-provider': 'No provider has a proof at this block',
  'not-provable': 'This chain keeps its state in another form, so it cannot be proven',
  overloaded: 'Too many requests wait for the providers',
} as const;

const NOT_PROVABLE = { type: 'unavailable', cause: 'not-provable', failures: [] } as const;

/** For those of a batch that the providers did not come to. */
export const tooLateToProve = (chainId: number): Problem =>
  new Problem('proof-unavailable', 'The providers took too long for the proofs of this batch. Ask for fewer at once.', {
    retryAfter: RETRY_SECONDS,
    fields: { chainId, cause: 'overloaded', newestBlock: null },
  });

export function requireProofs({ proofs }: Call['service']): ProofReader {
  if (proofs !== undefined) return proofs;
  throw new Problem('proofs-off', 'The operator of this service has not turned proofs on (PROOFS=on).');
}

/** Makes the answer with its proof. Throws a problem if there is none. */
export async function provenText(
  { service, caller }: Pick<Call, 'service' | 'caller'>,
  { chainId, head, provable }: ChainState,
  block: AnswerBlock,
  question: Question | AnyQuestion,
  value: boolean | bigint,
  mode: NumberMode,
): Promise<string> {
  const proofs = requireProofs(service);
  const kept = requireKept(chainId, block);
  const read = (at: ProvenBlock) => proofs.prove({ chainId, block: at, question, caller: countedAs(caller()) });
  // The follower has found out that the blocks of the chain cannot be proven.
  const found = provable === false ? NOT_PROVABLE : await read(kept);
  if (found.type === 'unavailable') {
    const { cause, failures } = found;
    const mayBeOld = cause === 'no-provider' && head !== null && head.number > kept.number;
    const newest = mayBeOld ? await read(head) : null;
    const newestBlock = newest?.type === 'proof' && head !== null ? head.number : null;
    const hint = newestBlock === null ? '' : ` At block ${newestBlock} there is one.`;
    const which = failures.length === 0 ? '' : `: ${failures.join(', ')}`;
    const fields = { chainId, cause, newestBlock };
    throw new Problem('proof-unavailable', `${UNAVAILABLE[cause]}${which}.${hint}`, {
      retryAfter: RETRY_SECONDS,
      fields,
    });
  }
  if (found.result !== value) {
    const { provider, result } = found;
    const evidence = { chainId, block: kept, question, index: value, proven: result, provider };
    service.onContradiction?.(evidence);
    throw new Problem(
      'wallet-disputed',
      `The registry's storage at block ${kept.number} proves another answer than the index has about ${question.from}.`,
      { retryAfter: DISPUTED_SECONDS, fields: { chainId, since: Math.floor(service.now()) } },
    );
  }
  return PROVEN({ value, ...found.proof }, { mode });
}

function requireKept(chainId: number, { number, hash, timestamp }: AnswerBlock): ProvenBlock {
  if (hash !== null && timestamp !== null) return { number, hash, timestamp };
  throw new Problem(
    'block-not-kept',
    `The index of chain ${chainId} has no hash of the requested block, so nothing can be proven at it. Use block=latest or block=finalized.`,
    { fields: { chainId, block: number } },
  );
}

interface Proven extends AnswerProof {
  readonly value: boolean | bigint;
}

const PROVEN = writerFor<Proven, { readonly mode: NumberMode }>()(provenAnswer(anyOf(boolean, uint256)), {
  result: ({ value }, { mode }) => valueText(value, mode),
  block: ({ block: { number, hash, timestamp } }) => stringify(PROVEN_BLOCK, { number, hash, timestamp }),
  header: ({ header }) => plainText(header),
  proofs: ({ proofs }) => stringify(arrayOf(REGISTRY_PROOF), proofs),
});
