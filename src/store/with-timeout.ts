/** What the work gives, or an error where that takes longer than the time: whoever waits does not wait for ever. */
export async function withTimeout<T>(ms: number, work: T | Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms.`)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
