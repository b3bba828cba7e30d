// Makes proofs of answers for callers: asks the providers of a chain one after another, until one has a proof that can be verified.

import type { AnyQuestion, Question } from '../../registry/check.ts';
import { NETWORKS } from '../../registry/network.ts';
import { jsonText } from '../../store/rows/cells.ts';
import { findCause } from '../rpc/errors.ts';
import { type BlockId, createNode } from '../rpc/node.ts';
import { createRpc } from '../rpc/rpc.ts';
import { createSharedReads, READ_LIMITS, type ReadLimits, respondingWithin } from '../rpc/shared-reads.ts';
import { type AnswerProof, proveAnswer } from './prove-answer.ts';

export interface ProofRequest {
  readonly chainId: number;
  readonly block: BlockId;
  readonly question: Question | AnyQuestion;
  /** Who asks. Callers take turns. */
  readonly caller: string;
}

export type ProofRead =
  | {
      readonly type: 'proof';
      readonly proof: AnswerProof;
      /** What it shows. */
      readonly result: boolean | bigint;
      readonly provider: string;
    }
  | {
      readonly type: 'unavailable';
      /** `not-provable`: the chain keeps its state in another form. `overloaded`: too many reads wait. */
      readonly cause: 'no-provider' | 'not-provable' | 'overloaded';
      /** What each provider failed with, such as `1/2 timeout`. */
      readonly failures: readonly string[];
    };

export type ProofReader = ReturnType<typeof createProofReader>;

export interface ProofReaderOptions {
  /** Provider URLs by chain. */
  readonly nodes: ReadonlyMap<number, readonly string[]>;
  /** Called for every read, shared ones included. */
  readonly onRead?: (outcome: 'proven' | (ProofRead & { readonly type: 'unavailable' })['cause']) => void;
  readonly limits?: Partial<ReadLimits>;
  /** For the proofs of a batch: those that were not begun by then are refused. */
  readonly batchMs?: number;
}

/** A proof has up to 100 kB. */
const MAX_KEPT = 200;
const MAX_BYTES = 2 * 1024 * 1024;
/** A hundred proofs, four at once, take seconds, unless no provider answers. */
const BATCH_MS = 60_000;
/** A provider that failed is asked after the others for this long. */
const UNHEALTHY_MS = 10_000;

const unavailable = (cause: 'not-provable' | 'overloaded') => ({ type: 'unavailable', cause, failures: [] }) as const;

export function createProofReader({ nodes, onRead, limits, batchMs = BATCH_MS }: ProofReaderOptions) {
  const all = { ...READ_LIMITS, maxKept: MAX_KEPT, ...limits };
  const chains = new Map(
    [...nodes].map(([chainId, urls]) => {
      const providers = urls.map((url, position) => ({
        name: `${chainId}/${position + 1}`,
        node: createNode(createRpc(url, { timeoutMs: all.requestMs, maxBytes: MAX_BYTES })),
        /** By the monotonic clock. */
        unhealthyUntil: 0,
      }));
      return [chainId, providers];
    }),
  );
  const shared = createSharedReads<ProofRead>(all, ({ type }) => type === 'proof');

  async function ask({ chainId, block, question }: ProofRequest, deadline: number): Promise<ProofRead> {
    const now = performance.now();
    const failures: string[] = [];
    const providers = (chains.get(chainId) ?? []).toSorted(
      (a, b) => Number(a.unhealthyUntil > now) - Number(b.unhealthyUntil > now),
    );
    for (const provider of providers) {
      const { name, node } = provider;
      const left = deadline - performance.now();
      if (left <= 0) break;
      try {
        return { type: 'proof', provider: name, ...(await respondingWithin(left, proveAnswer(node, block, question))) };
      } catch (error) {
        // That it does not have the block, or its state, says nothing about another block.
        const cause = findCause(error);
        if (cause !== 'rpc-error' && cause !== 'behind') provider.unhealthyUntil = performance.now() + UNHEALTHY_MS;
        failures.push(`${name} ${cause}`);
      }
    }
    return { type: 'unavailable', cause: 'no-provider', failures };
  }

  return {
    batchMs,
    async prove(request: ProofRequest): Promise<ProofRead> {
      const { chainId, block, question, caller } = request;
      const key = `${block.hash} ${jsonText(question)}`;
      const read: ProofRead =
        NETWORKS.get(chainId)?.provable === false
          ? unavailable('not-provable')
          : ((await shared(chainId, caller, key, (deadline) => ask(request, deadline))) ?? unavailable('overloaded'));
      onRead?.(read.type === 'proof' ? 'proven' : read.cause);
      return read;
    },
  };
}
