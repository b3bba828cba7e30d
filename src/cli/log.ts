// One JSON line for each thing worth telling. Nothing that a caller sent is written but the route it matched.

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Log = (level: LogLevel, message: string, fields?: object) => void;

const WEIGHT: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function createLog(lowest: LogLevel, write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    if (WEIGHT[level] < WEIGHT[lowest]) return;
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };
}

/** To standard output. */
export const openLog = (lowest: LogLevel): Log =>
  createLog(
    lowest,
    batched((text) => process.stdout.write(text)),
  );

/** A failure that comes over and over is told once in so long. */
const AGAIN_MS = 5000;

/** Tells of failures that nobody else is told of. */
export function failureLog(log: Log): (error: unknown) => void {
  let last = { text: '', at: 0 };
  return (error) => {
    const text = String(error);
    const now = performance.now();
    if (text === last.text && now - last.at < AGAIN_MS) return;
    last = { text, at: now };
    log('error', 'failed', { error: text });
  };
}

/** So much is written whole, or not at all: lines of several processes on one pipe stay apart. */
const WHOLE = 4096;

/** Writes lines together that come together: a system call for each would cost more than the answer it tells of. */
export function batched(write: (text: string) => void): (line: string) => void {
  let pending = '';
  const flush = () => {
    const text = pending;
    pending = '';
    if (text !== '') write(text);
  };
  process.once('exit', flush);
  return (line) => {
    if (pending.length + line.length > WHOLE) flush();
    if (pending === '') setImmediate(flush);
    pending += line;
  };
}
