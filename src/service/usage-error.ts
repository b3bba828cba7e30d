/** A command was called in a way that makes no sense; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
