// Verifies the answers of a client that asks for proofs.

import type { ProvenAnswer } from './api.ts';
import type { Verification } from './context.ts';
import { Unproven } from './errors.ts';
import type { ProvableQuestion } from './verify.js';

export type AskedQuestion = ProvableQuestion & { readonly chainId?: number | undefined };

export function readProven(body: unknown): ProvenAnswer {
  const { block, proofs } = body as ProvenAnswer;
  if (typeof block.number !== 'number' || !Array.isArray(proofs)) throw new TypeError('not a proven answer');
  return body as ProvenAnswer;
}

/** The result, if the answer proves it as of a block whose hash is trusted. Throws `Unproven`. */
export async function verified(
  { blockHash }: Verification,
  { chainId = 1, ...question }: AskedQuestion,
  answer: ProvenAnswer,
) {
  // Loaded by those who verify.
  const { ProofError, verifyCheck } = await import('./verify.js');
  const trusted = await blockHash({ chainId, ...answer.block });
  try {
    return verifyCheck(question, answer, { blockHash: trusted });
  } catch (cause) {
    throw cause instanceof ProofError ? new Unproven(cause.step, cause.message, { cause }) : cause;
  }
}
