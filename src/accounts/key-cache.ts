// Caches key lookups for a second, and collects the uses of keys before they are stored.

import { type Accounts, isActive, type KeyRecord } from './accounts.ts';
import { isKey } from './key.ts';

export type KeyCache = ReturnType<typeof createKeyCache>;

/** A revoked key stops working everywhere, and a new limit applies, within this time. */
const CACHE_MS = 1000;
const FLUSH_MS = 5000;
/** How many counts are written without a break. */
const FLUSHED_AT_ONCE = 500;
const MAX_KEYS = 10_000;
const DAY_SECONDS = 86_400;

type Lookup = { readonly record: KeyRecord | null; readonly readAt: number };

export function createKeyCache(
  accounts: Accounts,
  { now = () => Date.now() / 1000, ticks = () => performance.now(), onError = (_: unknown) => {} } = {},
) {
  /** Separate, so that made-up keys cannot evict real ones. */
  const [found, unknown] = [new Map<string, Lookup>(), new Map<string, Lookup>()];
  let uses = new Map<number, Map<number, number>>();

  let flushed: Promise<unknown> = Promise.resolve();
  /** One flush at a time, so that `stop` waits for the one that is running. */
  const flush = () => {
    flushed = flushed.then(writeUses);
    return flushed;
  };
  const writeUses = async () => {
    const counted = uses;
    uses = new Map();
    const list = [...counted].flatMap(([id, days]) => [...days].map(([day, count]) => ({ id, day, uses: count })));
    while (list.length > 0) {
      const chunk = list.splice(-FLUSHED_AT_ONCE);
      try {
        await accounts.addUses(chunk, Math.floor(now()));
      } catch (error) {
        onError(error);
        for (const { id, day, uses: count } of [...list, ...chunk]) addUses(id, day, count);
        return;
      }
      // SQLite writes synchronously: requests run between two chunks.
      await Bun.sleep(0);
    }
  };
  const addUses = (id: number, day: number, count: number) => {
    const days = uses.getOrInsertComputed(id, () => new Map());
    days.set(day, (days.get(day) ?? 0) + count);
  };
  const timer = setInterval(() => void flush(), FLUSH_MS);

  const pending = new Map<string, Promise<Lookup>>();

  async function read(text: string): Promise<Lookup> {
    const record = await accounts.find(text).catch((error) => {
      onError(error);
      throw error;
    });
    const one = { record, readAt: ticks() };
    const [keys, others] = record === null ? [unknown, found] : [found, unknown];
    if (keys.size >= MAX_KEYS) keys.clear();
    keys.set(text, one);
    others.delete(text);
    return one;
  }

  function decide({ record }: Lookup, uses: number): KeyRecord | false {
    const seconds = now();
    if (record === null || !isActive(record, seconds)) return false;
    addUses(record.id, Math.floor(seconds / DAY_SECONDS), uses);
    return record;
  }

  return {
    /** The key if it is active, false if it is not; null if that takes a lookup. Counts `uses` of an active key. */
    known(text: string, uses = 1): KeyRecord | false | null {
      const one = found.get(text) ?? unknown.get(text);
      if (one === undefined && !isKey(text)) return false;
      return one !== undefined && ticks() - one.readAt < CACHE_MS ? decide(one, uses) : null;
    },
    /** Whether the key was found before, or is being looked up now. */
    isFamiliar: (text: string): boolean => found.has(text) || pending.has(text),
    /** A key that was found before; null for other texts. */
    found: (text: string): KeyRecord | null => found.get(text)?.record ?? null,
    /** Reads the key from the database. Concurrent calls for one key share a lookup. */
    async lookUp(text: string, uses = 1): Promise<KeyRecord | false> {
      const reading = pending.getOrInsertComputed(text, read);
      try {
        return decide(await reading, uses);
      } finally {
        pending.delete(text);
      }
    },
    /** Stores the uses counted so far. */
    flush,
    async stop(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}
