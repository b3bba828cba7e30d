// Reports the progress of the chains: on a terminal as live lines, otherwise in the log, and to the parent process.

import { backfillShare, type FollowerStatus, formatStatus } from '../chain/follow/follower-status.ts';
import { NETWORKS } from '../registry/network.ts';
import type { PoolStatus } from '../store/engine.ts';
import type { Log } from './log.ts';
import type { Counts } from './metrics.ts';

const SEND_MS = 1000;
const LOG_MS = 30_000;
/** A chain that was caught up and is no further behind than this has no progress to report. */
const BEHIND_BLOCKS = 100;

/** What a follower process sends to its parent. */
export interface FollowerReport {
  readonly type: 'follower-status';
  readonly chains: readonly FollowerStatus[];
  readonly pool: PoolStatus | null;
  readonly counts: Counts;
}

export function startProgressReport(
  followerStatus: () => readonly FollowerStatus[],
  pool: () => PoolStatus | null,
  takeCounts: () => Counts,
  log: Log,
): { stop(): void } {
  const write = process.stderr.isTTY === true ? (text: string) => void process.stderr.write(text) : null;
  const report = createProgressReport(log, write);
  const send = () => {
    const chains = followerStatus();
    if (process.send !== undefined)
      process.send({ type: 'follower-status', chains, pool: pool(), counts: takeCounts() } satisfies FollowerReport);
    return chains;
  };
  // At once, so that the API never shows an indexed chain without its providers.
  send();
  const timer = setInterval(() => report(send(), performance.now()), SEND_MS);
  return { stop: () => clearInterval(timer) };
}

/** `write` writes to the terminal; null without one. The result is called about once a second. */
export function createProgressReport(log: Log, write: ((text: string) => void) | null) {
  /** When a chain began to catch up, in ms, and when that was last logged. Null once caught up, absent in standby. */
  const catchingUp = new Map<number, { readonly since: number; loggedAt: number } | null>();
  let drawn = 0;

  const update = (status: FollowerStatus, nowMs: number) => {
    const { chainId, block, tip, standby } = status;
    if (standby) return void catchingUp.delete(chainId);
    const isBehind = block === null || tip === null || tip - block > BEHIND_BLOCKS;
    const isNew = !catchingUp.has(chainId) || (isBehind && catchingUp.get(chainId) === null);
    if (isNew) catchingUp.set(chainId, { since: nowMs, loggedAt: Number.NEGATIVE_INFINITY });
    const started = catchingUp.get(chainId) ?? null;
    if (started === null) return;
    if (block !== null && tip !== null && block >= tip) {
      catchingUp.set(chainId, null);
      const seconds = Math.round((nowMs - started.since) / 1000);
      log('info', 'caught up', { chainId, block, logs: status.logs, seconds });
    } else if (write === null && nowMs - started.loggedAt >= LOG_MS) {
      started.loggedAt = nowMs;
      logProgress(log, status);
    }
  };

  return (chains: readonly FollowerStatus[], nowMs: number): void => {
    for (const status of chains) update(status, nowMs);
    if (write === null) return;
    const lines = chains
      .filter(({ chainId }) => catchingUp.get(chainId))
      .map((status) => `${formatStatus(NETWORKS.get(status.chainId)?.name ?? String(status.chainId), status)}\n`);
    // Overwrites the previous lines.
    const up = drawn > 0 ? `\x1b[${drawn}A\x1b[J` : '';
    if (lines.length > 0 || drawn > 0) write(`${up}${lines.join('')}`);
    drawn = lines.length;
  };
}

function logProgress(log: Log, status: FollowerStatus): void {
  const { chainId, block, tip, logs, logsPerSecond, secondsLeft } = status;
  log('info', 'backfill progress', {
    chainId,
    block,
    head: tip,
    percent: Number((100 * backfillShare(status)).toFixed(2)),
    logs,
    logsPerSecond: Math.round(logsPerSecond),
    secondsLeft: secondsLeft && Math.round(secondsLeft),
  });
}

const WINDOW_MS = 30_000;
const MIN_INTERVAL_MS = 1000;

/**
 * How many logs and blocks of a chain are indexed in a second, over the last half minute. The blocks are null until
 * there are two samples. The first sample after a start is only a base: the blocks of earlier runs are no progress of
 * this one. `block` is null before the chain is known. Fewer logs than before mean that another follower has started to count.
 */
export function createProgressRate() {
  /** `at` is in milliseconds. */
  let samples: { readonly at: number; readonly block: number; readonly logs: number }[] = [];
  return (at: number, block: number | null, logs: number) => {
    const newest = samples.at(-1);
    if (block === null || logs < (newest?.logs ?? 0)) samples = [];
    if (block !== null && (samples.length === 0 || at - (newest?.at ?? 0) >= MIN_INTERVAL_MS)) {
      samples.push({ at, block, logs });
      samples = samples.filter((sample) => at - sample.at <= WINDOW_MS);
    }
    const [first, last] = [samples[0], samples.at(-1)];
    if (first === undefined || last === undefined || first === last) return { logs: 0, blocks: null };
    const seconds = (last.at - first.at) / 1000;
    return { logs: (last.logs - first.logs) / seconds, blocks: (last.block - first.block) / seconds };
  };
}
