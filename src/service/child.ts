// A process that belongs to this one: started again whenever it ends by itself.

import type { Environment } from './config.ts';
import type { Log } from './log.ts';
import { selfCommand } from './self-command.ts';

export interface ChildOptions {
  /** For the log. */
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly log: Log;
  /** What the process says, as JSON. */
  readonly onMessage: (message: unknown, child: Child) => void;
  /** Whoever has spoken once, and then says nothing for so long, is frozen: it is ended, and another takes its place. */
  readonly silentMs: number;
  /** It ended by itself, and another one will take its place. */
  readonly onLost?: () => void;
}

export interface Child {
  send(message: unknown): void;
  readonly isAlive: boolean;
  /** Tells it to stop, and waits until it has. */
  stop(): Promise<void>;
  /** Comes when it ends for the first time. */
  readonly firstEnd: Promise<unknown>;
}

/** Longer than requests under way may take. */
const STOP_MS = 15_000;
/** Counted in turns, for this process may have been held up itself. */
const TURNS = 8;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const TOLD_TO_STOP_MS = 3000;
/** A process that lived so long was well: the next one starts soon. */
const WELL_MS = 60_000;

export function startChild({ name, args, environment, log, silentMs, onMessage, onLost }: ChildOptions): Child {
  let stopped = false;
  let pause = FIRST_PAUSE_MS;
  let current: Bun.Subprocess | null = null;
  let wake = () => {};
  const first = Promise.withResolvers<unknown>();

  /** Turns of the watch since it last spoke; null before it has. */
  let silent: number | null = null;
  const watch = setInterval(() => {
    if (silent === null || ++silent < TURNS) return;
    silent = null;
    log('error', `${name} says nothing, and is ended`);
    current?.kill('SIGKILL');
  }, silentMs / TURNS);

  /** Its exit code, or why there is none. */
  const lived = async (): Promise<number | string> => {
    silent = null;
    try {
      current = Bun.spawn(selfCommand(...args), {
        env: { ...environment },
        stdout: 'inherit',
        stderr: 'inherit',
        ipc(message) {
          silent = 0;
          onMessage(message, child);
        },
      });
      return await current.exited;
    } catch (error) {
      return String(error);
    } finally {
      [current, silent] = [null, null];
    }
  };
  const life = async () => {
    for (let began = Date.now(); ; began = Date.now()) {
      const code = await lived();
      first.resolve(code);
      if (stopped) return;
      onLost?.();
      const wasWell = Date.now() - began > WELL_MS;
      if (wasWell) pause = FIRST_PAUSE_MS;
      // One that ended well was told to stop, and so may we have been: its end can be seen before our own signal.
      const afterMs = code === 0 ? Math.max(pause, TOLD_TO_STOP_MS) : pause;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, afterMs);
      });
      if (stopped) return;
      log('error', `${name} ended, and is started again`, { code, afterMs });
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
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
    async stop() {
      stopped = true;
      wake();
      clearInterval(watch);
      current?.kill('SIGTERM');
      const late = setTimeout(() => current?.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(late);
    },
    firstEnd: first.promise,
  };
  const ended = life();
  return child;
}
