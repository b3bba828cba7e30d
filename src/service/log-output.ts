// Writes log lines to standard output without ever blocking or ending the process. Lines that find no room are dropped.

import { fstatSync, write, writeSync } from 'node:fs';

/** PIPE_BUF on Linux: a write up to this size is atomic, so lines of several processes on one pipe do not mix. */
const ATOMIC_BYTES = 4096;
/** To a file, every write is. */
const FILE_BYTES = 65_536;
/** Lines are collected this long: the hand-over to another thread costs more than a request. */
const COLLECT_MS = 5;
/** What may wait for a slow reader or a full disk. */
const MAX_WAITING_BYTES = 1 << 20;
/** After an error, such as a full disk. */
const RETRY_MS = 1000;
/** After EAGAIN: a non-blocking pipe is full. */
const FULL_PIPE_RETRY_MS = 20;
const FLUSH_MS = 1000;
/** A write that takes longer than this waits for a reader. */
const STALLED_MS = 100;

/**
 * Lines are written in batches: one system call per line would cost more than the request that it logs. Writes run in another
 * thread, one at a time, because a pipe that nobody reads blocks the thread that writes to it. `onRoomAgain` is called when a full
 * queue takes lines again.
 */
export function createLogOutput(fd: number, onRoomAgain: () => void) {
  const mostBytes = fstatSync(fd).isFile() ? FILE_BYTES : ATOMIC_BYTES;
  const batches: Buffer[] = [];
  let [open, openBytes, waitingBytes] = ['', 0, 0];
  let [isScheduled, isFull, hasFailed, writingSince] = [false, false, false, Number.POSITIVE_INFINITY];

  const closeBatch = () => {
    if (open !== '') batches.push(Buffer.from(open));
    [open, openBytes] = ['', 0];
  };
  const writeAll = () => {
    closeBatch();
    const [batch] = batches;
    if (batch !== undefined) writeBatch(batch);
  };
  const schedule = () => {
    isScheduled = true;
    setTimeout(writeAll, COLLECT_MS);
  };
  const writeBatch = (batch: Buffer) => {
    writingSince = performance.now();
    write(fd, batch, 0, batch.length, null, (error, written) => {
      writingSince = Number.POSITIVE_INFINITY;
      hasFailed = error !== null;
      if (error !== null) {
        const afterMs = error.code === 'EAGAIN' ? FULL_PIPE_RETRY_MS : RETRY_MS;
        setTimeout(writeBatch, afterMs, batch).unref();
        return;
      }
      waitingBytes -= written;
      if (isFull && waitingBytes < MAX_WAITING_BYTES / 2) {
        isFull = false;
        onRoomAgain();
      }
      // A disk that has just become full takes a part.
      if (written < batch.length) return writeBatch(batch.subarray(written));
      batches.shift();
      const [next] = batches;
      if (next !== undefined) return writeBatch(next);
      isScheduled = false;
      if (open !== '') schedule();
    });
  };
  // What is left when the process exits without a flush. A stalled output would block the exit.
  process.once('exit', () => {
    closeBatch();
    if (hasFailed || performance.now() - writingSince > STALLED_MS) return;
    try {
      for (const batch of batches.slice(Number.isFinite(writingSince) ? 1 : 0)) writeSync(fd, batch);
    } catch {
      // The output is closed or full.
    }
  });

  return {
    /** Queues the line. False if the line is dropped: the queue is full, or has not yet been half emptied since. */
    write(line: string): boolean {
      const size = Buffer.byteLength(line);
      isFull ||= waitingBytes + size > MAX_WAITING_BYTES;
      if (isFull) return false;
      if (openBytes + size > mostBytes) closeBatch();
      open += line;
      openBytes += size;
      waitingBytes += size;
      if (!isScheduled) schedule();
      return true;
    },
    /** Resolves with true once every line is written, with false if that takes longer than a second. */
    async flush(): Promise<boolean> {
      const deadline = performance.now() + FLUSH_MS;
      while (waitingBytes > 0 && performance.now() < deadline) await Bun.sleep(2);
      return waitingBytes === 0;
    },
  };
}
