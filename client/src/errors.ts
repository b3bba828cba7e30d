// Everything that is not an answer is thrown as one of these errors: unknown is never false.

import type { Problem, ProblemFields } from './api.ts';
import type { ProofStep } from './verify.js';

export type ProblemType = keyof ProblemFields;

/** The question was not answered. */
export class DelegationsError extends Error {
  override readonly name: string = 'DelegationsError';
}

/** The service did not respond in time, or the connection failed. `cause` says why. */
export class Unreachable extends DelegationsError {
  override readonly name = 'Unreachable';
}

/** A response that the API does not send, such as the error page of a proxy. */
export class InvalidResponse extends DelegationsError {
  override readonly name = 'InvalidResponse';
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The service refused the question with a problem. */
export class ProblemError<T extends ProblemType = ProblemType> extends DelegationsError {
  override readonly name: string = 'ProblemError';
  /** The problem as the service sent it. */
  readonly problem: Problem & ProblemFields[T];
  /** Seconds after which a retry may succeed; null if the service did not say. */
  readonly retryAfter: number | null;
  constructor(problem: Problem, retryAfter: number | null) {
    super(`${problem.title}: ${problem.detail}`);
    this.problem = problem as Problem & ProblemFields[T];
    this.retryAfter = retryAfter;
  }
}

export class BadRequest extends ProblemError<'bad-request'> {
  override readonly name = 'BadRequest';
}
export class UnknownChain extends ProblemError<'unknown-chain'> {
  override readonly name = 'UnknownChain';
}
export class BadKey extends ProblemError<'bad-key'> {
  override readonly name = 'BadKey';
}
export class NotFound extends ProblemError<'not-found'> {
  override readonly name = 'NotFound';
}
/** The block is before the first indexed one. */
export class NotIndexed extends ProblemError<'not-indexed'> {
  override readonly name = 'NotIndexed';
}
export class BlockNotKept extends ProblemError<'block-not-kept'> {
  override readonly name = 'BlockNotKept';
}
export class OwnershipOff extends ProblemError<'ownership-off'> {
  override readonly name = 'OwnershipOff';
}
export class ProofsOff extends ProblemError<'proofs-off'> {
  override readonly name = 'ProofsOff';
}
export class MethodNotAllowed extends ProblemError<'method-not-allowed'> {
  override readonly name = 'MethodNotAllowed';
}
export class RequestTimeout extends ProblemError<'request-timeout'> {
  override readonly name = 'RequestTimeout';
}
/** A reorg changed the list that is being read: start again. */
export class CursorGone extends ProblemError<'cursor-gone'> {
  override readonly name = 'CursorGone';
}
export class ContentTooLarge extends ProblemError<'content-too-large'> {
  override readonly name = 'ContentTooLarge';
}
export class UriTooLong extends ProblemError<'uri-too-long'> {
  override readonly name = 'UriTooLong';
}
export class UnsupportedMediaType extends ProblemError<'unsupported-media-type'> {
  override readonly name = 'UnsupportedMediaType';
}
export class NotAToken extends ProblemError<'not-a-token'> {
  override readonly name = 'NotAToken';
}
/** A batch that the rate limit never lets pass: send smaller ones, or use a key. */
export class TooManyQuestions extends ProblemError<'too-many-questions'> {
  override readonly name = 'TooManyQuestions';
}
export class RateLimited extends ProblemError<'too-many-requests'> {
  override readonly name = 'RateLimited';
}
export class Internal extends ProblemError<'internal'> {
  override readonly name = 'Internal';
}
export class NotReady extends ProblemError<'not-ready'> {
  override readonly name = 'NotReady';
}
export class NoChainAnswered extends ProblemError<'no-chain-answered'> {
  override readonly name = 'NoChainAnswered';
}
export class ChainNotReady extends ProblemError<'chain-not-ready'> {
  override readonly name = 'ChainNotReady';
}
export class ChainStale extends ProblemError<'chain-stale'> {
  override readonly name = 'ChainStale';
}
export class ClockSkew extends ProblemError<'clock-skew'> {
  override readonly name = 'ClockSkew';
}
export class ChainHalted extends ProblemError<'chain-halted'> {
  override readonly name = 'ChainHalted';
}
/** The block is after the newest indexed one. */
export class NotYetIndexed extends ProblemError<'not-yet-indexed'> {
  override readonly name = 'NotYetIndexed';
}
export class OwnershipUnavailable extends ProblemError<'ownership-unavailable'> {
  override readonly name = 'OwnershipUnavailable';
}
/** No provider of the service has a proof at this block. */
export class ProofUnavailable extends ProblemError<'proof-unavailable'> {
  override readonly name = 'ProofUnavailable';
}
export class WalletDisputed extends ProblemError<'wallet-disputed'> {
  override readonly name = 'WalletDisputed';
}

export class RevocationUnread extends ProblemError<'revocation-unread'> {
  override readonly name = 'RevocationUnread';
}

/** The service's proof does not show its answer, or it is as of another block than the one that you trust. */
export class Unproven extends DelegationsError {
  override readonly name = 'Unproven';
  /** The first part of the proof that does not hold. */
  readonly step: ProofStep;
  constructor(step: ProofStep, message: string, options?: ErrorOptions) {
    super(message, options);
    this.step = step;
  }
}

type ProblemClass = new (problem: Problem, retryAfter: number | null) => ProblemError;

/** The class of each type of problem. */
export const PROBLEM_CLASSES: { readonly [T in ProblemType]: ProblemClass } = {
  'bad-request': BadRequest,
  'unknown-chain': UnknownChain,
  'bad-key': BadKey,
  'not-found': NotFound,
  'not-indexed': NotIndexed,
  'block-not-kept': BlockNotKept,
  'ownership-off': OwnershipOff,
  'proofs-off': ProofsOff,
  'method-not-allowed': MethodNotAllowed,
  'request-timeout': RequestTimeout,
  'cursor-gone': CursorGone,
  'content-too-large': ContentTooLarge,
  'uri-too-long': UriTooLong,
  'unsupported-media-type': UnsupportedMediaType,
  'not-a-token': NotAToken,
  'too-many-questions': TooManyQuestions,
  'too-many-requests': RateLimited,
  internal: Internal,
  'not-ready': NotReady,
  'no-chain-answered': NoChainAnswered,
  'chain-not-ready': ChainNotReady,
  'chain-stale': ChainStale,
  'clock-skew': ClockSkew,
  'chain-halted': ChainHalted,
  'not-yet-indexed': NotYetIndexed,
  'ownership-unavailable': OwnershipUnavailable,
  'proof-unavailable': ProofUnavailable,
  'wallet-disputed': WalletDisputed,
  'revocation-unread': RevocationUnread,
};

/** The error of a problem. A type that this version of the client does not know is a plain ProblemError. */
export function problemError(problem: Problem, retryAfter: number | null = null): ProblemError {
  const [, type = ''] = problem.type.split('#problem-');
  const Class = Object.hasOwn(PROBLEM_CLASSES, type) ? PROBLEM_CLASSES[type as ProblemType] : ProblemError;
  return new Class(problem, retryAfter);
}

/** Whether a body is a problem of the API. */
export const isProblem = (body: unknown): body is Problem => {
  const { type, title, detail } = (body ?? {}) as Partial<Problem>;
  return typeof type === 'string' && typeof title === 'string' && typeof detail === 'string';
};

/** The error of a problem inside an answer. Throws if it is none. */
export function readProblem(problem: unknown): ProblemError {
  if (!isProblem(problem)) throw new TypeError('not a problem');
  return problemError(problem);
}
