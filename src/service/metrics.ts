// Counts requests and fallbacks, and renders all metrics in the Prometheus text format.

import { version } from '../../package.json' with { type: 'json' };
import { WEBHOOK_STATES, type WebhookStats } from '../accounts/webhooks.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { countLatency, emptyLatency, type Latency } from '../chain/rpc/latency.ts';
import { RPC_BUCKETS } from '../chain/rpc/rpc-stats.ts';
import type { TokenReadOutcome } from '../chain/tokens/token-reader.ts';
import type { Answered } from '../http/app.ts';
import type { ChainStatus } from '../http/status.ts';
import type { PoolStatus } from '../store/engine.ts';
import type { ProcessStats } from './process-stats.ts';

/** Upper bounds of the latency buckets, in seconds: a check takes microseconds, a long list seconds. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** Counts since the last `take`, as plain values that a worker can send to its parent. */
export interface Counts {
  /** By route, then by status. */
  readonly requests: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly latencies: Readonly<Record<string, Readonly<Latency>>>;
  readonly limiterFallbacks: number;
  readonly replicaFallbacks: number;
  readonly droppedLogLines: number;
  /** By outcome. */
  readonly tokenReads: Readonly<Record<string, number>>;
  /** By outcome. */
  readonly deliveries: Readonly<Record<string, number>>;
  /** By type. */
  readonly problems: Readonly<Record<string, number>>;
}

export interface Metrics {
  observe(answered: Pick<Answered, 'route' | 'status' | 'seconds' | 'problem'>): void;
  /** A request was limited without the window that all processes share. */
  countLimiterFallback(): void;
  /** A read went to the primary although there is a replica. */
  countReplicaFallback(): void;
  /** Log lines were dropped because standard output is full, closed or not read. */
  countDroppedLogLines(lines: number): void;
  /** A token gate was answered from shared or new calls, or there was no answer. */
  countTokenRead(outcome: TokenReadOutcome): void;
  /** An attempt to deliver a webhook: `delivered`, or why it failed. */
  countDelivery(outcome: string): void;
  /** Adds the counts of another process. */
  add(counts: Counts): void;
  /** Returns the counts and resets them. */
  take(): Counts;
  render(view: MetricsView): string;
}

/** State of the optional parts; null for a part that this service does not have. */
export interface Health {
  readonly limiterShared: boolean | null;
  readonly replicaFresh: boolean | null;
}

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
  /** Null if the process has exited, or the system does not tell. */
  readonly stats: ProcessStats | null;
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

