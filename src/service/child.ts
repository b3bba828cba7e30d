// Runs child processes and restarts them when they exit or stop responding. The follower is one, so that neither it nor the API can block
// the other.

import type { DeniedSample } from '../chain/audit/denied-sample.ts';
import type { FollowerStatus } from '../chain/follow/follower-status.ts';
import { sleep } from '../chain/follow/run-follower.ts';
import type { Environment } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics, ProcessMetrics } from './metrics.ts';
import { readProcessStats } from './process-stats.ts';
import type { FollowerReport } from './progress.ts';
import { selfCommand } from './self-command.ts';
import { isForcedExit } from './stop-signal.ts';

export interface ChildOptions {
  /** Names the process in the log. */
  readonly name: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly log: Log;
  /** Called with each IPC message of the process. */
  readonly onMessage: (message: unknown, send: (message: unknown) => void) => void;
  /** A process that has sent a message and then sends none for this long is frozen: it is killed and restarted. */
  readonly unresponsiveMs: number;
  /** A process that has not exited this long after SIGTERM is killed. */
  readonly stopTimeoutMs: number;
  /** The process exited on its own and will be restarted. */
  readonly onExit?: () => void;
}

/** Silence is counted in timer runs, not in time, because this process may have been blocked itself. */
const CHECKS = 8;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const CLEAN_EXIT_BACKOFF_MS = 3000;
/** A process that ran this long resets the backoff. */
const HEALTHY_MS = 60_000;

const running = new Set<Bun.Subprocess>();
process.once('exit', (code) => {
  if (isForcedExit(code)) for (const child of running) child.kill('SIGKILL');
});

export function startChild(options: ChildOptions) {
  const { name, args, environment, log, unresponsiveMs, stopTimeoutMs, onMessage, onExit } = options;
  const stopping = new AbortController();
  let backoff = FIRST_BACKOFF_MS;
  let current: Bun.Subprocess | null = null;
  const firstExit = Promise.withResolvers<unknown>();

  /** Checks since the last message; null before the first message. */
  let silentChecks: number | null = null;
  const watch = setInterval(() => {
    if (silentChecks === null || ++silentChecks < CHECKS) return;
    silentChecks = null;
    log('error', 'process unresponsive, killing it', { process: name, seconds: unresponsiveMs / 1000 });
    current?.kill('SIGKILL');
  }, unresponsiveMs / CHECKS);

  const send = (message: unknown) => {
    try {
      current?.send(message);
    } catch {
      // The process is exiting.
    }
  };
  /** Resolves with the exit code, or the reason why there is none. */
  const runOnce = async (): Promise<number | string> => {
    silentChecks = null;
    try {
      current = Bun.spawn(selfCommand(...args), {
        env: { ...environment },
        stdout: 'inherit',
        stderr: 'inherit',
        ipc(message) {
          silentChecks = 0;
          onMessage(message, send);
        },
      });
      running.add(current);
      return await current.exited;
    } catch (error) {
      return String(error);
    } finally {
      if (current !== null) running.delete(current);
      [current, silentChecks] = [null, null];
    }
  };
  const run = async () => {
    for (let began = Date.now(); ; began = Date.now()) {
      const code = await runOnce();
      firstExit.resolve(code);
      if (stopping.signal.aborted) return;
      onExit?.();
      if (Date.now() - began > HEALTHY_MS) backoff = FIRST_BACKOFF_MS;
      // Exit code 0 means that it was told to stop. Our own signal may arrive a moment later, so wait for it.
      const afterMs = code === 0 ? Math.max(backoff, CLEAN_EXIT_BACKOFF_MS) : backoff;
      await sleep(afterMs, stopping.signal);
      if (stopping.signal.aborted) return;
      log('error', 'process exited, restarting it', { process: name, code, afterMs });
      backoff = Math.min(MAX_BACKOFF_MS, backoff * 2);
    }
  };

  const stoppedRunning = run();
  return {
    send,
    /** Null while it does not run. */
    get pid(): number | null {
      return current?.pid ?? null;
    },
    /** Sends SIGTERM and waits for the exit. */
    async stop() {
      stopping.abort();
      current?.kill('SIGTERM');
      const timeout = setTimeout(() => current?.kill('SIGKILL'), stopTimeoutMs);
      await stoppedRunning;
      clearTimeout(timeout);
      clearInterval(watch);
    },
    /** Resolves with the first exit code, or the reason why there is none. */
    firstExit: firstExit.promise,
  };
}

/** The follower sends its status every second, but a long write to the store can block it. */
const FOLLOWER_UNRESPONSIVE_MS = 120_000;
const FOLLOWER_STOP_MS = 15_000;

/** Starts the follower and sends it the sample of denied questions, for its audit. */
export function startFollowerProcess(
  log: Log,
  metrics: Metrics,
  takeDenied: DeniedSample['take'],
  environment: Environment,
) {
  let last: Partial<FollowerReport> | null = null;
  const child = startChild({
    name: 'follower',
    args: ['follow'],
    environment,
    log,
    unresponsiveMs: FOLLOWER_UNRESPONSIVE_MS,
    stopTimeoutMs: FOLLOWER_STOP_MS,
    onExit: () => {
      last = null;
    },
    onMessage(message, send) {
      const status = message as Partial<FollowerReport>;
      if (status.type !== 'follower-status' || status.chains === undefined) return;
      last = status;
      if (status.counts !== undefined) metrics.add(status.counts);
      const denied = takeDenied();
      if (denied.length > 0) send({ type: 'denied', denied });
    },
  });
  return {
    /** The last status that the process sent. */
    followerStatus: (): readonly FollowerStatus[] => last?.chains ?? [],
    metrics: (): ProcessMetrics => ({ name: 'follower', stats: readProcessStats(child.pid), pool: last?.pool ?? null }),
    stop: child.stop,
  };
}
