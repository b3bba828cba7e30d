// Reads from providers that callers cause: equal ones are shared, callers take turns, and each ends in time.

import { createTurns } from '../../store/turns.ts';
import { withTimeout } from '../../store/with-timeout.ts';
import { isProviderFault } from './errors.ts';
import { RpcError } from './rpc.ts';

interface BudgetLimits {
  /** Running reads are of one chain, and waiting ones of all. */
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly maxRunningOfOne: number;
  readonly maxWaitingOfOne: number;
}

export interface ReadLimits extends BudgetLimits {
  /** For each HTTP request to a provider. */
  readonly requestMs: number;
  /** For a whole read, with its time in the queue. */
  readonly readMs: number;
  /** Answers that are kept. */
  readonly maxKept: number;
}

export const READ_LIMITS: ReadLimits = {
  requestMs: 4000,
  readMs: 10_000,
  maxKept: 1000,
  maxRunning: 16,
  maxWaiting: 256,
  maxRunningOfOne: 4,
  maxWaitingOfOne: 16,
};

/** A read that waited until less time is left is not started. */
const LEAST_MS = 50;

/** `isKept`: whether a result answers later equal reads too. */
export function createSharedReads<T>(limits: ReadLimits, isKept: (result: T) => boolean) {
  const { readMs, maxKept } = limits;
  const queue = { waiting: 0 };
  const budgets = new Map<number, ReturnType<typeof createReadBudget>>();
  /** Running reads and answers, the least recently used first. */
  const kept = new Map<string, Promise<T | null>>();

  /** Null if too many reads wait. Two reads of a chain with one key are equal. */
  return async (chainId: number, caller: string, key: string, work: (deadline: number) => Promise<T>) => {
    const name = new Bun.CryptoHasher('sha256').update(`${chainId} ${key}`).digest('base64');
    let reading = kept.get(name);
    kept.delete(name);
    if (reading === undefined) {
      const deadline = performance.now() + readMs;
      const budget = budgets.getOrInsertComputed(chainId, () => createReadBudget(limits, queue));
      const started = budget.run(caller, async () => (performance.now() + LEAST_MS < deadline ? work(deadline) : null));
      if (started === null) return null;
      reading = started;
      const forget = () => {
        if (kept.get(name) === reading) kept.delete(name);
      };
      void started.then((result) => (result === null || !isKept(result)) && forget(), forget);
    }
    kept.set(name, reading);
    for (const oldest of kept.keys().take(Math.max(0, kept.size - maxKept))) kept.delete(oldest);
    return reading;
  };
}

/**
 * Limits how many reads run at once and how many wait, in all and for each caller. Callers take turns. `queue` counts the waiting reads
 * of all budgets that share it.
 */
export function createReadBudget(limits: BudgetLimits, queue = { waiting: 0 }) {
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

/** Fails as a provider that does not respond, if the work takes longer. */
export async function respondingWithin<T>(ms: number, work: Promise<T>): Promise<T> {
  try {
    return await withTimeout(ms, work);
  } catch (error) {
    if (isProviderFault(error)) throw error;
    throw new RpcError('unreachable', (error as Error).message, { connection: 'timeout' });
  }
}