export function createMetrics(): Metrics {
  let requests = new Map<string, Map<string | number, number>>();
  let latencies = new Map<string, Latency>();
  let [limiterFallbacks, replicaFallbacks, droppedLogLines] = [0, 0, 0];
  let tokenReads = new Map<string, number>();
  let deliveries = new Map<string, number>();
  let problems = new Map<string, number>();
  const addTo = (counts: Map<string, number>, outcome: string, count: number) =>
    void counts.set(outcome, (counts.get(outcome) ?? 0) + count);

  const addRequests = (route: string, status: string | number, count: number) => {
    let statuses = requests.get(route);
    if (statuses === undefined) {
      statuses = new Map();
      requests.set(route, statuses);
    }
    statuses.set(status, (statuses.get(status) ?? 0) + count);
  };
  const latencyOf = (route: string) => {
    let latency = latencies.get(route);
    if (latency === undefined) {
      latency = emptyLatency(BUCKETS);
      latencies.set(route, latency);
    }
    return latency;
  };

  return {
    observe({ route, status, seconds, problem }) {
      addRequests(route, status, 1);
      if (problem !== undefined) addTo(problems, problem, 1);
      countLatency(latencyOf(route), BUCKETS, seconds);
    },
    countLimiterFallback: () => void limiterFallbacks++,
    countReplicaFallback: () => void replicaFallbacks++,
    countDroppedLogLines(lines) {
      droppedLogLines += lines;
    },
    countTokenRead: (outcome) => addTo(tokenReads, outcome, 1),
    countDelivery: (outcome) => addTo(deliveries, outcome, 1),
    add(counts) {
      for (const [route, statuses] of Object.entries(counts.requests))
        for (const [status, count] of Object.entries(statuses)) addRequests(route, status, count);
      for (const [route, { counts: more, sum, total }] of Object.entries(counts.latencies)) {
        const latency = latencyOf(route);
        latency.counts = latency.counts.map((count, bucket) => count + (more[bucket] ?? 0));
        latency.sum += sum;
        latency.total += total;
      }
      limiterFallbacks += counts.limiterFallbacks;
      replicaFallbacks += counts.replicaFallbacks;
      droppedLogLines += counts.droppedLogLines;
      for (const [outcome, count] of Object.entries(counts.tokenReads)) addTo(tokenReads, outcome, count);
      for (const [outcome, count] of Object.entries(counts.deliveries)) addTo(deliveries, outcome, count);
      for (const [type, count] of Object.entries(counts.problems)) addTo(problems, type, count);
    },
    take() {
      const taken = {
        requests: Object.fromEntries([...requests].map(([route, statuses]) => [route, Object.fromEntries(statuses)])),
        latencies: Object.fromEntries(latencies),
        limiterFallbacks,
        replicaFallbacks,
        droppedLogLines,
        tokenReads: Object.fromEntries(tokenReads),
        deliveries: Object.fromEntries(deliveries),
        problems: Object.fromEntries(problems),
      };
      [requests, latencies] = [new Map(), new Map()];
      [tokenReads, deliveries, problems] = [new Map(), new Map(), new Map()];
      [limiterFallbacks, replicaFallbacks, droppedLogLines] = [0, 0, 0];
      return taken;
    },
    render({ store, followers, health, workers, processes = [] }) {
      const lines: string[] = [];
      const family: Family = (name, type, help, rows) =>
        void lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...rows);
      const single = (name: string, type: 'counter' | 'gauge', help: string, value: number) =>
        family(name, type, help, [`${name} ${value}`]);
      family(
        'delegations_requests_total',
        'counter',
        'Requests answered.',
        [...requests].flatMap(([route, statuses]) =>
          [...statuses].map(
            ([status, count]) => `delegations_requests_total{route="${route}",status="${status}"} ${count}`,
          ),
        ),
      );
      const counted = (name: string, help: string, label: string, counts: ReadonlyMap<string, number>) =>
        family(
          name,
          'counter',
          help,
          [...counts].map(([value, count]) => `${name}{${label}="${value}"} ${count}`),
        );
      counted('delegations_problems_total', 'Requests refused, by the type of the problem.', 'type', problems);
      const latency = 'delegations_request_duration_seconds';
      family(
        latency,
        'histogram',
        'Time until the response was ready to send.',
        [...latencies].flatMap(([route, one]) => histogramRows(latency, `route="${route}"`, BUCKETS, one)),
      );
      const { limiterShared = null, replicaFresh = null } = health ?? {};
      if (limiterShared !== null) {
        const help = '1 while the rate limit is shared through Redis.';
        single('delegations_limiter_shared', 'gauge', help, limiterShared ? 1 : 0);
      }
      const fallbacks = 'Requests limited without the shared window.';
      single('delegations_limiter_fallback_total', 'counter', fallbacks, limiterFallbacks);
      const dropped = 'Log lines dropped because standard output is full, closed or not read.';
      single('delegations_log_dropped_lines_total', 'counter', dropped, droppedLogLines);
      const reads = 'Reads of token owners and balances by outcome.';
      counted('delegations_token_reads_total', reads, 'outcome', tokenReads);
      const sent = 'Attempts to deliver webhooks by outcome.';
      counted('delegations_webhook_deliveries_total', sent, 'outcome', deliveries);
      if (replicaFresh !== null) {
        single('delegations_replica_fresh', 'gauge', '1 while reads go to the replica.', replicaFresh ? 1 : 0);
        const help = 'Reads that went to the primary although there is a replica.';
        single('delegations_replica_fallback_total', 'counter', help, replicaFallbacks);
      }
      if (workers !== undefined) {
        single('delegations_workers', 'gauge', 'Running workers.', workers.alive);
        const help = 'Worker restarts.';
        single('delegations_worker_restarts_total', 'counter', help, workers.restarts);
      }
      family('delegations_build_info', 'gauge', 'Version of the program and of its runtime.', [
        `delegations_build_info{version="${version}",bun="${Bun.version}"} 1`,
      ]);
      renderProcesses(family, processes);
      renderFollowers(family, followers);
      single('delegations_store_up', 'gauge', '1 while the store is reachable.', store === null ? 0 : 1);
      if (store === null) return `${lines.join('\n')}\n`;
      single('delegations_store_bytes', 'gauge', 'Size of the store on disk.', store.bytes);
      if (store.webhooks !== undefined) renderWebhooks(family, store.webhooks);
      const gauge = (name: string, help: string, value: (chain: ChainStatus) => number | null) =>
        family(
          name,
          'gauge',
          help,
          store.chains.flatMap((chain) => {
            const number = value(chain);
            return number === null ? [] : [`${name}{chain="${chain.state.chainId}"} ${number}`];
          }),
        );
      gauge('delegations_chain_head', 'Newest indexed block.', ({ state }) => state.head?.number ?? null);
      gauge('delegations_chain_verified', 'Newest verified final block.', ({ state }) => state.verified);
      gauge(
        'delegations_chain_confirmed',
        'Block up to which a second provider confirmed the history.',
        ({ state }) => state.agreedBlock,
      );
      gauge(
        'delegations_chain_provable',
        '1 if blocks are proven against their hashes, 0 if providers are only compared.',
        ({ state }) => (state.provable === null ? null : Number(state.provable)),
      );
      gauge(
        'delegations_chain_disputed_wallets',
        'Wallets about which answers are refused.',
        ({ state }) => new Set(state.disputes.map(({ vault }) => vault)).size,
      );
      const halted = 'delegations_chain_halted';
      family(
        halted,
        'gauge',
        '1 while the chain is halted, with the halt code.',
        store.chains.flatMap(({ state }) =>
          state.halt === null ? [] : [`${halted}{chain="${state.chainId}",code="${state.halt.code}"} 1`],
        ),
      );
      gauge('delegations_chain_lag_seconds', 'Age of the newest indexed block.', ({ lagSeconds }) => lagSeconds);
      const behind = "Seconds by which this machine's clock is behind the chain; 0 if it may be right.";
      gauge('delegations_chain_clock_behind_seconds', behind, ({ clockBehindSeconds }) => clockBehindSeconds);
      gauge('delegations_chain_ready', '1 while the chain answers at its head.', ({ ready }) => (ready ? 1 : 0));
      return `${lines.join('\n')}\n`;
    },
  };
}

