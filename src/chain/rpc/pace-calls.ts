// Paces the calls to one provider: limits how many are in flight, and after a rate limit also how many start per second. Sends a
// rate-limited call again when the provider allows it.

import { findCause } from './errors.ts';
import { type Rpc, RpcError } from './rpc.ts';

/** Enough for 25 calls per second at a latency of 300 ms. */
const MAX_IN_FLIGHT = 10;
/** A call that is rejected this often fails: then the next provider gets a turn. */
const MAX_ATTEMPTS = 5;
/** Without `Retry-After`. Doubles with each attempt. */
const FIRST_PAUSE_MS = 100;
/** A provider that asks for a longer pause fails at once. */
const MAX_PAUSE_MS = 5000;
/** After a rejection the rate rises, slowly at first, to find out whether the provider allows more: it is double after this time. */
const DOUBLED_MS = 200_000;
/** Slightly slower than the provider allows, which leaves room for the calls that are not paced. */
const SHARE_OF_RATE = 0.97;
/** A late timer does not lower the rate: calls that are overdue by less than this start at once. */
const MAX_CATCH_UP_MS = 200;
/** After this time without a call, the rate is measured anew. */
const IDLE_MS = 1000;

const TIME = { now: () => performance.now(), sleep: (ms: number): Promise<void> => Bun.sleep(ms) };

export function paceCalls(rpc: Rpc, time: typeof TIME = TIME): Rpc {
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  /** Calls per second. Unlimited until the first rejection. */
  let rate = Number.POSITIVE_INFINITY;
  let nextStart = 0;
  let rejectedAt = 0;
  let endedAt = 0;
  /** Calls that succeeded, since the last rejection or the last idle time. */
  let [accepted, since] = [0, 0];

  async function run<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const startedAt = await takeTurn();
      try {
        const result = await work();
        accepted++;
        return result;
      } catch (error) {
        const pauseMs = findPause(error, attempt);
        if (pauseMs === null) throw error;
        // The calls that were in flight are rejected together: one rejection counts.
        if (startedAt >= rejectedAt) slowDown(pauseMs);
      } finally {
        inFlight--;
        endedAt = time.now();
        waiting.shift()?.();
      }
    }
  }

  async function takeTurn(): Promise<number> {
    while (inFlight >= MAX_IN_FLIGHT) await new Promise<void>((resolve) => void waiting.push(resolve));
    if (inFlight === 0 && time.now() - endedAt > IDLE_MS) [accepted, since] = [0, time.now()];
    inFlight++;
    for (;;) {
      const now = time.now();
      if (now >= nextStart) {
        const grown = rate * (1 + ((now - rejectedAt) / DOUBLED_MS) ** 2);
        nextStart = Math.max(nextStart + 1000 / grown, now - MAX_CATCH_UP_MS);
        return now;
      }
      await time.sleep(nextStart - now);
    }
  }

  /** The calls that succeeded between two rejections show the rate that the provider allows. */
  function slowDown(pauseMs: number): void {
    const now = time.now();
    const seen = (1000 * accepted) / (now - since);
    // Fewer calls succeeded than the provider allows if we were busy: so one rejection lowers a known rate by a fifth at most.
    const lowest = rate === Number.POSITIVE_INFINITY ? 1 : rate * (accepted > 0 ? 0.8 : 0.5);
    rate = Math.max(1, lowest, seen * SHARE_OF_RATE);
    [rejectedAt, since, accepted, nextStart] = [now, now, 0, now + pauseMs];
  }

  return {
    call: (method, params) => run(() => rpc.call(method, params)),
    batch: (calls) => run(() => rpc.batch(calls)),
  };
}

/** Null if the error is not a rate limit, or not one that passes soon. */
function findPause(error: unknown, attempt: number): number | null {
  if (!(error instanceof RpcError) || findCause(error) !== 'rate-limited' || attempt >= MAX_ATTEMPTS) return null;
  const pauseMs = error.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1);
  return pauseMs > MAX_PAUSE_MS ? null : pauseMs;
}
