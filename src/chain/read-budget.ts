// Limits how many reads run at once and how many wait.

export interface ReadBudget {
  /** Runs the work when there is room. Null if too many reads are waiting. */
  run<T>(work: () => Promise<T>): Promise<T> | null;
}

/** `queue` counts the waiting reads of all budgets that share it. */
export function createReadBudget(maxRunning: number, maxWaiting: number, queue = { waiting: 0 }): ReadBudget {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function take<T>(work: () => Promise<T>, hasRoom: boolean): Promise<T> {
    if (!hasRoom) await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else {
        queue.waiting--;
        next();
      }
    }
  }

  return {
    run(work) {
      const hasRoom = running < maxRunning;
      if (!hasRoom && queue.waiting >= maxWaiting) return null;
      if (hasRoom) running++;
      else queue.waiting++;
      return take(work, hasRoom);
    },
  };
}
