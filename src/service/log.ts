// Writes the log: one JSON line per event. Of a request, only the matched route is logged, nothing else that the caller sent.

import { createLogOutput } from './log-output.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Log = (level: LogLevel, message: string, fields?: object) => void;

const WEIGHT: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** `context` is in every line. */
export function createLog(minimum: LogLevel, write: (line: string) => void, context: object = {}): Log {
  const shared = Object.keys(context).length === 0 ? '' : `,${JSON.stringify(context).slice(1, -1)}`;
  let [at, time] = [0, ''];
  return (level, message, fields = {}) => {
    if (WEIGHT[level] < WEIGHT[minimum]) return;
    const now = Date.now();
    // Formatted once per millisecond: many lines share it.
    if (now !== at) [at, time] = [now, new Date(now).toISOString()];
    const rest = JSON.stringify(fields);
    const first = `{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}${shared}`;
    write(rest === '{}' ? `${first}}\n` : `${first},${rest.slice(1)}\n`);
  };
}

const STDOUT = 1;
const outputs: ReturnType<typeof createLogOutput>[] = [];

/** Logs to standard output. Lines that cannot be written are dropped; the log says how many as soon as it can. */
export function openLog(minimum: LogLevel, onDropped: () => void, context: object = {}): Log {
  let lines = 0;
  const output = createLogOutput(STDOUT, () => {
    const dropped = lines;
    lines = 0;
    log('error', 'log lines dropped', { lines: dropped });
  });
  outputs.push(output);
  const write = (line: string) => {
    if (output.write(line)) return;
    lines++;
    onDropped();
  };
  const log = createLog(minimum, write, context);
  return log;
}

/** Writes what is left of the log. False if the output is stalled: then the process must exit without it. */
export async function flushLog(): Promise<boolean> {
  const flushed = await Promise.all(outputs.map((output) => output.flush()));
  return flushed.every(Boolean);
}

export type OnError = (error: unknown) => void;

/** The same error in a row is logged once per interval. */
const REPEAT_MS = 5000;

/** Logs errors that no caller sees, with their stack, and with the request that failed. */
export function createErrorLog(log: Log): (error: unknown, request?: object) => void {
  let last = { text: '', at: 0 };
  return (error, request = {}) => {
    const text = String(error);
    const now = performance.now();
    if (text === last.text && now - last.at < REPEAT_MS) return;
    last = { text, at: now };
    log('error', 'internal error', { ...request, error: text, ...stackOf(error) });
  };
}

const REMIND_MS = 5 * 60_000;

/** Logs that something failed which the service works without: again after five minutes, and without a stack. */
export function createWarningLog(log: Log, message: string): OnError {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let times = 0;
  return (error) => {
    times++;
    if (performance.now() - loggedAt < REMIND_MS) return;
    loggedAt = performance.now();
    log('warn', message, { times, error: (error as Error).message });
  };
}

/** The frames of the stack, without the message, which the line has already. */
function stackOf(error: unknown): { readonly stack?: readonly string[] } {
  if (!(error instanceof Error) || error.stack === undefined) return {};
  const frames = error.stack.split('\n').map((line) => line.trim());
  return { stack: frames.filter((line) => line.startsWith('at ')) };
}
