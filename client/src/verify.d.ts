// Verifies answers with `proof=true` against the hash of a block, without a network. verify.js is made from ../verifier.ts.

import type { Registry, ResultOf, Scope } from './checks.ts';

/** A question, as `check` and `checkMany` take it. */
export interface ProvableQuestion<S extends Scope = Scope> {
  readonly check: S;
  /** The registry that was asked; both, unless it is given. */
  readonly version?: Registry | undefined;
  readonly from: string;
  readonly to: string;
  readonly contract?: string | undefined;
  readonly tokenId?: bigint | string | undefined;
  readonly rights?: string | undefined;
}

export type ProofStep = 'format' | 'block' | 'header' | 'account' | 'storage' | 'result';

/** The proof does not show the answer. */
export declare class ProofError extends Error {
  readonly name: 'ProofError';
  /** The first part of the proof that does not hold. */
  readonly step: ProofStep;
}

/**
 * The result that the answer proves. Throws a `ProofError` if it proves nothing, or is not as of the block with this hash.
 * `answer` is the parsed body of a check with `proof=true`, or an answer of such a batch.
 */
export declare function verifyCheck<const S extends Scope>(
  question: ProvableQuestion<S>,
  answer: unknown,
  trusted: {
    /** Of the block, from a source that you trust, such as your own node. */
    readonly blockHash: string;
  },
): ResultOf<S>;
