// Paces the calls to one provider: limits how many are in flight, and after a rate limit also how many start per second. Sends a
// rate-limited call again when the provider allows it.

import { findCause } from './errors.ts';
import { MAX_BATCH, type Rpc, RpcError } from './rpc.ts';

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
/** What a pause of ours left unused, as while a range is committed, is made up for: providers allow the calls of a second at once. */
const MAX_CATCH_UP_MS = 1000;
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
  let endedAt = Number.NEGATIVE_INFINITY;
  /** Calls that succeeded, since the last rejection or the last idle time. */
  let [accepted, since] = [0, 0];
  /** A provider that allows fewer calls a second than a batch has would reject it for ever. */
  let mostInBatch = MAX_BATCH;

  /**
   * Sends once, when it is its turn: as many calls as are allowed then. Null if they were rejected and can be sent again. Providers count
   * each call of a batch.
   */
  async function send<T>(attempt: number, calls: () => number, work: (calls: number) => Promise<T>) {
    const { startedAt, count } = await takeTurn(calls);
    try {
      const result = await work(count);
      accepted += count;
      return { result };
    } catch (error) {
      const pauseMs = findPause(error, attempt);
      if (pauseMs === null) throw error;
      // The calls that were in flight are rejected together: one rejection counts.
      if (startedAt >= rejectedAt) {
        // After a success, a batch may only have come too early.
        if (count > 1 && (attempt > 1 || accepted === 0)) mostInBatch = count >> 1;
        slowDown(pauseMs, count);
      }
      return null;
    } finally {
      inFlight--;
      endedAt = time.now();
      waiting.shift()?.();
    }
  }

  async function takeTurn(calls: () => number) {
    while (inFlight >= MAX_IN_FLIGHT) await new Promise<void>((resolve) => void waiting.push(resolve));
    if (inFlight === 0 && time.now() - endedAt > IDLE_MS) [accepted, since] = [0, time.now()];
    inFlight++;
    for (;;) {
      const now = time.now();
      if (now >= nextStart) {
        const count = calls();
        const grown = rate * (1 + ((now - rejectedAt) / DOUBLED_MS) ** 2);
        nextStart = Math.max(nextStart, now - MAX_CATCH_UP_MS) + (1000 * count) / grown;
        return { startedAt: now, count };
      }
      await time.sleep(nextStart - now);
    }
  }

  /** The calls that succeeded between two rejections show the rate that the provider allows. */
  function slowDown(pauseMs: number, calls: number): void {
    const now = time.now();
    // What succeeds in less than a second is what a second allows.
    const seen = (1000 * accepted) / Math.max(1000, now - since);
    // Fewer calls succeeded than the provider allows if we were busy: so one rejection lowers a known rate by a fifth at most.
    // A batch may be rejected for its size alone, and is halved.
    const share = accepted > 0 ? 0.8 : calls > 1 ? 1 : 0.5;
    const lowest = rate === Number.POSITIVE_INFINITY ? calls / 2 : rate * share;
    rate = Math.max(1, lowest, seen * SHARE_OF_RATE);
    [rejectedAt, since, accepted, nextStart] = [now, now, 0, now + pauseMs];
  }

  return {
    async call(method, params) {
      for (let attempt = 1; ; attempt++) {
        const sent = await send(
          attempt,
          () => 1,
          () => rpc.call(method, params),
        );
        if (sent !== null) return sent.result;
      }
    },
    async batch(calls) {
      const results: unknown[] = [];
      for (let attempt = 1; results.length < calls.length; attempt++) {
        const from = results.length;
        const sent = await send(
          attempt,
          () => Math.min(mostInBatch, calls.length - from),
          (count) => rpc.batch(calls.slice(from, from + count)),
        );
        if (sent === null) continue;
        for (const result of sent.result) results.push(result);
        attempt = 0;
        if (sent.result.length === mostInBatch) mostInBatch = Math.min(MAX_BATCH, mostInBatch + 1);
      }
      return results;
    },
  };
}

/** Null if the error is not a rate limit, or not one that passes soon. */
function findPause(error: unknown, attempt: number): number | null {
  if (!(error instanceof RpcError) || findCause(error) !== 'rate-limited' || attempt >= MAX_ATTEMPTS) return null;
  const pauseMs = error.retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1);
  return pauseMs > MAX_PAUSE_MS ? null : pauseMs;
}
