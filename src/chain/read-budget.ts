// Limits how many reads run at once and how many wait, in all and for each caller. Callers take turns.

import { createRounds } from '../store/rounds.ts';

export interface ReadBudget {
  /** Runs the work when there is room. Null if too many reads are waiting. */
  run<T>(caller: string, work: () => Promise<T>): Promise<T> | null;
}

export interface ReadLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** Of one caller, running and waiting. */
  readonly maxRunningOfOne: number;
  readonly maxWaitingOfOne: number;
}

/** `queue` counts the waiting reads of all budgets that share it. */
export function createReadBudget(limits: ReadLimits, queue = { waiting: 0 }): ReadBudget {
  const { maxRunning, maxWaiting, maxRunningOfOne, maxWaitingOfOne } = limits;
  const running = new Map<string, number>();
  const waiting = createRounds<() => void>();
  let total = 0;
  const runningOf = (caller: string) => running.get(caller) ?? 0;
  const isReady = (caller: string) => total < maxRunning && runningOf(caller) < maxRunningOfOne;

  function count(caller: string, change: 1 | -1): void {
    total += change;
    if (runningOf(caller) + change === 0) running.delete(caller);
    else running.set(caller, runningOf(caller) + change);
  }

  async function take<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (isReady(caller)) count(caller, 1);
    else {
      queue.waiting++;
      await new Promise<void>((resolve) =>
        waiting.add(caller, () => {
          queue.waiting--;
          count(caller, 1);
          resolve();
        }),
      );
    }
    try {
      return await work();
    } finally {
      count(caller, -1);
      waiting.take(isReady)?.();
    }
  }

  return {
    run(caller, work) {
      const isFull = queue.waiting >= maxWaiting || waiting.count(caller) >= maxWaitingOfOne;
      return isReady(caller) || !isFull ? take(caller, work) : null;
    },
  };
}
