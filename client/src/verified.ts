// Verifies the answers of a client that asks for proofs.

import type { ProvenAnswer } from './api.ts';
import type { PointInTime, Verification } from './context.ts';
import { Unproven } from './errors.ts';
import type { ProvableQuestion } from './verify.js';

export type AskedQuestion = ProvableQuestion & PointInTime & { readonly chainId?: number | undefined };

/** Seconds. The service itself answers 503 with a block that is older than minutes. */
const MAX_AGE = 3600;

export function readProven(body: unknown): ProvenAnswer {
  const { block, proofs } = body as ProvenAnswer;
  if (typeof block.number !== 'number' || !Array.isArray(proofs)) throw new TypeError('not a proven answer');
  return body as ProvenAnswer;
}

/** The result, if the answer proves it as of a block that was asked and whose hash is trusted. Throws `Unproven`. */
export async function verified(
  { blockHash, maxAge = MAX_AGE }: Verification,
  { chainId = 1, block = 'latest', timestamp, ...question }: AskedQuestion,
  answer: ProvenAnswer,
) {
  const { number, hash, timestamp: time } = answer.block;
  // A date has more milliseconds since 1970 than any block has seconds.
  const before = Number(timestamp) < 1e11 ? Number(timestamp) : +new Date(timestamp ?? 0) / 1000;
  const isAsked =
    timestamp !== undefined
      ? time <= before
      : block === 'latest'
        ? time >= Date.now() / 1000 - maxAge
        : block === 'finalized' || String(block) === String(number);
  if (!isAsked) throw new Unproven('block', `Block ${number} is not as asked, or old`);
  // Loaded by those who verify.
  const { ProofError, verifyCheck } = await import('./verify.js');
  const trusted = await blockHash({ chainId, number, hash, timestamp: time });
  try {
    return verifyCheck(question, answer, { blockHash: trusted });
  } catch (cause) {
    throw cause instanceof ProofError ? new Unproven(cause.step, cause.message, { cause }) : cause;
  }
}
