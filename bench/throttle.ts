// Limits a node as providers do: latency, calls per second, and blocks per eth_getLogs call.

export interface Throttle {
  readonly latencyMs: number;
  readonly callsPerSecond: number;
  readonly maxBlocks: number;
  /** What happens to calls above the rate: HTTP 429 with Retry-After, or a wait. */
  readonly above: 'reject' | 'queue';
}

export interface ThrottledCalls {
  readonly answered: number;
  readonly rejected: number;
}

export interface Throttler {
  /** Waits as long as the node would take. False if the calls are rejected. */
  admit(calls: number): Promise<boolean>;
  readonly calls: ThrottledCalls;
}

/** A token bucket that holds the calls of one second. */
export function createThrottler({ latencyMs, callsPerSecond, above }: Throttle): Throttler {
  let [tokens, filledAt] = [callsPerSecond, performance.now()];
  let [answered, rejected] = [0, 0];
  return {
    async admit(calls) {
      const now = performance.now();
      tokens = Math.min(callsPerSecond, tokens + ((now - filledAt) * callsPerSecond) / 1000);
      filledAt = now;
      const isRejected = tokens < calls && above === 'reject';
      if (isRejected) rejected += calls;
      else [tokens, answered] = [tokens - calls, answered + calls];
      await Bun.sleep(latencyMs + Math.max(0, (1000 * -tokens) / callsPerSecond));
      return !isRejected;
    },
    get calls() {
      return { answered, rejected };
    },
  };
}
