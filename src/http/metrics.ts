// What the service counts, in the text format of Prometheus.

import type { ChainFigures } from '../chain/figures.ts';
import type { ChainState } from '../store/store.ts';

/** Upper ends of the latency buckets, in seconds: a check takes microseconds, a long list seconds. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

export interface Metrics {
  observe(route: string, status: number, seconds: number): void;
  /** Without the store's figures where it cannot be reached. */
  render(store: StoreMetrics | null, followers: readonly ChainFigures[]): string;
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
    render(store, followers) {
      const lines: string[] = [];
      const family: Family = (name, type, help, rows) =>
        void lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...rows);
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
      renderFollowers(family, followers);
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

type Family = (name: string, type: 'counter' | 'gauge' | 'histogram', help: string, rows: Iterable<string>) => void;

/** What the following process tells of itself. */
function renderFollowers(family: Family, chains: readonly ChainFigures[]): void {
  if (chains.length === 0) return;
  const rows = (name: string, of: (chain: ChainFigures) => readonly (readonly [labels: string, value: number])[]) =>
    chains.flatMap((chain) =>
      of(chain).map(([labels, value]) => `${name}{chain="${chain.chainId}"${labels}} ${value}`),
    );
  const counter = (name: string, help: string, of: Parameters<typeof rows>[1]) =>
    family(name, 'counter', help, rows(name, of));
  counter('delegations_follower_logs_total', 'Registry logs written.', ({ logs }) => [['', logs]]);
  counter('delegations_follower_failures_total', 'Ticks that failed.', ({ failures }) => [['', failures]]);
  counter('delegations_follower_audited_blocks_total', 'Final blocks compared again.', ({ audited }) => [
    ['', audited],
  ]);
  counter('delegations_follower_compared_answers_total', "The registry's answers compared with ours.", (chain) => [
    ['', chain.compared],
  ]);
  counter(
    'delegations_follower_events_total',
    'Reorgs, missed logs, differences, chains shut and opened.',
    ({ events }) => Object.entries(events).map(([type, count]) => [`,type="${type}"`, count]),
  );
  counter('delegations_rpc_calls_total', 'Calls to nodes.', ({ calls }) =>
    Object.entries(calls).map(([method, count]) => [`,method="${method}"`, count]),
  );
  const standby = 'delegations_follower_standby';
  family(
    standby,
    'gauge',
    '1 where another program follows the chain, and this one stands by.',
    rows(standby, (chain) => [['', chain.standby ? 1 : 0]]),
  );
  const health = 'delegations_provider_healthy';
  family(
    health,
    'gauge',
    '1 for a node that answers as it should.',
    rows(health, ({ providers }) => providers.map(({ name, healthy }) => [`,provider="${name}"`, healthy ? 1 : 0])),
  );
}
