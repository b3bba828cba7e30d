// The process that follows the chains beside the one that answers: neither can hold up the other.

import type { Denials } from '../chain/denials.ts';
import type { ChainFigures } from '../chain/figures.ts';
import type { Environment } from './command.ts';
import type { Log } from './log.ts';

export interface FollowingProcess {
  /** As the process told them last. */
  figures(): readonly ChainFigures[];
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A process that lived so long was well: the next one starts at once. */
const WELL_MS = 60_000;

/** Starts it, and starts it again whenever it ends by itself. Its audit is told what callers were denied. */
export function startFollowing(log: Log, denials: Denials, environment: Environment): FollowingProcess {
  let chains: readonly ChainFigures[] = [];
  let stopped = false;
  let pause = FIRST_PAUSE_MS;
  let child: Bun.Subprocess | null = null;
  let wake = () => {};

  const life = async () => {
    while (!stopped) {
      const began = Date.now();
      child = Bun.spawn([process.execPath, `${import.meta.dir}/main.ts`, 'follow'], {
        env: { ...environment },
        stdout: 'inherit',
        stderr: 'inherit',
        ipc(message, sender) {
          const told = message as { type?: string; chains?: readonly ChainFigures[] };
          if (told.type !== 'figures' || told.chains === undefined) return;
          chains = told.chains;
          const denied = denials.take();
          if (denied.length > 0) sender.send({ type: 'denied', denied });
        },
      });
      const code = await child.exited;
      if (stopped) return;
      pause = Date.now() - began > WELL_MS ? FIRST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, pause * 2);
      log('error', 'the following process ended, and is started again', { code, afterMs: pause });
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, pause);
      });
    }
  };
  const ended = life();

  return {
    figures: () => chains,
    async stop() {
      stopped = true;
      wake();
      child?.kill('SIGTERM');
      await ended;
    },
  };
}
