// A queue in which callers take turns: who waits with many things gets no more of them done than who waits with one.

export interface Rounds<Item> {
  add(caller: string, item: Item): void;
  /** The next item of the caller whose turn it is. */
  take(): Item | undefined;
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
    take() {
      const [next] = waiting;
      if (next === undefined) return undefined;
      const [caller, own] = next;
      const item = own.shift();
      waiting.delete(caller);
      if (own.length > 0) waiting.set(caller, own);
      return item;
    },
  };
}
