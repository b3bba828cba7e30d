// Starts the API in this process: store, keys, rate limits, sign-in and HTTP server.

import { openAccounts } from '../accounts/accounts.ts';
import { createKeyCache } from '../accounts/key-cache.ts';
import { createSignIn, type SignIn } from '../accounts/sign-in.ts';
import { createDeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { createNameReader } from '../chain/names/name-reader.ts';
import { createProofReader } from '../chain/prove/proof-reader.ts';
import { createTokenReader } from '../chain/tokens/token-reader.ts';
import { createChangeStreams } from '../http/answers/change-streams.ts';
import { clockAhead, clockBehind, lagOf } from '../http/context/freshness.ts';
import type { KeyChange, TestWallet, WebhookChange } from '../http/developers/developers.ts';
import { createAdmission } from '../http/limits/admission.ts';
import { createLongLists } from '../http/limits/long-lists.ts';
import { startServer } from '../http/server/server.ts';
import { openMcpEndpoint } from '../mcp/server.ts';
import { partsOf } from '../registry/check.ts';
import { NETWORKS } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import { openStore } from '../store/open.ts';
import { withReplica } from '../store/replica.ts';
import { jsonText } from '../store/rows/cells.ts';
import { once } from '../store/rows/sql.ts';
import type { ChainState } from '../store/store.ts';
import { withTimeout } from '../store/with-timeout.ts';
import { type DelivererOptions, startDeliverer } from '../webhooks/deliverer.ts';
import { createSender, TIMEOUT_MS } from '../webhooks/send.ts';
import { createWebhookSource } from '../webhooks/source.ts';
import type { TargetRules } from '../webhooks/target.ts';
import { createWebhooks } from '../webhooks/webhooks.ts';
import { publishArchives } from './archives.ts';
import type { Config } from './config.ts';
import { createFreshness } from './freshness.ts';
import { createLimits, type GroupWindows } from './limits.ts';
import { createErrorLog, createWarningLog, type Log, type OnError } from './log.ts';
import type { Health, Metrics } from './metrics.ts';
import { subscribeToFollowerStatus } from './notices.ts';
import { createClockLog } from './outage-log.ts';
import { createRequestLog } from './request-log.ts';
import { learnNetworks } from './stored-networks.ts';
import type { TelemetryConfig } from './telemetry-config.ts';

export const targetRules = ({ webhookNetworks }: Config, sandbox = false): TargetRules => ({
  networks: webhookNetworks,
  allowsHttp: sandbox,
});

export interface ApiOptions {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Chains that this service follows. Other chains are found in the store. */
  readonly followed: Iterable<number>;
  readonly followerStatus: () => readonly FollowerStatus[];
  readonly sandbox?: boolean;
  /** Of a sandbox: signs in whoever has no wallet. */
  readonly testWallet?: TestWallet | undefined;
  /** For a worker: the rate limit windows that all workers share. */
  readonly group?: GroupWindows;
  /** The pace of webhooks, for tests. */
  readonly delivery?: Partial<Pick<DelivererOptions, 'retryScale' | 'leaseMs' | 'pollMs' | 'timeoutMs'>>;
}

export type RunningApi = Awaited<ReturnType<typeof startApi>>;

const FLUSH_TIMEOUT_MS = 2000;
/** An owner can have something sent to a receiver once in this time. */
const ASK_MS = 60_000;
const WEBHOOKS_PER_WALLET = 10;
/** Of long lists without a key, in each process. */
const ROWS_PER_SECOND = 10_000;
/** How often the state of all chains is read, to find new chains and to see a stalled one even without requests. */
const CHAINS_MS = 2000;

export async function startApi(options: ApiOptions) {
  const { config, log, metrics, sandbox = false, testWallet, group = null } = options;
  const denied = createDeniedSample();
  const onError = createErrorLog(log);
  /** Stopped in reverse, also if a later part fails to start. */
  await using started = new AsyncDisposableStack();
  const primary = started.use(await openStore(config.databaseUrl, { connections: config.databasePool, role: 'api' }));
  const { replicaUrl } = config;
  const replicated =
    replicaUrl === null
      ? null
      : withReplica(primary, replicaUrl, {
          log,
          onFallback: () => metrics.count('delegations_replica_fallback_total'),
          connections: config.databasePool,
        });
  if (replicated !== null) started.defer(replicated.stop);
  const store = replicated?.store ?? primary;
  const accounts = started.use(await openAccounts(config.databaseUrl));
  const webhooks = createWebhooks(accounts.engine);
  const keys = createKeyCache(accounts, { onError });
  // Writes the last usage counts, but does not wait long for the database.
  started.defer(() => withTimeout(FLUSH_TIMEOUT_MS, keys.stop()).catch(onError));
  const limits = createLimits(config, log, metrics, group);
  started.defer(limits.close);
  const admission = createAdmission({ ...limits, keys, unknownKeys: config.unknownKeys, proxies: config.proxies });

  const chainIds = new Set(options.followed);
  const service = { store, chainIds, sandbox, ...createFreshness(config) };
  const logClock = createClockLog(log);
  const learned = started.use(new DisposableStack());
  let isOutdated = false;
  const observeChains = async () => {
    let states: readonly ChainState[] = [];
    try {
      states = await store.chains();
      isOutdated = false;
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'newer-schema') throw error;
      if (!isOutdated) log('error', 'the database is that of a newer version: upgrade this process');
      isOutdated = true;
    }
    learnNetworks(states, learned);
    for (const state of states) {
      if (!NETWORKS.has(state.chainId)) continue;
      chainIds.add(state.chainId);
      const now = service.now();
      // Also records when the chain was last seen to move.
      lagOf(state, now, service);
      logClock(state.chainId, clockBehind(state, now, service), clockAhead(state, now, service));
    }
  };
  await observeChains();
  // On PostgreSQL, the followers can be other processes.
  const remote = primary.notices && subscribeToFollowerStatus(primary.notices, denied, onError);
  if (remote !== null) started.defer(remote.stop);

  // Without PUBLIC_URL, the origins are known once the server listens.
  let origins: readonly string[] = config.publicUrl === null ? [] : [config.publicUrl];
  const nodes = new Map([...config.chains].map(([chainId, { rpcUrls }]) => [chainId, rpcUrls]));
  const openSignIn = once(() =>
    createSignIn({
      sessions: accounts.sessions,
      origins: () => origins,
      nodes,
      now: service.now,
      onDispute: (chainId) => log('error', 'providers disagree about the signature of a sign-in', { chainId }),
    }),
  );
  const tokens = createTokenReader({
    nodes,
    onRead: (outcome) => metrics.count('delegations_token_reads_total', outcome),
    onDispute: (chainId, contract, providers) =>
      log('error', 'providers disagree about a token', { chainId, contract, providers }),
  });
  const proofs = createProofReader({
    nodes,
    onRead: (outcome) => metrics.count('delegations_proof_reads_total', outcome),
  });
  const names = createNameReader(nodes);
  const archives = config.publishesArchives ? publishArchives(primary.id, config.databaseUrl, onError) : null;
  if (archives !== null) started.defer(() => archives.stop());
  const onKeyChange = ({ type, ...change }: KeyChange) => log('info', `key ${type}`, { ...change, by: 'wallet' });
  const onWebhookChange = ({ type, ...change }: WebhookChange) =>
    log('info', `webhook ${type}`, { ...change, by: 'wallet' });
  const developers = {
    accounts,
    // At the first sign-in: what it loads takes as long as a third of the whole start.
    signIn: { verify: async (...args) => (await openSignIn()).verify(...args) } satisfies SignIn,
    origins: () => origins,
    quota: config.keysPerWallet,
    onKeyChange,
    onWebhookChange,
    ...(config.webhooks
      ? {
          webhooks: {
            store: webhooks,
            quota: WEBHOOKS_PER_WALLET,
            rules: targetRules(config, sandbox),
            // A sandbox delivers to its own machine.
            askMs: sandbox ? 0 : ASK_MS,
            registrations: limits.registrations,
          },
        }
      : {}),
    clientOf: admission.addressOf,
    storeUses: keys.flush,
    ...(sandbox && testWallet !== undefined ? { testWallet } : {}),
  };
  const { publicUrl: _, mcp: hasMcp, ...settings } = config;
  const mcp = hasMcp ? await openMcpEndpoint(onError) : null;
  const logRequest = createRequestLog(config.requestLog, log, (key) => keys.found(key)?.id ?? null);
  const traces = await openTraces(config.telemetry, createWarningLog(log, 'traces not exported'));
  // Exports the last spans, but does not wait long for the collector.
  if (traces !== null) started.defer(() => withTimeout(FLUSH_TIMEOUT_MS, traces.stop()).catch(onError));
  let isStopping = false;
  const streams = createChangeStreams();
  const longLists = createLongLists(ROWS_PER_SECOND);
  const server = startServer({
    ...settings,
    ...service,
    ...(config.selfServiceKeys ? { developers } : {}),
    ...(config.ownership ? { tokens } : {}),
    ...(config.provesAnswers ? { proofs } : {}),
    ...(archives === null ? {} : { archives }),
    ...(names === null ? {} : { names }),
    ...(mcp === null ? {} : { mcp }),
    ...(config.publicUrl === null ? {} : { publicUrl: config.publicUrl }),
    followerStatus: () => mergeFollowerStatus(options.followerStatus(), remote?.followerStatus() ?? []),
    admission,
    longLists,
    streams,
    sharesPort: group !== null,
    isStopping: () => isStopping,
    isOutdated: () => isOutdated,
    onError,
    onDenied: denied.add,
    onUnread: (chainId, question) => denied.add(chainId, question, 'unread'),
    onContradiction({ question, index, proven, ...evidence }) {
      const said = { question: jsonText(question), index: String(index), proven: String(proven) };
      log('error', 'a proof contradicts the index', { ...evidence, ...said });
      for (const part of partsOf(question)) denied.add(evidence.chainId, part, 'contradicted');
    },
    onAnswer(answered, request, response) {
      metrics.observe(answered);
      logRequest(answered, request, response);
      traces?.record(answered, request, response);
    },
  });
  const { timeoutMs = TIMEOUT_MS } = options.delivery ?? {};
  const deliverer = config.webhooks
    ? startDeliverer({
        ...options.delivery,
        timeoutMs,
        webhooks,
        source: createWebhookSource({ store, chainIds, longLists }),
        send: createSender(targetRules(config, sandbox), { timeoutMs }),
        onAttempt: (outcome) => metrics.count('delegations_webhook_deliveries_total', outcome),
        onPause: ({ id, owner }, reason) => log('warn', 'webhook paused', { webhookId: id, owner, reason }),
        onError,
      })
    : null;
  // Requests and deliveries drain at the same time.
  started.defer(async () => void (await Promise.all([server.stop(), deliverer?.stop(1000 * config.drainTimeout)])));
  const { port } = new URL(server.url);
  if (config.publicUrl === null) origins = ['localhost', '127.0.0.1'].map((host) => `http://${host}:${port}`);
  const chains = setInterval(() => void observeChains().catch(onError), CHAINS_MS);
  started.defer(() => clearInterval(chains));
  const running = started.move();
  return {
    ...service,
    url: server.url,
    /** Absent if webhooks are off. */
    ...(config.webhooks ? { webhookStats: webhooks.stats } : {}),
    health: (): Health => ({ limiterShared: limits.isShared(), replicaFresh: replicated?.isFresh() ?? null }),
    /** Makes `/ready` answer 503 and waits for load balancers to see it. Requests are still accepted. */
    async prepareStop() {
      isStopping = true;
      await Bun.sleep(1000 * config.drainDelay);
    },
    /** How many streams of changes are open. */
    openStreams: () => streams.count,
    /** The sample of denied questions; empty if the followers get it through the database. */
    takeDenied: () => (remote === null ? denied.take() : []),
    stop: () => running.disposeAsync(),
  };
}

/** Loads the exporter only if traces are exported. */
async function openTraces(telemetry: TelemetryConfig | null, onError: OnError) {
  if (telemetry === null || telemetry.tracesUrl === null) return null;
  const { createTraces } = await import('./otlp.ts');
  return createTraces(telemetry.tracesUrl, telemetry, onError);
}

/** The remote status wins: it comes from the process that holds the lease. */
const mergeFollowerStatus = (own: readonly FollowerStatus[], remote: readonly FollowerStatus[]) => [
  ...new Map([...own, ...remote].map((one) => [one.chainId, one])).values(),
];
