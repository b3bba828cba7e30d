// Applies the entries of a feed of changes, as they are sent over HTTP.

export interface FeedEntryJson {
  readonly type: string;
  readonly block: { readonly number: number; readonly hash: string };
  readonly logIndex: number;
}

/** Discards what an undo voids. A change that was sent twice stays twice. */
export function applyEntries(entries: readonly FeedEntryJson[]): string[] {
  let held: FeedEntryJson[] = [];
  for (const entry of entries) {
    if (entry.type === 'undo') held = held.filter(({ block }) => block.number <= entry.block.number);
    else held.push(entry);
  }
  return held.map(({ type, block, logIndex }) => `${block.number} ${block.hash} ${logIndex} ${type}`);
}
