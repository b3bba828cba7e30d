/** The caller of a command made a mistake; the message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
