// Collects garbage during a backfill. Logs live long enough to look permanent to the runtime, which then lets the heap grow several
// times over before it collects them.

/** One collection costs 1 to 2 % of the CPU that this many logs cost. */
const LOGS_PER_COLLECTION = 16_000;

export function createGarbageCollector() {
  let uncollected = 0;
  return {
    /** Call it when these logs are committed and no longer referenced. */
    release(logs: number): void {
      uncollected += logs;
      if (uncollected < LOGS_PER_COLLECTION) return;
      uncollected = 0;
      Bun.gc(true);
    },
  };
}
