// The end of a long-running command.

import type { Log } from './log.ts';

/** Comes with the first SIGINT or SIGTERM, or when the program that started this one is gone. */
export const stopSignal = (log: Log): Promise<void> =>
  new Promise((resolve) => {
    let isStopping = false;
    const stop = (reason: string) => {
      if (isStopping) return;
      isStopping = true;
      log('info', 'stopping', { reason });
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(signal));
    const isGone = () => stop('the program that started this one is gone');
    process.once('disconnect', isGone);
    // The event is not told again to a process that was still starting when it came.
    if (process.send !== undefined && !process.connected) isGone();
  });
