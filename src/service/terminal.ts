// What is shown to whoever typed a command: their mistakes, columns, and one status line, overwritten in place.

/** The caller of a command made a mistake; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Formats rows of two columns, indented and aligned. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`).join('\n');
}

const CLEAR = '\r\x1b[K';

/** An empty text clears the line. Writes nothing if standard error is not a terminal. */
export function showStatus(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(CLEAR + text);
}