type Family = (name: string, type: 'counter' | 'gauge' | 'histogram', help: string, rows: Iterable<string>) => void;

function histogramRows(
  name: string,
  labels: string,
  buckets: readonly number[],
  { counts, sum, total }: Latency,
): readonly string[] {
  let below = 0;
  const ends = counts.map((count, position) => {
    below += count;
    return `${name}_bucket{${labels},le="${buckets[position]}"} ${below}`;
  });
  const rest = [`${name}_bucket{${labels},le="+Inf"} ${total}`, `${name}_sum{${labels}} ${sum}`];
  return [...ends, ...rest, `${name}_count{${labels}} ${total}`];
}

function renderWebhooks(family: Family, { counts, pending, readAt }: NonNullable<StoreMetrics['webhooks']>): void {
  const webhooks = 'delegations_webhooks';
  const states = WEBHOOK_STATES.map((state) => `${webhooks}{state="${state}"} ${counts[state]}`);
  family(webhooks, 'gauge', 'Webhooks that are active, or paused for a reason.', states);
  const lag = 'delegations_webhook_lag_seconds';
  family(
    lag,
    'gauge',
    'Time since the delivery was made that the webhook has not got yet; only webhooks that have one.',
    pending.map(({ id, since }) => `${lag}{webhook="${id}"} ${Math.max(0, (readAt - since) / 1000)}`),
  );
}

