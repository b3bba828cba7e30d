// What an answer about several chains says of each of them: its block, or its problem.

import { arrayText, type JsonText, stringify } from '../../api/json-text.ts';
import { Problem, problemBody } from '../../api/problems.ts';
import { CHAIN_ANSWER } from '../../api/responses.ts';
import type { AnswerBlock, ChainState } from '../../store/store.ts';

interface FailedPart {
  readonly chainId: number;
  readonly problem: Problem;
}

export type ChainPart =
  | { readonly chainId: number; readonly block: AnswerBlock; readonly chain: ChainState }
  | FailedPart;

function partText(part: ChainPart) {
  const { chainId } = part;
  if ('problem' in part) return stringify(CHAIN_ANSWER, { chainId, problem: problemBody(part.problem) });
  const { number, hash, timestamp } = part.block;
  const { partial, firstBlock } = part.chain;
  const block = { number, hash, timestamp };
  return stringify(CHAIN_ANSWER, { chainId, block, ...(partial ? { indexedFrom: firstBlock } : {}) });
}

/** The parts as JSON, and whether all chains answered. Throws if no chain answered. */
export function requireAnswered(parts: readonly ChainPart[]): {
  readonly chains: JsonText<unknown>;
  readonly isComplete: boolean;
} {
  const failed = parts.filter((part) => 'problem' in part);
  if (failed.length === parts.length) throw noneAnswered(failed);
  return { chains: arrayText(parts.map(partText)), isComplete: failed.length === 0 };
}

/** A single chain is refused as in any other request. */
function noneAnswered(failed: readonly FailedPart[]): Problem {
  const [only] = failed;
  if (only !== undefined && failed.length === 1) return only.problem;
  const fields = { chains: failed.map(({ chainId, problem }) => ({ chainId, problem: problemBody(problem) })) };
  const retryAfter = Math.min(60, ...failed.map(({ problem }) => problem.retryAfter ?? 60));
  const detail = only === undefined ? 'No chain is served yet.' : `None of the ${failed.length} chains answered.`;
  return new Problem('no-chain-answered', detail, { retryAfter, fields });
}
