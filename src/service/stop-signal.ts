// Waits for the signal that stops a long-running command.

import type { Log } from './log.ts';

/** Resolves at the first SIGINT or SIGTERM, or when the parent process exits. */
export const waitForStopSignal = (log: Log): Promise<void> =>
  new Promise((resolve) => {
    let isStopping = false;
    const stop = (reason: string) => {
      if (isStopping) return;
      isStopping = true;
      log('info', 'stopping', { reason });
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(signal));
    const onParentExit = () => stop('parent process exited');
    process.once('disconnect', onParentExit);
    // A process that was still starting does not get the event again.
    if (process.send !== undefined && !process.connected) onParentExit();
  });
