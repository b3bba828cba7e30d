// Writes the log: one JSON line per event. Of a request, only the matched route is logged, nothing else that the caller sent.

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Log = (level: LogLevel, message: string, fields?: object) => void;

const WEIGHT: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function createLog(minimum: LogLevel, write: (line: string) => void): Log {
  let [at, time] = [0, ''];
  return (level, message, fields = {}) => {
    if (WEIGHT[level] < WEIGHT[minimum]) return;
    const now = Date.now();
    // Formatted once per millisecond: many lines share it.
    if (now !== at) [at, time] = [now, new Date(now).toISOString()];
    const rest = JSON.stringify(fields);
    const first = `{"time":"${time}","level":"${level}","message":${JSON.stringify(message)}`;
    write(rest === '{}' ? `${first}}\n` : `${first},${rest.slice(1)}\n`);
  };
}

/** Logs to standard output. */
export const openLog = (minimum: LogLevel): Log =>
  createLog(
    minimum,
    batched((text, done) => void process.stdout.write(text, done)),
  );

/** The same error in a row is logged once per interval. */
const REPEAT_MS = 5000;

/** Logs errors that no caller sees. */
export function createErrorLog(log: Log): (error: unknown) => void {
  let last = { text: '', at: 0 };
  return (error) => {
    const text = String(error);
    const now = performance.now();
    if (text === last.text && now - last.at < REPEAT_MS) return;
    last = { text, at: now };
    log('error', 'internal error', { error: text });
  };
}

/** PIPE_BUF on Linux: a write up to this size is atomic, so lines of several processes on one pipe do not mix. */
const ATOMIC_BYTES = 4096;

/**
 * Writes lines in batches: one system call per line would cost more than the request that it logs. A batch waits until the
 * previous one is written, because the stream would join the two into one write that is too long.
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
    if (bytes + size > ATOMIC_BYTES) close();
    if (pending === '' && waiting.length === 0 && !isWriting) {
      isWriting = true;
      setImmediate(next);
    }
    pending += line;
    bytes += size;
  };
}
