// Detects a server that stopped answering, with a counter per interval instead of a timer per request.

/** Answers that several watches of one server have seen. */
export interface Progress {
  answers: number;
}

/** A request is late after this many intervals if the server answers others, because it may have been queued. */
const MAX_INTERVALS = 6;

/** Calls `onStall` if a request takes longer than `ms`, at most twice that, while the server answers nothing at all. */
export function createStallWatch(ms: number, progress: Progress, onStall: () => void) {
  // Running requests by the interval in which they started, newest first.
  let intervals = [{ running: 0 }];
  let answersBefore = 0;
  const timer = setInterval(() => {
    const isSilent = progress.answers === answersBefore;
    const isLate = intervals.slice(isSilent ? 1 : MAX_INTERVALS).some(({ running }) => running > 0);
    answersBefore = progress.answers;
    intervals = [{ running: 0 }, ...intervals.slice(0, 2 * MAX_INTERVALS)];
    if (!isLate) return;
    // `onStall` ends all running requests.
    intervals = [{ running: 0 }];
    onStall();
  }, ms);
  timer.unref();
  return {
    /** Counts a request while it runs. */
    async during<T>(request: () => Promise<T>): Promise<T> {
      const interval = intervals[0] as { running: number };
      interval.running++;
      try {
        const answer = await request();
        progress.answers++;
        return answer;
      } finally {
        interval.running--;
      }
    },
    stop: () => clearInterval(timer),
  };
}
