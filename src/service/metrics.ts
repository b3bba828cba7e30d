// Counts what happens, and lists all metrics as samples, which are written for Prometheus (here) and OpenTelemetry.

import { version } from '../../package.json' with { type: 'json' };
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { countLatency, emptyLatency, type Latency, RPC_BUCKETS } from '../chain/rpc/rpc-stats.ts';
import type { ChainStatus } from '../http/answers/status.ts';
import type { Answered } from '../http/server/app.ts';
import type { PoolStatus } from '../store/engine.ts';
import { WEBHOOK_STATES, type WebhookStats } from '../webhooks/webhooks.ts';
import type { ProcessStats } from './process-stats.ts';

/** Upper bounds of the latency buckets, in seconds: a check takes microseconds, a long list seconds. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** What is counted as it happens: its labels and its help. */
const COUNTERS = {
  delegations_requests_total: [['route', 'status'], 'Requests answered.'],
  delegations_problems_total: [['type'], 'Requests refused, by the type of the problem.'],
  delegations_limiter_fallback_total: [[], 'Requests limited without the shared window.'],
  delegations_log_dropped_lines_total: [[], 'Log lines dropped because standard output is full, closed or not read.'],
  delegations_token_reads_total: [['outcome'], 'Reads of token owners and balances by outcome.'],
  delegations_proof_reads_total: [['outcome'], 'Proofs of answers by outcome.'],
  delegations_webhook_deliveries_total: [['outcome'], 'Attempts to deliver webhooks by outcome.'],
  delegations_replica_fallback_total: [[], 'Reads that went to the primary although there is a replica.'],
} as const;
type Counter = keyof typeof COUNTERS;
const COUNTER_NAMES = Object.keys(COUNTERS) as Counter[];

/** Between the values of labels. */
const SEPARATOR = '\n';

