// The keys as requests need them: known for a second, looked up again after, and their use counted in batches.

import { type Accounts, isGood, type KeyRecord } from './accounts.ts';
import { isKey } from './key.ts';

export interface KeyRing {
  /** Whether the key is good now; counts its use where it is. */
  isGood(text: string): boolean | Promise<boolean>;
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

export function createKeyRing(
  accounts: Accounts,
  { now = () => Date.now() / 1000, onError = (_: unknown) => {} } = {},
): KeyRing {
  const known = new Map<string, Known>();
  let uses = new Map<number, Map<number, number>>();

  const flush = async () => {
    const counted = uses;
    uses = new Map();
    const list = [...counted].flatMap(([id, days]) => [...days].map(([day, count]) => ({ id, day, uses: count })));
    await accounts.addUses(list, Math.floor(now())).catch(onError);
  };
  const timer = setInterval(() => void flush(), FLUSH_MS);

  function decide({ record }: Known): boolean {
    const seconds = now();
    if (record === null || !isGood(record, seconds)) return false;
    const day = Math.floor(seconds / DAY_SECONDS);
    const days = uses.get(record.id) ?? new Map<number, number>();
    uses.set(record.id, days);
    days.set(day, (days.get(day) ?? 0) + 1);
    return true;
  }

  return {
    isGood(text) {
      if (!isKey(text)) return false;
      const found = known.get(text);
      if (found !== undefined && performance.now() - found.readAt < BELIEVED_MS) return decide(found);
      return accounts.find(text).then((record) => {
        const fresh = { record, readAt: performance.now() };
        if (known.size >= MOST_KNOWN) known.clear();
        known.set(text, fresh);
        return decide(fresh);
      });
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
