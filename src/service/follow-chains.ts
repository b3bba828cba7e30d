// Runs the follower process: every configured chain, independent of the others, until a stop signal.

import type { DeniedSample } from '../chain/audit/denied-sample.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import { type Config, type Environment, readConfig } from './config.ts';
import { logStart } from './describe-config.ts';
import { type FollowedChain, followChain } from './follow-chain.ts';
import { createFreshness } from './freshness.ts';
import { createErrorLog, type Log, openLog } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { migrateFirst } from './migrate-store.ts';
import { publishFollowerStatus } from './notices.ts';
import { readProcessStats } from './process-stats.ts';
import { startProgressReport } from './progress.ts';
import { waitForStopSignal } from './stop-signal.ts';

export async function followChains(environment: Environment): Promise<void> {
  const config = readConfig(environment);
  const counted = createMetrics();
  const log = openLog(config.logLevel, () => counted.count('delegations_log_dropped_lines_total'));
  // The parent of a child process has logged the start and migrated the database.
  if (!process.connected) {
    logStart(log, environment, config, true);
    await migrateFirst(config, environment, log, { hasApi: false });
  }
  await followUntilStopped(config, counted, log);
  log('info', 'stopped following');
  // An open IPC channel would keep this process alive.
  process.disconnect?.();
}

async function followUntilStopped(config: Config, counted: Metrics, log: Log): Promise<void> {
  const onError = createErrorLog(log);
  await using store = await openStore(config.databaseUrl, { connections: config.databasePool, role: 'follower' });
  let chains: readonly FollowedChain[] = [];
  const followerStatus = () => chains.map((chain) => chain.status());
  const view = () => ({
    followers: followerStatus(),
    processes: [{ name: 'follower', stats: readProcessStats(process.pid), pool: store.pool() }],
  });
  const chainIds = new Set(config.chains.keys());
  // A child process has no metrics server: its parent serves the metrics of both.
  const metrics = process.connected
    ? null
    : startMetrics({ ...config, ...createFreshness(config), store, chainIds, metrics: counted, log, view, onError });
  const stopping = new AbortController();
  chains = [...config.chains].map(([chainId, chain]) =>
    followChain(NETWORKS.get(chainId) as Network, chain, store, log, stopping.signal),
  );
  log('info', 'following', { chainIds: [...chainIds], ...(metrics && { metrics: metrics.url }) });
  const onDenied = (...[chainId, sampled]: ReturnType<DeniedSample['take']>[number]) => {
    chains.find((chain) => chain.chainId === chainId)?.sampleQuestions(sampled);
    log('debug', 'denied', { chainId, questions: sampled.denied.length, unread: sampled.unread.length });
  };
  process.on('message', (message: unknown) => {
    const { type, denied = [] } = message as { type?: string; denied?: ReturnType<DeniedSample['take']> };
    if (type === 'denied') for (const one of denied) onDenied(...one);
  });
  const notices = store.notices && publishFollowerStatus(store.notices, followerStatus, onDenied, onError);
  const progress = startProgressReport(followerStatus, store.pool, counted.take, log);
  await waitForStopSignal(log);
  stopping.abort();
  progress.stop();
  notices?.stop();
  await metrics?.stop();
  await Promise.all(chains.map(({ stopped }) => stopped));
}
