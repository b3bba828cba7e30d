// What the service counts, in the text format of Prometheus.

import type { ChainState } from '../store/store.ts';

/** Upper ends of the latency buckets, in seconds: a check takes microseconds, a long list seconds. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

export interface Metrics {
  observe(route: string, status: number, seconds: number): void;
  /** Without the store's figures where it cannot be reached. */
  render(store: StoreMetrics | null): string;
}

export interface StoreMetrics {
  readonly bytes: number;
  readonly chains: readonly ChainMetrics[];
}

export interface ChainMetrics {
  readonly state: ChainState;
  readonly lagSeconds: number;
  readonly ready: boolean;
}

export function createMetrics(): Metrics {
  /** By route, then by status. */
  const requests = new Map<string, Map<number, number>>();
  const latencies = new Map<string, { counts: number[]; sum: number; total: number }>();
  return {
    observe(route, status, seconds) {
      let statuses = requests.get(route);
      if (statuses === undefined) {
        statuses = new Map();
        requests.set(route, statuses);
      }
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      let latency = latencies.get(route);
      if (latency === undefined) {
        latency = { counts: BUCKETS.map(() => 0), sum: 0, total: 0 };
        latencies.set(route, latency);
      }
      const bucket = BUCKETS.findIndex((end) => seconds <= end);
      if (bucket >= 0) latency.counts[bucket] = (latency.counts[bucket] ?? 0) + 1;
      latency.sum += seconds;
      latency.total++;
    },
    render(store) {
      const lines: string[] = [];
      const family = (name: string, type: string, help: string, rows: Iterable<string>) =>
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...rows);
      family(
        'delegations_requests_total',
        'counter',
        'Answered requests.',
        [...requests].flatMap(([route, statuses]) =>
          [...statuses].map(
            ([status, count]) => `delegations_requests_total{route="${route}",status="${status}"} ${count}`,
          ),
        ),
      );
      const latency = 'delegations_request_duration_seconds';
      family(
        latency,
        'histogram',
        'Time until the answer was ready to be sent.',
        [...latencies].flatMap(([route, { counts, sum, total }]) => {
          let below = 0;
          const ends = counts.map((count, position) => {
            below += count;
            return `${latency}_bucket{route="${route}",le="${BUCKETS[position]}"} ${below}`;
          });
          const label = `{route="${route}"}`;
          const rest = [`${latency}_bucket{route="${route}",le="+Inf"} ${total}`, `${latency}_sum${label} ${sum}`];
          return [...ends, ...rest, `${latency}_count${label} ${total}`];
        }),
      );
      family('delegations_store_up', 'gauge', '1 where the store answers.', [`delegations_store_up ${store ? 1 : 0}`]);
      if (store === null) return `${lines.join('\n')}\n`;
      family('delegations_store_bytes', 'gauge', 'What the store takes on disk.', [
        `delegations_store_bytes ${store.bytes}`,
      ]);
      const gauge = (name: string, help: string, value: (chain: ChainMetrics) => number | null) =>
        family(
          name,
          'gauge',
          help,
          store.chains.flatMap((chain) => {
            const figure = value(chain);
            return figure === null ? [] : [`${name}{chain="${chain.state.chainId}"} ${figure}`];
          }),
        );
      gauge('delegations_chain_head', 'Newest indexed block.', ({ state }) => state.head?.number ?? null);
      gauge('delegations_chain_verified', 'Newest block that is verified to be final.', ({ state }) => state.verified);
      gauge('delegations_chain_lag_seconds', 'Age of the newest indexed block.', ({ lagSeconds }) => lagSeconds);
      gauge('delegations_chain_ready', '1 where the chain answers at its head.', ({ ready }) => (ready ? 1 : 0));
      return `${lines.join('\n')}\n`;
    },
  };
}
