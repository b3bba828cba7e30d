// A process that belongs to this one: started again whenever it ends by itself.

import type { Environment } from './command.ts';
import type { Log } from './log.ts';
import { selfCommand } from './self.ts';

export interface ChildOptions {
  /** For the log. */
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly log: Log;
  /** What the process says, as JSON. */
  readonly onMessage: (message: unknown, child: Child) => void;
  /** It ended by itself, and another one will take its place. */
  readonly onLost?: () => void;
}

export interface Child {
  send(message: unknown): void;
  readonly isAlive: boolean;
  /** At once, as if it had crashed. */
  kill(): void;
  /** Tells it to stop, and waits until it has. */
  stop(): Promise<void>;
  /** Its exit code, when it ends for the first time. */
  readonly firstEnd: Promise<number>;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A process that lived so long was well: the next one starts soon. */
const WELL_MS = 60_000;

export function startChild({ name, args, environment, log, onMessage, onLost }: ChildOptions): Child {
  let stopped = false;
  let pause = FIRST_PAUSE_MS;
  let current: Bun.Subprocess | null = null;
  let wake = () => {};
  const first = Promise.withResolvers<number>();

  const start = () => {
    current = Bun.spawn(selfCommand(...args), {
      env: { ...environment },
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (message) => onMessage(message, child),
    });
    return current;
  };
  const life = async () => {
    for (let began = Date.now(); ; began = Date.now()) {
      const code = await start().exited;
      current = null;
      first.resolve(code);
      if (stopped) return;
      onLost?.();
      const wasWell = Date.now() - began > WELL_MS;
      if (wasWell) pause = FIRST_PAUSE_MS;
      log('error', `${name} ended, and is started again`, { code, afterMs: pause });
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, pause);
      });
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
      if (stopped) return;
    }
  };

  const child: Child = {
    send(message) {
      try {
        current?.send(message);
      } catch {
        // It is ending just now.
      }
    },
    get isAlive() {
      return current !== null;
    },
    kill: () => current?.kill('SIGKILL'),
    async stop() {
      stopped = true;
      wake();
      current?.kill('SIGTERM');
      await ended;
    },
    firstEnd: first.promise,
  };
  const ended = life();
  return child;
}
