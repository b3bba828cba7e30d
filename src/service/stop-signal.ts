// Waits for the signal that stops a long-running command, and decides what further signals do.

import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { flushLog, type Log } from './log.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StopSignal = (typeof SIGNALS)[number];

/** npm forwards a Ctrl-C that the terminal has sent to this process too: a second signal is ignored this long. */
const REPEAT_MS = 10_000;
const FORCING_SIGNAL = 3;

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP, or when the parent process exits. A second signal after ten seconds, or the third
 * one, ends the process at once. A child process leaves that to its parent.
 */
export const waitForStopSignal = (log: Log): Promise<void> =>
  new Promise((resolve) => {
    const isChild = process.send !== undefined;
    let stoppingSince: number | null = null;
    let count = 0;
    const stop = (reason: string) => {
      if (stoppingSince !== null) return;
      stoppingSince = performance.now();
      log('info', 'stopping', { reason });
      resolve();
    };
    const onSignal = (signal: StopSignal) => {
      count++;
      // A terminal signals all processes. The parent passes the signal on as SIGTERM.
      if (isChild && signal !== 'SIGTERM') return;
      if (stoppingSince === null) return stop(signal);
      if (isChild) return;
      if (count < FORCING_SIGNAL && performance.now() - stoppingSince < REPEAT_MS)
        return log('info', 'already stopping', { signal, hint: 'a third signal cuts off requests in flight' });
      log('warn', 'stopping at once', { signal });
      void flushLog().then(() => process.exit(FORCED_EXIT + constants.signals[signal]));
    };
    for (const signal of SIGNALS) if (!isIgnored(signal)) process.on(signal, onSignal);
    const onParentExit = () => stop('parent process exited');
    process.once('disconnect', onParentExit);
    // A process that was still starting does not get the event again.
    if (isChild && !process.connected) onParentExit();
  });

/** A process that a signal ended exits with this number plus the signal's own. */
const FORCED_EXIT = 128;
export const isForcedExit = (code: number): boolean => code > FORCED_EXIT;

/** Whether this process was started to ignore the signal: nohup does so with SIGHUP. Known on Linux only. */
function isIgnored(signal: StopSignal): boolean {
  try {
    const [, mask = '0'] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}
