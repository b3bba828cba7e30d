// The keys as requests need them: known for a second, looked up again after, and their use counted in batches.

import { type Accounts, isActive, type KeyRecord } from './accounts.ts';
import { isKey } from './key.ts';

export interface KeyCache {
  /** Whether the key is good, where that is known without asking the database; null where it is not. */
  known(text: string): boolean | null;
  /** Whether it was good a while ago, or is being looked up just now. */
  isFamiliar(text: string): boolean;
  /** Asks the database, once for all who ask at the same time. */
  lookUp(text: string): Promise<boolean>;
  stop(): Promise<void>;
}

/** What was read is believed so long: a revoked key stops working everywhere within this and a moment. */
const BELIEVED_MS = 1000;
const FLUSH_MS = 5000;
/** So many keys are known at once; more of them are looked up each time. */
const MOST_KNOWN = 10_000;
const DAY_SECONDS = 86_400;

interface Known {
  readonly record: KeyRecord | null;
  readonly readAt: number;
}

export function createKeyCache(
  accounts: Accounts,
  { now = () => Date.now() / 1000, onError = (_: unknown) => {} } = {},
): KeyCache {
  /** Apart, so that made-up keys cannot drive out good ones. */
  const [found, unknown] = [new Map<string, Known>(), new Map<string, Known>()];
  let uses = new Map<number, Map<number, number>>();

  const flush = async () => {
    const counted = uses;
    uses = new Map();
    const list = [...counted].flatMap(([id, days]) => [...days].map(([day, count]) => ({ id, day, uses: count })));
    try {
      await accounts.addUses(list, Math.floor(now()));
    } catch (error) {
      onError(error);
      for (const { id, day, uses: count } of list) addUses(id, day, count);
    }
  };
  const addUses = (id: number, day: number, count: number) => {
    const days = uses.get(id) ?? new Map<number, number>();
    uses.set(id, days);
    days.set(day, (days.get(day) ?? 0) + count);
  };
  const timer = setInterval(() => void flush(), FLUSH_MS);

  const pending = new Map<string, Promise<Known>>();

  async function read(text: string): Promise<Known> {
    const record = await accounts.find(text).catch((error) => {
      onError(error);
      throw error;
    });
    const one = { record, readAt: performance.now() };
    const [keys, others] = one.record === null ? [unknown, found] : [found, unknown];
    if (keys.size >= MOST_KNOWN) keys.clear();
    keys.set(text, one);
    others.delete(text);
    return one;
  }

  function decide({ record }: Known): boolean {
    const seconds = now();
    if (record === null || !isActive(record, seconds)) return false;
    addUses(record.id, Math.floor(seconds / DAY_SECONDS), 1);
    return true;
  }

  return {
    known(text) {
      const one = found.get(text) ?? unknown.get(text);
      if (one === undefined && !isKey(text)) return false;
      return one !== undefined && performance.now() - one.readAt < BELIEVED_MS ? decide(one) : null;
    },
    isFamiliar: (text) => found.has(text) || pending.has(text),
    async lookUp(text) {
      const reading = pending.get(text) ?? read(text);
      pending.set(text, reading);
      try {
        return decide(await reading);
      } finally {
        pending.delete(text);
      }
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
