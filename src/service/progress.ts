// Reports the progress of the chains: on a terminal as live lines, otherwise in the log, and to the parent process.

import { backfillShare, type FollowerStatus, formatStatus } from '../chain/follower-status.ts';
import { NETWORKS } from '../registry/network.ts';
import type { PoolStatus } from '../store/engine.ts';
import type { Log } from './log.ts';
import type { Counts } from './metrics.ts';

const SEND_MS = 1000;
const LOG_EVERY = 5;
/** A chain that is closer to its head has no progress to report. */
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
  const onTerminal = process.stderr.isTTY === true;
  let turn = 0;
  let drawn = 0;
  const timer = setInterval(() => {
    const all = followerStatus();
    if (process.send !== undefined)
      process.send({
        type: 'follower-status',
        chains: all,
        pool: pool(),
        counts: takeCounts(),
      } satisfies FollowerReport);
    const behind = all.filter(({ block, tip }) => tip !== null && tip - (block ?? 0) > BEHIND_BLOCKS);
    if (onTerminal) drawn = draw(behind, drawn);
    else if (turn % LOG_EVERY === 0) {
      for (const one of behind) {
        const { chainId, block, tip, logs, logsPerSecond, secondsLeft } = one;
        const percent = Number((100 * backfillShare(one)).toFixed(2));
        const rounded = {
          logsPerSecond: Math.round(logsPerSecond),
          secondsLeft: secondsLeft && Math.round(secondsLeft),
        };
        log('info', 'backfill progress', { chainId, block, head: tip, percent, logs, ...rounded });
      }
    }
    turn++;
  }, SEND_MS);
  return { stop: () => clearInterval(timer) };
}

/** Overwrites the previous lines; returns the number of lines. */
function draw(chains: readonly FollowerStatus[], before: number): number {
  const lines = chains.map((one) => formatStatus(NETWORKS.get(one.chainId)?.name ?? String(one.chainId), one));
  const up = before > 0 ? `\x1b[${before}A\x1b[J` : '';
  if (lines.length > 0 || before > 0) process.stderr.write(`${up}${lines.map((line) => `${line}\n`).join('')}`);
  return lines.length;
}
