// Wraps a real store so that its process can be killed at any write: committed data stays, and the process does nothing more.

import type { Store } from '../../src/store/store.ts';

export interface Killable {
  /** Starts a process; the previous one is dead. */
  storeOf(store: Store): Store;
  /** Kills the process at its n-th write from now, before or right after the commit. */
  killAt(write: number, when: 'before' | 'after'): void;
  readonly isDead: boolean;
}

const READS: ReadonlySet<string | symbol> = new Set<keyof Store>([
  'chain',
  'chains',
  'pin',
  'check',
  'explain',
  'checkMany',
  'list',
  'listDetailed',
  'listPacked',
  'listNow',
  'blockAt',
  'newestBlock',
  'blocks',
  'logs',
  'revocations',
  'unsettledRevocations',
  'unsettledVaults',
  'vaults',
  'delegates',
  'history',
  'changes',
  'v1Delegates',
  'held',
  'regrants',
  'uncheckedTimes',
  'size',
]);

class Killed extends Error {
  override readonly name = 'Killed';
}

interface Process {
  isDead: boolean;
  death: { left: number; when: 'before' | 'after' } | null;
}

export function createKillable(): Killable {
  let process: Process = { isDead: false, death: null };
  return {
    storeOf(store) {
      process.isDead = true;
      process = { isDead: false, death: null };
      return storeIn(process, store);
    },
    killAt(left, when) {
      process.death = { left, when };
    },
    get isDead() {
      return process.isDead;
    },
  };
}

type Method = (...args: unknown[]) => Promise<unknown>;

function storeIn(process: Process, store: Store): Store {
  const requireLife = () => {
    if (process.isDead) throw new Killed('The process was killed');
  };
  const wrap = (name: string | symbol, method: Method): Method => {
    return async (...args) => {
      requireLife();
      const { death } = process;
      const isLast = !READS.has(name) && death !== null && --death.left === 0;
      if (isLast && death.when === 'before') process.isDead = true;
      requireLife();
      const result = await method(...args);
      if (isLast) process.isDead = true;
      requireLife();
      return result;
    };
  };
  const methods = Object.entries(store).map(([name, value]) => [
    name,
    typeof value === 'function' ? wrap(name, value as Method) : value,
  ]);
  return Object.fromEntries(methods) as Store;
}
