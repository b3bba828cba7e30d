// A queue in which callers take turns: who waits with many things gets no more of them done than who waits with one.

export interface Rounds<Item> {
  add(caller: string, item: Item): void;
  /** The next item of the caller whose turn it is, of those that are ready. */
  take(isReady?: (caller: string) => boolean): Item | undefined;
  /** How many items of a caller wait. */
  count(caller: string): number;
}

export function createRounds<Item>(): Rounds<Item> {
  /** Items that wait, by caller, in the order of their turns. */
  const waiting = new Map<string, Item[]>();
  return {
    add(caller, item) {
      const own = waiting.get(caller);
      if (own === undefined) waiting.set(caller, [item]);
      else own.push(item);
    },
    take(isReady = () => true) {
      for (const [caller, own] of waiting) {
        if (!isReady(caller)) continue;
        const item = own.shift();
        waiting.delete(caller);
        if (own.length > 0) waiting.set(caller, own);
        return item;
      }
      return undefined;
    },
    count: (caller) => waiting.get(caller)?.length ?? 0,
  };
}
