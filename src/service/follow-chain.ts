// Follows one chain: holds its lease, runs its follower and its auditor, and reports their status.

import type { ProviderCause } from '../api/provider-causes.ts';
import type { Sampled } from '../chain/audit/denied-sample.ts';
import type { FollowerEvent } from '../chain/compare/context.ts';
import { type Auditor, createAuditor, runAuditor } from '../chain/follow/auditor.ts';
import { createFollower, type Follower } from '../chain/follow/follower.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { createHistorySource } from '../chain/follow/history-source.ts';
import { holdLease } from '../chain/follow/lease.ts';
import { runFollower } from '../chain/follow/run-follower.ts';
import { troubleOf } from '../chain/rpc/errors.ts';
import { createProviderPool } from '../chain/rpc/provider-pool.ts';
import { createRpcStats } from '../chain/rpc/rpc-stats.ts';
import type { Network } from '../registry/network.ts';
import type { Store } from '../store/store.ts';
import type { ChainConfig } from './chain-config.ts';
import type { Log } from './log.ts';
import { createFailureFilter, createProviderLog } from './outage-log.ts';
import { createProgressRate } from './progress.ts';

export type FollowedChain = ReturnType<typeof followChain>;

/** Events that are no trouble. */
const INFO = new Set<FollowerEvent['type']>(['resumed', 'reorg', 'undisputed', 'proofs', 'import-confirmed']);

export function followChain(network: Network, chain: ChainConfig, store: Store, log: Log, signal: AbortSignal) {
  const { chainId } = network;
  const rpc = createRpcStats();
  const events: Partial<Record<FollowerEvent['type'], number>> = {};
  let failures = 0;
  /** Since the last successful tick: ticks that failed, leases that were released because of that, and leases not renewed. */
  let [failedTicks, stalls, failedLeases] = [0, 0, 0];
  let isStandby = false;
  let failing: FollowerStatus['failing'] = null;
  const noteFailure = (error: unknown) => {
    const { since = Math.floor(Date.now() / 1000), ticks = 0 } = failing ?? {};
    failing = { cause: troubleOf(error), since, ticks: ticks + 1 };
  };
  /** By provider, then by cause. */
  const providerFailures: Record<string, Partial<Record<ProviderCause, number>>> = {};
  const providerLog = createProviderLog(chainId, log, Date.now);
  const providers = createProviderPool(network, chain.rpcUrls, {
    listenerOf: rpc.listener,
    onFailure(provider, failure) {
      const counts = providerFailures[provider] ?? {};
      providerFailures[provider] = { ...counts, [failure.cause]: (counts[failure.cause] ?? 0) + 1 };
      providerLog.failed(provider, failure);
    },
    onRecovery: providerLog.recovered,
  });
  const { historyUrl } = chain;
  const ticks = () => performance.now();
  const history = historyUrl === undefined ? null : createHistorySource(historyUrl, network, ticks);
  const startFollower = () =>
    createFollower({
      network,
      store,
      providers,
      now: Date.now,
      ...(chain.finality === undefined ? {} : { finality: chain.finality }),
      ...(history === null ? {} : { history }),
      ...(chain.startBlock === undefined ? {} : { firstBlock: chain.startBlock }),
      onEvent(event) {
        events[event.type] = (events[event.type] ?? 0) + 1;
        const { type, ...fields } = event;
        log(INFO.has(type) ? 'info' : 'warn', type, { chainId, ...fields });
      },
    });
  /** Of the current lease, or the last one; null before the first. */
  let running: { readonly follower: Follower; readonly auditor: Auditor } | null = null;
  const isLogged = createFailureFilter(Date.now);
  const isStallLogged = createFailureFilter(Date.now);
  const logFailure = (error: unknown, times = 1) => {
    failures++;
    if (isLogged(times))
      log('warn', 'follower error', { chainId, times, error: providers.redact(describeError(error)) });
  };
  const lease = {
    store,
    chainId,
    signal,
    onError(error: unknown) {
      noteFailure(error);
      logFailure(error, ++failedLeases);
    },
    onChange(isOurs: boolean) {
      isStandby = !isOurs;
      if (isStandby) failing = null;
      if (isStallLogged(stalls))
        log('info', isOurs ? 'lease acquired' : 'lease held elsewhere, standing by', { chainId });
    },
  };
  const stopped = holdLease(lease, async (held) => {
    const follower = startFollower();
    const auditor = createAuditor(follower, network, store, Date.now);
    running = { follower, auditor };
    const pollMs = chain.pollMs ?? Math.max(1000, 1000 * network.blockSeconds);
    const stopAuditor = new AbortController();
    const auditing = runAuditor(auditor, {
      pollMs,
      signal: AbortSignal.any([held, stopAuditor.signal]),
      onError: logFailure,
    });
    const outcome = await runFollower(follower, {
      pollMs,
      signal: held,
      onError(error) {
        noteFailure(error);
        logFailure(error, ++failedTicks);
        providerLog.remind(providers.all);
      },
      onProgress() {
        [failedTicks, stalls, failedLeases] = [0, 0, 0];
        failing = null;
        providerLog.remind(providers.all);
      },
    });
    stopAuditor.abort();
    await auditing;
    if (outcome === 'overtaken') log('warn', 'chain written by another process', { chainId });
    if (outcome === 'stalled' && isStallLogged(++stalls)) {
      log('warn', 'no successful tick, releasing the lease', { chainId, failedTicks, stalls });
    }
    return outcome;
  });

  const measure = createProgressRate();
  return {
    chainId,
    /** Passes questions that callers asked: those answered no, or against a proof, to the auditor, those refused as unread to the follower. */
    sampleQuestions({ denied, unread, contradicted }: Sampled): void {
      running?.auditor.addDenied(denied);
      running?.auditor.addContradicted(contradicted);
      for (const { from, to } of unread) running?.follower.prioritize(from, to);
    },
    /** Resolves once the signal has stopped everything. */
    stopped,
    status(): FollowerStatus {
      const { firstBlock = null, head = null } = running?.follower.state ?? {};
      const { tip = null, logs = 0 } = running?.follower.progress() ?? {};
      // Before its first commit, a chain starts below its first block.
      const base = firstBlock === null ? null : firstBlock - 1;
      const rates = measure(Date.now(), head?.number ?? base, logs);
      const remaining = tip === null || head === null ? null : Math.max(0, tip - head.number);
      return {
        chainId,
        firstBlock,
        block: head?.number ?? null,
        tip,
        logs,
        logsPerSecond: rates.logs,
        secondsLeft: remaining === null || !rates.blocks || rates.blocks < 0 ? null : remaining / rates.blocks,
        providers: providers.all.map(({ name, failure }) => ({
          name,
          healthy: failure === null,
          cause: failure?.cause ?? null,
        })),
        providerFailures,
        rpc: rpc.stats,
        events,
        ...(running?.auditor.done ?? { audited: 0, compared: 0 }),
        evidence: running?.follower.evidence ?? { bloom: 0, receipts: 0, compared: 0 },
        standby: isStandby,
        failures,
        failing,
      };
    },
  };
}

const describeError = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : 'a value that is not an Error was thrown';
