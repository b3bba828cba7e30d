// Limits how many reads run at once and how many wait, in all and for each caller. Callers take turns.

import { createTurns } from '../../store/turns.ts';

export interface ReadLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** Of one caller, running and waiting. */
  readonly maxRunningOfOne: number;
  readonly maxWaitingOfOne: number;
}

/** `queue` counts the waiting reads of all budgets that share it. */
export function createReadBudget(limits: ReadLimits, queue = { waiting: 0 }) {
  const { maxRunning, maxWaiting, maxRunningOfOne, maxWaitingOfOne } = limits;
  const turns = createTurns(maxRunning, maxRunningOfOne);
  return {
    /** Runs the work when there is room. Null if too many reads are waiting. */
    run<T>(caller: string, work: () => Promise<T>): Promise<T> | null {
      if (turns.isFree(caller)) return turns.run(caller, work);
      if (queue.waiting >= maxWaiting || turns.waiting(caller) >= maxWaitingOfOne) return null;
      queue.waiting++;
      return turns.run(caller, () => {
        queue.waiting--;
        return work();
      });
    },
  };
}
