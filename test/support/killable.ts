// Wraps a real store so that its process can be killed at any write: committed data stays, and the process does nothing more.

import type { Store } from '../../src/store/store.ts';

const WRITES: ReadonlySet<string> = new Set<keyof Store>([
  'claim',
  'apply',
  'report',
  'recordLag',
  'repair',
  'confirm',
  'settle',
  'unsettle',
  'lease',
  'release',
  'rebuild',
]);

class Killed extends Error {
  override readonly name = 'Killed';
}

interface Process {
  isDead: boolean;
  death: { left: number; when: 'before' | 'after' } | null;
}

export function createKillable() {
  let process: Process = { isDead: false, death: null };
  return {
    /** Starts a process; the previous one is dead. */
    storeOf(store: Store): Store {
      process.isDead = true;
      process = { isDead: false, death: null };
      return storeIn(process, store);
    },
    /** Kills the process at its n-th write from now, before or right after the commit. */
    killAt(left: number, when: 'before' | 'after'): void {
      process.death = { left, when };
    },
    get isDead() {
      return process.isDead;
    },
  };
}

type Method = (...args: unknown[]) => Promise<unknown>;

function storeIn(process: Process, store: Store): Store {
  const requireAlive = () => {
    if (process.isDead) throw new Killed('The process was killed');
  };
  const wrap = (name: string, method: Method): Method => {
    return async (...args) => {
      requireAlive();
      const { death } = process;
      const isLast = WRITES.has(name) && death !== null && --death.left === 0;
      if (isLast && death.when === 'before') process.isDead = true;
      requireAlive();
      const result = await method(...args);
      if (isLast) process.isDead = true;
      requireAlive();
      return result;
    };
  };
  const methods = Object.entries(store).map(([name, value]) => [
    name,
    typeof value === 'function' ? wrap(name, value as Method) : value,
  ]);
  return Object.fromEntries(methods) as Store;
}