/** Counts since the last `take`, as plain values that a worker can send to its parent. */
export interface Counts {
  /** By the values of the labels. */
  readonly counters: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** By route. */
  readonly latencies: Readonly<Record<string, Readonly<Latency>>>;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** State of the optional parts; null for a part that this service does not have. */
export type Health = Readonly<Record<'limiterShared' | 'replicaFresh', boolean | null>>;

export interface MetricsView {
  /** Null while the store is unreachable. */
  readonly store: StoreMetrics | null;
  readonly followers: readonly FollowerStatus[];
  readonly health?: Health;
  readonly workers?: { readonly alive: number; readonly restarts: number };
  readonly processes?: readonly ProcessMetrics[];
}

/** A process of this service. */
export interface ProcessMetrics {
  /** Such as `api`, `follower` or `worker-1`. */
  readonly name: string;
  readonly stats: ProcessStats;
  /** Null if the process has no connections to a database, or has not reported them yet. */
  readonly pool: PoolStatus | null;
  /** Open streams of changes; absent if the process does not answer requests. */
  readonly streams?: number;
}

export interface StoreMetrics {
  readonly bytes: number;
  readonly chains: readonly ChainStatus[];
  /** Absent if this process does not deliver webhooks. `readAt` is in unix milliseconds. */
  readonly webhooks?: WebhookStats & { readonly readAt: number };
}

/** All samples of one name. */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export type Labels = Readonly<Record<string, string | number>>;
export interface Histogram extends Latency {
  /** The upper bounds of the buckets. */
  readonly bounds: readonly number[];
}
type Sample = readonly [labels: Labels, value: number | Histogram];

export function createMetrics() {
  let counters = emptyCounters();
  let latencies = new Map<string, Latency>();
  const count = (counter: Counter, labels: string, times: number) => {
    const counts = counters[counter];
    counts.set(labels, (counts.get(labels) ?? 0) + times);
  };
  const noLatency = () => emptyLatency(BUCKETS);
  const latencyOf = (route: string) => latencies.getOrInsertComputed(route, noLatency);
  return {
    observe({ route, status, seconds, problem }: Pick<Answered, 'route' | 'status' | 'seconds' | 'problem'>): void {
      count('delegations_requests_total', route + SEPARATOR + status, 1);
      if (problem !== undefined) count('delegations_problems_total', problem, 1);
      countLatency(latencyOf(route), BUCKETS, seconds);
    },
    count: (counter: Counter, label = '') => count(counter, label, 1),
    /** Adds the counts of another process. */
    add(more: Counts): void {
      for (const name of COUNTER_NAMES)
        for (const [labels, times] of Object.entries(more.counters[name] ?? {})) count(name, labels, times);
      for (const [route, { counts, sum, total }] of Object.entries(more.latencies)) {
        const latency = latencyOf(route);
        latency.counts = latency.counts.map((one, bucket) => one + (counts[bucket] ?? 0));
        latency.sum += sum;
        latency.total += total;
      }
    },
    /** Returns the counts and resets them. */
    take(): Counts {
      const taken = {
        counters: Object.fromEntries(COUNTER_NAMES.map((name) => [name, Object.fromEntries(counters[name])])),
        latencies: Object.fromEntries(latencies),
      };
      [counters, latencies] = [emptyCounters(), new Map()];
      return taken;
    },
    list: (view: MetricsView): readonly Family[] => [
      ...COUNTER_NAMES.map((name): Family => {
        const [labels, help] = COUNTERS[name];
        const samples = [...counters[name]].map(([values, times]): Sample => {
          const parts = values.split(SEPARATOR);
          return [Object.fromEntries(labels.map((label, at) => [label, parts[at] ?? ''])), times];
        });
        return { name, type: 'counter', help, samples };
      }),
      ...familiesOf([{ ...view, latencies }], () => ({}), SERVICE),
      ...familiesOf(view.processes ?? [], ({ name }) => ({ process: name }), PROCESSES),
      ...familiesOf(view.followers, ({ chainId }) => ({ chain: chainId }), FOLLOWERS),
      ...familiesOf(view.store?.chains ?? [], ({ state }) => ({ chain: state.chainId }), CHAINS),
    ],
  };
}

/** Those without labels are known to be 0. */
const emptyCounters = () =>
  Object.fromEntries(
    COUNTER_NAMES.map((name) => [name, new Map<string, number>(COUNTERS[name][0].length === 0 ? [['', 0]] : [])]),
  ) as Record<Counter, Map<string, number>>;

type Value = number | boolean | null | undefined;
/** The name and help of a metric, and what it is for one item: a field, a value, or several with labels of their own. */
type Row<T> = readonly [name: string, help: string, of: keyof T | ((item: T) => Value | readonly Sample[])];

const familiesOf = <T>(items: readonly T[], labelsOf: (item: T) => Labels, rows: readonly Row<T>[]): Family[] =>
  rows.map(([name, help, of]) => ({
    name,
    type: name.endsWith('_total') ? 'counter' : name.endsWith('_duration_seconds') ? 'histogram' : 'gauge',
    help,
    samples: items.flatMap((item): readonly Sample[] => {
      const value = (typeof of === 'function' ? of(item) : (item[of] as Value)) ?? [];
      const labels = labelsOf(item);
      if (typeof value !== 'object') return [[labels, Number(value)]];
      return value.map(([own, one]): Sample => [{ ...labels, ...own }, one]);
    }),
  }));

/** Samples by the names of a record, which become a label. */
const byName = (label: string, counts: Readonly<Record<string, number | undefined>>): Sample[] =>
  Object.entries(counts).map(([name, count = 0]) => [{ [label]: name }, count]);

const SERVICE: readonly Row<MetricsView & { readonly latencies: ReadonlyMap<string, Latency> }>[] = [
  [
    'delegations_request_duration_seconds',
    'Time until the response was ready to send.',
    ({ latencies }) => [...latencies].map(([route, latency]) => [{ route }, { ...latency, bounds: BUCKETS }]),
  ],
  [
    'delegations_limiter_shared',
    '1 while the rate limit is shared through Redis.',
    ({ health }) => health?.limiterShared,
  ],
  ['delegations_replica_fresh', '1 while reads go to the replica.', ({ health }) => health?.replicaFresh],
  ['delegations_workers', 'Running workers.', ({ workers }) => workers?.alive],
  ['delegations_worker_restarts_total', 'Worker restarts.', ({ workers }) => workers?.restarts],
  ['delegations_build_info', 'Version of the program and of its runtime.', () => [[{ version, bun: Bun.version }, 1]]],
  ['delegations_store_up', '1 while the store is reachable.', ({ store }) => store !== null],
  ['delegations_store_bytes', 'Size of the store on disk.', ({ store }) => store?.bytes],
  [
    'delegations_webhooks',
    'Webhooks that are active, or paused for a reason.',
    ({ store }) => store?.webhooks && WEBHOOK_STATES.map((state) => [{ state }, store.webhooks?.counts[state] ?? 0]),
  ],
  [
    'delegations_webhook_lag_seconds',
    'Time since the delivery was made that the webhook has not got yet; only webhooks that have one.',
    ({ store }) => {
      const { pending = [], readAt = 0 } = store?.webhooks ?? {};
      return pending.map(({ id, since }) => [{ webhook: id }, Math.max(0, (readAt - since) / 1000)]);
    },
  ],
];

const PROCESSES: readonly Row<ProcessMetrics>[] = [
  ['process_cpu_seconds_total', 'User and system CPU time.', ({ stats }) => stats?.cpuSeconds],
  ['process_resident_memory_bytes', 'Resident memory.', ({ stats }) => stats?.residentBytes],
  ['process_start_time_seconds', 'Start time in unix seconds.', ({ stats }) => stats?.startTime],
  ['process_open_fds', 'Open file descriptors.', ({ stats }) => stats?.openFiles],
  ['delegations_streams', 'Open streams of changes.', 'streams'],
  ['delegations_database_pool_size', 'Maximum number of PostgreSQL connections.', ({ pool }) => pool?.size],
  [
    'delegations_database_pool_in_use',
    'PostgreSQL connections in use.',
    ({ pool }) => pool && Math.min(pool.running, pool.size),
  ],
  [
    'delegations_database_pool_waiting',
    'Requests that wait for one of the PostgreSQL connections.',
    ({ pool }) => pool && Math.max(0, pool.running - pool.size),
  ],
];

const FOLLOWERS: readonly Row<FollowerStatus>[] = [
  ['delegations_follower_logs_total', 'Registry logs written.', 'logs'],
  ['delegations_follower_failures_total', 'Failed ticks.', 'failures'],
  ['delegations_follower_audited_blocks_total', 'Final blocks audited.', 'audited'],
  ['delegations_follower_compared_answers_total', 'Registry answers compared with the index.', 'compared'],
  [
    'delegations_follower_blocks_total',
    'New blocks by how their logs, or that they have none, are known.',
    ({ evidence }) => byName('evidence', { ...evidence }),
  ],
  [
    'delegations_follower_events_total',
    'Reorgs, repairs, mismatches, halts and resumptions.',
    ({ events }) => byName('type', events),
  ],
  [
    'delegations_rpc_calls_total',
    'JSON-RPC calls to providers by outcome.',
    ({ rpc }) =>
      Object.entries(rpc).flatMap(([provider, { calls }]) =>
        Object.entries(calls).flatMap(([method, outcomes]) =>
          byName('outcome', outcomes).map(([labels, count]): Sample => [{ provider, method, ...labels }, count]),
        ),
      ),
  ],
  [
    'delegations_rpc_request_duration_seconds',
    'Time of HTTP requests to providers; a batch of calls is one request.',
    ({ rpc }) =>
      Object.entries(rpc).map(([provider, { latency }]) => [{ provider }, { ...latency, bounds: RPC_BUCKETS }]),
  ],
  [
    'delegations_provider_failures_total',
    'Failures of a provider by cause.',
    ({ providerFailures }) =>
      Object.entries(providerFailures).flatMap(([provider, causes]) =>
        byName('cause', causes).map(([labels, count]): Sample => [{ provider, ...labels }, count]),
      ),
  ],
  [
    'delegations_follower_failing',
    'Failed ticks since the last that succeeded, by the cause of the last.',
    ({ failing }) => failing && [[{ cause: failing.cause }, failing.ticks]],
  ],
  ['delegations_follower_standby', '1 while another process holds the lease and this one stands by.', 'standby'],
  [
    'delegations_provider_healthy',
    '1 while the provider is healthy.',
    ({ providers }) => providers.map(({ name, healthy }) => [{ provider: name }, Number(healthy)]),
  ],
];

const CHAINS: readonly Row<ChainStatus>[] = [
  ['delegations_chain_head', 'Newest indexed block.', ({ state }) => state.head?.number],
  ['delegations_chain_verified', 'Newest verified final block.', ({ state }) => state.verified],
  [
    'delegations_chain_confirmed',
    'Block up to which a second provider confirmed the history.',
    ({ state }) => state.agreedBlock,
  ],
  [
    'delegations_chain_provable',
    '1 if blocks are proven against their hashes, 0 if providers are only compared.',
    ({ state }) => state.provable,
  ],
  [
    'delegations_chain_disputed_wallets',
    'Wallets about which answers are refused.',
    ({ state }) => new Set(state.disputes.map(({ vault }) => vault)).size,
  ],
  [
    'delegations_chain_halted',
    '1 while the chain is halted, with the halt code.',
    ({ state }) => state.halt && [[{ code: state.halt.code }, 1]],
  ],
  ['delegations_chain_lag_seconds', 'Age of the newest indexed block.', 'lagSeconds'],
  [
    'delegations_chain_clock_behind_seconds',
    "Seconds by which this machine's clock is behind the chain; 0 if it may be right.",
    'clockBehindSeconds',
  ],
  ['delegations_chain_ready', '1 while the chain answers at its head.', 'ready'],
];

/** The text format of Prometheus. */
export const prometheusText = (families: readonly Family[]): string =>
  families
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.flatMap(([labels, value]) =>
        typeof value === 'number' ? line(name, labels, value) : histogramLines(name, labels, value),
      ),
    ])
    .map((one) => `${one}\n`)
    .join('');

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join()}}`} ${value}`;
}

function histogramLines(name: string, labels: Labels, { bounds, counts, sum, total }: Histogram): string[] {
  let below = 0;
  const buckets = counts.map((count, at) => {
    below += count;
    return line(`${name}_bucket`, { ...labels, le: bounds[at] ?? '' }, below);
  });
  const all = line(`${name}_bucket`, { ...labels, le: '+Inf' }, total);
  return [...buckets, all, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)];
}
