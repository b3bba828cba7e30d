// One JSON line for each thing worth telling. Nothing that a caller sent is written but the route it matched.

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Log = (level: LogLevel, message: string, fields?: object) => void;

const WEIGHT: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function createLog(lowest: LogLevel, write: (line: string) => void): Log {
  let [at, time] = [0, ''];
  return (level, message, fields = {}) => {
    if (WEIGHT[level] < WEIGHT[lowest]) return;
    const now = Date.now();
    // Many lines are of the same millisecond.
    if (now !== at) [at, time] = [now, new Date(now).toISOString()];
    const rest = JSON.stringify(fields);
    const first = `{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}`;
    write(rest === '{}' ? `${first}}\n` : `${first},${rest.slice(1)}\n`);
  };
}

/** To standard output. */
export const openLog = (lowest: LogLevel): Log =>
  createLog(
    lowest,
    batched((text, done) => void process.stdout.write(text, done)),
  );

/** A failure that comes over and over is told once in so long. */
const AGAIN_MS = 5000;

/** Tells of failures that nobody else is told of. */
export function createErrorLog(log: Log): (error: unknown) => void {
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
const WHOLE_BYTES = 4096;

/**
 * Writes lines together that come together: a system call for each would cost more than the answer it tells of. What is next
 * waits until what is before is written, or the two would be written as one that is too long.
 */
function batched(write: (text: string, done: () => void) => void): (line: string) => void {
  const waiting: string[] = [];
  let [pending, bytes, isWriting] = ['', 0, false];
  const close = () => {
    if (pending !== '') waiting.push(pending);
    [pending, bytes] = ['', 0];
  };
  const next = () => {
    if (waiting.length === 0) close();
    const text = waiting.shift();
    isWriting = text !== undefined;
    if (text !== undefined) write(text, next);
  };
  process.once('exit', () => {
    close();
    for (const text of waiting) write(text, () => {});
  });
  return (line) => {
    const size = Buffer.byteLength(line);
    if (bytes + size > WHOLE_BYTES) close();
    if (pending === '' && waiting.length === 0 && !isWriting) {
      isWriting = true;
      setImmediate(next);
    }
    pending += line;
    bytes += size;
  };
}
