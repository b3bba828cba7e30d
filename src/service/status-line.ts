// One line on a terminal that is written over again and again; nowhere else is anything written.

const CLEAR = '\r\x1b[K';

/** An empty text takes the line away. */
export function showStatus(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR + text);
}