function renderProcesses(family: Family, processes: readonly ProcessMetrics[]): void {
  const metric = (
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    of: (one: ProcessMetrics) => number | null | undefined,
  ) => {
    const rows = processes.flatMap((one) => {
      const value = of(one) ?? null;
      return value === null ? [] : [`${name}{process="${one.name}"} ${value}`];
    });
    if (rows.length > 0) family(name, type, help, rows);
  };
  metric('process_cpu_seconds_total', 'counter', 'User and system CPU time.', ({ stats }) => stats?.cpuSeconds);
  metric('process_resident_memory_bytes', 'gauge', 'Resident memory.', ({ stats }) => stats?.residentBytes);
  metric('process_start_time_seconds', 'gauge', 'Start time in unix seconds.', ({ stats }) => stats?.startTime);
  metric('process_open_fds', 'gauge', 'Open file descriptors.', ({ stats }) => stats?.openFiles);
  metric('delegations_streams', 'gauge', 'Open streams of changes.', ({ streams }) => streams);
  const pool = 'PostgreSQL connections';
  metric('delegations_database_pool_size', 'gauge', `Maximum number of ${pool}.`, (one) => one.pool?.size);
  metric('delegations_database_pool_in_use', 'gauge', `${pool} in use.`, (one) =>
    one.pool ? Math.min(one.pool.running, one.pool.size) : null,
  );
  metric('delegations_database_pool_waiting', 'gauge', `Requests that wait for one of the ${pool}.`, (one) =>
    one.pool ? Math.max(0, one.pool.running - one.pool.size) : null,
  );
}

/** Metrics from the status of the followers. */
function renderFollowers(family: Family, chains: readonly FollowerStatus[]): void {
  if (chains.length === 0) return;
  const rows = (name: string, of: (chain: FollowerStatus) => readonly (readonly [labels: string, value: number])[]) =>
    chains.flatMap((chain) =>
      of(chain).map(([labels, value]) => `${name}{chain="${chain.chainId}"${labels}} ${value}`),
    );
  const counter = (name: string, help: string, of: Parameters<typeof rows>[1]) =>
    family(name, 'counter', help, rows(name, of));
  counter('delegations_follower_logs_total', 'Registry logs written.', ({ logs }) => [['', logs]]);
  counter('delegations_follower_failures_total', 'Failed ticks.', ({ failures }) => [['', failures]]);
  counter('delegations_follower_audited_blocks_total', 'Final blocks audited.', ({ audited }) => [['', audited]]);
  counter('delegations_follower_compared_answers_total', 'Registry answers compared with the index.', (chain) => [
    ['', chain.compared],
  ]);
  counter(
    'delegations_follower_blocks_total',
    'New blocks by how their logs, or that they have none, are known.',
    (chain) => Object.entries(chain.evidence).map(([evidence, count]) => [`,evidence="${evidence}"`, count]),
  );
  counter('delegations_follower_events_total', 'Reorgs, repairs, mismatches, halts and resumptions.', ({ events }) =>
    Object.entries(events).map(([type, count]) => [`,type="${type}"`, count]),
  );
  counter('delegations_rpc_calls_total', 'JSON-RPC calls to providers by outcome.', ({ rpc }) =>
    Object.entries(rpc).flatMap(([provider, { calls }]) =>
      Object.entries(calls).flatMap(([method, outcomes]) =>
        Object.entries(outcomes).map(
          ([outcome, count]) => [`,provider="${provider}",method="${method}",outcome="${outcome}"`, count] as const,
        ),
      ),
    ),
  );
  const duration = 'delegations_rpc_request_duration_seconds';
  family(
    duration,
    'histogram',
    'Time of HTTP requests to providers; a batch of calls is one request.',
    chains.flatMap(({ chainId, rpc }) =>
      Object.entries(rpc).flatMap(([provider, { latency }]) =>
        histogramRows(duration, `chain="${chainId}",provider="${provider}"`, RPC_BUCKETS, latency),
      ),
    ),
  );
  counter('delegations_provider_failures_total', 'Failures of a provider by cause.', ({ providerFailures }) =>
    Object.entries(providerFailures).flatMap(([provider, causes]) =>
      Object.entries(causes).map(([cause, count]) => [`,provider="${provider}",cause="${cause}"`, count] as const),
    ),
  );
  const failing = 'delegations_follower_failing';
  family(
    failing,
    'gauge',
    'Failed ticks since the last that succeeded, by the cause of the last.',
    rows(failing, (chain) =>
      chain.failing === null ? [] : [[`,cause="${chain.failing.cause}"`, chain.failing.ticks]],
    ),
  );
  const standby = 'delegations_follower_standby';
  family(
    standby,
    'gauge',
    '1 while another process holds the lease and this one stands by.',
    rows(standby, (chain) => [['', chain.standby ? 1 : 0]]),
  );
  const health = 'delegations_provider_healthy';
  family(
    health,
    'gauge',
    '1 while the provider is healthy.',
    rows(health, ({ providers }) => providers.map(({ name, healthy }) => [`,provider="${name}"`, healthy ? 1 : 0])),
  );
}
