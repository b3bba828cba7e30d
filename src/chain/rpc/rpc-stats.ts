// Counts the JSON-RPC calls to the providers of a chain by outcome, and how long their requests take.

import { type FailureCause, findCause } from './failure-cause.ts';
import { countLatency, emptyLatency, type Latency } from './latency.ts';
import type { RpcListener } from './rpc.ts';

/** Upper bounds of the latency buckets, in seconds. */
export const RPC_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** By provider, as plain values that a process can send to its parent. */
export type RpcStats = Readonly<Record<string, ProviderStats>>;

export interface ProviderStats {
  /** By method, then by outcome. */
  readonly calls: Readonly<Record<string, Readonly<Partial<Record<'ok' | FailureCause, number>>>>>;
  /** HTTP requests by bucket; a batch is one request. */
  readonly latency: Readonly<Latency>;
}

export function createRpcStats() {
  const stats: Record<string, { calls: Record<string, Record<string, number>>; latency: Latency }> = {};
  return {
    stats: stats as RpcStats,
    listener(provider: string): RpcListener {
      const calls: Record<string, Record<string, number>> = {};
      const latency = emptyLatency(RPC_BUCKETS);
      stats[provider] = { calls, latency };
      return {
        onCall(method, error) {
          const outcome = error === null ? 'ok' : findCause(error);
          const outcomes = calls[method] ?? {};
          calls[method] = { ...outcomes, [outcome]: (outcomes[outcome] ?? 0) + 1 };
        },
        onRequest: (seconds) => countLatency(latency, RPC_BUCKETS, seconds),
      };
    },
  };
}
