// Notices work that does not end, at the price of a counter: no timer for each piece of it.

export interface Watch {
  /** Does the work. What it throws goes through `translate` first. */
  during<T>(work: () => Promise<T>, translate: (error: unknown) => unknown): Promise<T>;
  stop(): void;
}

/** `onLate` is told once of work that takes longer than the time, and at most twice as long. */
export function createWatch(ms: number, onLate: () => void): Watch {
  // Work is counted in the turn in which it began.
  let [before, now] = [{ running: 0 }, { running: 0 }];
  const timer = setInterval(() => {
    const isLate = before.running > 0;
    [before, now] = [now, { running: 0 }];
    if (isLate) onLate();
  }, ms);
  timer.unref();
  return {
    async during(work, translate) {
      const turn = now;
      turn.running++;
      try {
        return await work();
      } catch (error) {
        throw translate(error);
      } finally {
        turn.running--;
      }
    },
    stop: () => clearInterval(timer),
  };
}
