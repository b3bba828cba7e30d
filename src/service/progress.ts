// How far the chains are: live lines on a terminal, a line every few seconds in a log, and figures for the parent process.

import { backfillShare, type FollowerStatus, formatStatus } from '../chain/follower-status.ts';
import { NETWORKS } from '../registry/network.ts';
import type { Log } from './log.ts';

const SEND_MS = 1000;
const LOG_EVERY = 5;
/** Nearer to the tip than this, a chain has nothing to tell. */
const BEHIND_BLOCKS = 100;

export function startProgress(figures: () => readonly FollowerStatus[], log: Log): { stop(): void } {
  const onTerminal = process.stderr.isTTY === true;
  let turn = 0;
  let drawn = 0;
  const timer = setInterval(() => {
    const all = figures();
    process.send?.({ type: 'figures', chains: all });
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
        log('info', 'progress', { chainId, block, of: tip, percent, logs, ...rounded });
      }
    }
    turn++;
  }, SEND_MS);
  return { stop: () => clearInterval(timer) };
}

/** Writes the lines over those of the time before; gives back how many there are now. */
function draw(chains: readonly FollowerStatus[], before: number): number {
  const lines = chains.map((one) => formatStatus(NETWORKS.get(one.chainId)?.name ?? String(one.chainId), one));
  const up = before > 0 ? `\x1b[${before}A\x1b[J` : '';
  if (lines.length > 0 || before > 0) process.stderr.write(`${up}${lines.map((line) => `${line}\n`).join('')}`);
  return lines.length;
}
