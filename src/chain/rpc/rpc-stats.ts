// Counts the JSON-RPC calls to the providers of a chain by outcome, and how long their requests take.

import type { ProviderCause } from '../../api/provider-causes.ts';
import { findCause } from './errors.ts';
import type { RpcListener } from './rpc.ts';

/** Upper bounds of the latency buckets, in seconds. */
export const RPC_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** By provider, as plain values that a process can send to its parent. */
export type RpcStats = Readonly<Record<string, ProviderStats>>;

type Outcomes = Readonly<Partial<Record<'ok' | ProviderCause, number>>>;

interface ProviderStats {
  /** By method, then by outcome. */
  readonly calls: Readonly<Record<string, Outcomes>>;
  /** HTTP requests by bucket; a batch is one request. */
  readonly latency: Readonly<Latency>;
}

export function createRpcStats() {
  const stats: Record<string, ProviderStats> = {};
  return {
    stats: stats as RpcStats,
    listener(provider: string): RpcListener {
      const calls: Record<string, Outcomes> = {};
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

/** How long requests take, in buckets, as plain values that a process can send to another. */
export interface Latency {
  /** By bucket. A longer request than the last bound is only in the total. */
  counts: number[];
  sum: number;
  total: number;
}

export const emptyLatency = (bounds: readonly number[]): Latency => ({ counts: bounds.map(() => 0), sum: 0, total: 0 });

/** `bounds`: upper bounds of the buckets, in seconds. */
export function countLatency(latency: Latency, bounds: readonly number[], seconds: number): void {
  const bucket = bounds.findIndex((end) => seconds <= end);
  if (bucket >= 0) latency.counts[bucket] = (latency.counts[bucket] ?? 0) + 1;
  latency.sum += seconds;
  latency.total++;
}
