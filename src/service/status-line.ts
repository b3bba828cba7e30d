// Shows one status line on a terminal, overwritten in place. Writes nothing if standard error is not a terminal.

const CLEAR = '\r\x1b[K';

/** An empty text clears the line. */
export function showStatus(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR + text);
}
