// Every configured chain, each in a loop of its own that no other chain's trouble reaches.

import { type Auditor, createAuditor, runAuditor } from '../chain/auditor.ts';
import type { FollowerEvent } from '../chain/context.ts';
import type { DeniedSample } from '../chain/denied-sample.ts';
import { createFollower, type Follower } from '../chain/follower.ts';
import type { FollowerStatus } from '../chain/follower-status.ts';
import { holdLease } from '../chain/lease.ts';
import { createProviderPool } from '../chain/provider-pool.ts';
import { runFollower } from '../chain/run-follower.ts';
import type { Question } from '../registry/check.ts';
import { NETWORKS, type Network } from '../registry/network.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import type { ChainConfig } from './chain-config.ts';
import type { Environment } from './config.ts';
import { type Config, readConfig } from './config.ts';
import { failureLog, type Log, openLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { startMetrics } from './metrics-server.ts';
import { tellFigures } from './notices.ts';
import { startProgress } from './progress.ts';
import { freshnessOf } from './start-api.ts';
import { stopSignal } from './stop-signal.ts';

export async function followChains(environment: Environment): Promise<void> {
  const config = readConfig(environment);
  const log = openLog(config.logLevel);
  const onError = failureLog(log);
  const store = await openStore(config.databaseUrl);
  let followed: readonly FollowedChain[] = [];
  const figures = () => followed.map((chain) => chain.figures());
  // Beside a service that answers, that one tells the figures of both.
  const told = process.connected ? null : await orClose(store, () => followerMetrics(config, store, figures, onError));
  const stopping = new AbortController();
  followed = [...config.chains].map(([chainId, chain]) => {
    const network = NETWORKS.get(chainId) as Network;
    return followChain({ network, chain, store, log, signal: stopping.signal });
  });
  log('info', 'following', { chainIds: [...config.chains.keys()], ...(told && { metrics: told.url }) });
  const onDenied = (...[chainId, questions, unread]: ReturnType<DeniedSample['take']>[number]) => {
    followed.find((chain) => chain.chainId === chainId)?.denied(questions, unread);
    log('debug', 'denied', { chainId, questions: questions.length, unread: unread.length });
  };
  process.on('message', (message: unknown) => {
    const { type, denied = [] } = message as { type?: string; denied?: ReturnType<DeniedSample['take']> };
    if (type === 'denied') for (const one of denied) onDenied(...one);
  });
  const notices = store.notices && tellFigures(store.notices, figures, onDenied, onError);
  const progress = startProgress(figures, log);
  await stopSignal(log);
  stopping.abort();
  progress.stop();
  notices?.stop();
  await told?.stop();
  await Promise.all(followed.map(({ ended }) => ended));
  await store.close();
  log('info', 'stopped following');
  // The line to the parent would keep this process alive.
  process.disconnect?.();
}

const followerMetrics = (
  config: Config,
  store: Store,
  figures: () => readonly FollowerStatus[],
  onError: (error: unknown) => void,
) =>
  startMetrics({
    ...config,
    store,
    chainIds: new Set(config.chains.keys()),
    ...freshnessOf(config),
    metrics: createMetrics(),
    view: () => ({ followers: figures() }),
    onError,
  });

/** Whatever cannot start leaves no store open. */
async function orClose<T>(store: Store, start: () => T): Promise<T> {
  try {
    return start();
  } catch (error) {
    await store.close();
    throw error;
  }
}

type FollowedChain = ReturnType<typeof followChain>;

interface FollowChainOptions {
  readonly network: Network;
  readonly chain: ChainConfig;
  readonly store: Store;
  readonly log: Log;
  readonly signal: AbortSignal;
}

function followChain({ network, chain, store, log, signal }: FollowChainOptions) {
  const { chainId } = network;
  const calls: Record<string, number> = {};
  const events: Partial<Record<FollowerEvent['type'], number>> = {};
  let failures = 0;
  /** Ticks that failed, and turns that ended without progress, since the last tick that succeeded. */
  let [failedTicks, stalls] = [0, 0];
  let isStandby = false;
  const providers = createProviderPool(network, chain.rpcUrls, {
    onCall: (method) => {
      calls[method] = (calls[method] ?? 0) + 1;
    },
  });
  const create = () =>
    createFollower({
      network,
      store,
      providers,
      now: Date.now,
      ...(chain.finality === undefined ? {} : { finality: chain.finality }),
      ...(chain.startBlock === undefined ? {} : { firstBlock: chain.startBlock }),
      onEvent(event) {
        events[event.type] = (events[event.type] ?? 0) + 1;
        const { type, ...fields } = event;
        log(type === 'resumed' || type === 'reorg' ? 'info' : 'warn', type, { chainId, ...fields });
      },
    });
  /** Of our newest turn; null before the first. */
  let ours: { readonly follower: Follower; readonly auditor: Auditor } | null = null;
  const onError = (error: unknown, times = 1) => {
    failures++;
    if (isTold(times)) log('warn', 'trouble', { chainId, times, error: providers.redact(troubleOf(error)) });
  };
  const turn = {
    store,
    chainId,
    signal,
    onError: (error: unknown) => onError(error, 1),
    onChange(isOurs: boolean) {
      isStandby = !isOurs;
      if (!isTold(stalls)) return;
      log('info', isOurs ? 'follows' : 'another program follows this chain: standing by', { chainId });
    },
  };
  const ended = holdLease(turn, async (held) => {
    const follower = create();
    const auditor = createAuditor(follower, network, store, Date.now);
    ours = { follower, auditor };
    const pollMs = chain.pollMs ?? Math.max(1000, 1000 * network.blockSeconds);
    const ending = new AbortController();
    const auditing = runAuditor(auditor, { pollMs, signal: AbortSignal.any([held, ending.signal]), onError });
    const how = await runFollower(follower, {
      pollMs,
      signal: held,
      onError: (error) => onError(error, ++failedTicks),
      onProgress() {
        [failedTicks, stalls] = [0, 0];
      },
    });
    ending.abort();
    await auditing;
    if (how === 'overtaken') log('warn', 'another program has written to this chain', { chainId });
    if (how === 'stalled' && isTold(++stalls)) {
      log('warn', 'no successful tick: handing the chain over to whoever stands by', { chainId, failedTicks, stalls });
    }
    return how;
  });

  let before = { at: Date.now(), logs: 0, block: 0 };
  let rates = { logs: 0, blocks: 0 };
  return {
    chainId,
    denied(questions: readonly Question[], unread: readonly Question[]) {
      ours?.auditor.addDenied(questions);
      for (const { from, to } of unread) ours?.follower.prioritize(from, to);
    },
    ended,
    figures(): FollowerStatus {
      const { firstBlock = null, head = null, tip = null } = ours?.follower.state ?? {};
      const now = { at: Date.now(), logs: ours?.follower.logs ?? 0, block: head?.number ?? 0 };
      const seconds = (now.at - before.at) / 1000;
      if (seconds >= 1) {
        rates = { logs: (now.logs - before.logs) / seconds, blocks: (now.block - before.block) / seconds };
        before = now;
      }
      const remaining = tip === null || head === null ? null : tip - head.number;
      return {
        chainId,
        firstBlock,
        block: head?.number ?? null,
        tip,
        logs: now.logs,
        logsPerSecond: rates.logs,
        secondsLeft: remaining === null || rates.blocks <= 0 ? null : remaining / rates.blocks,
        providers: providers.all.map(({ name, penalty, failure }) => ({
          name,
          healthy: penalty === 0,
          ailment: failure,
        })),
        calls,
        events,
        audited: ours?.auditor.blocks ?? 0,
        compared: ours?.auditor.answers ?? 0,
        standby: isStandby,
        failures,
      };
    },
  };
}

/** The first of a row is told, and then fewer and fewer. */
const isTold = (times: number) => (times & (times - 1)) === 0;

const troubleOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : 'something else than an error was thrown';
