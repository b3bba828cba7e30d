// Remembers so many values, each for a time. The least recently used goes first.

export function createTimedCache<V>(maxEntries: number) {
  const entries = new Map<string, { readonly value: V; readonly until: number }>();
  return {
    get(key: string): V | undefined {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      if (performance.now() >= found.until) return undefined;
      entries.set(key, found);
      return found.value;
    },
    set(key: string, value: V, ms: number): void {
      entries.delete(key);
      entries.set(key, { value, until: performance.now() + ms });
      for (const oldest of entries.keys().take(Math.max(0, entries.size - maxEntries))) entries.delete(oldest);
    },
  };
}
