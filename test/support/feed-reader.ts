// Readers of changes: from the store, applied from nothing, so that one knows what held at every block; and as entries over HTTP.

import { delegationId } from '../../src/registry/delegation.ts';
import type {
  Change,
  ChangesCursor,
  ChangesFilter,
  ChangesPage,
  DetailedDelegation,
  LogPosition,
} from '../../src/store/store.ts';

const lineOf = ({ isFinal: _, ...entry }: Change): string =>
  JSON.stringify(entry, (_name, value) => (typeof value === 'bigint' ? `${value}` : value));

export function createFeedReader(read: (after: ChangesCursor | null, limit: number) => Promise<ChangesPage>) {
  let entries: Change[] = [];
  let after: ChangesCursor | null = null;
  let undone = 0;
  return {
    /** Reads until nothing more has happened. */
    async follow(limit: number): Promise<void> {
      for (;;) {
        const { undo, changes, next, isEnd } = await read(after, limit);
        if (undo !== null) {
          undone++;
          entries = entries.filter(({ block }) => block.number <= undo.number);
        }
        entries.push(...changes);
        after = next;
        if (isEnd) return;
      }
    },
    heldAt(block: number): DetailedDelegation[] {
      const held = new Map<string, DetailedDelegation>();
      for (const {
        type,
        delegation,
        block: { number },
      } of entries) {
        if (number > block) break;
        const id = delegationId(delegation);
        // Nothing begins twice, ends twice, or changes without having begun.
        if (held.has(id) !== (type !== 'began')) throw new Error(`${type} ${id} at ${number} is out of order`);
        if (type === 'ended') held.delete(id);
        else held.set(id, delegation);
      }
      return [...held.values()];
    },
    /** Every grant up to a block, and the log that had ended it by then. */
    grantsAt(block: number): { readonly delegation: DetailedDelegation; readonly until: LogPosition | null }[] {
      const grants: { delegation: DetailedDelegation; until: LogPosition | null }[] = [];
      const open = new Map<string, (typeof grants)[number]>();
      for (const {
        type,
        delegation,
        block: { number },
        logIndex,
      } of entries) {
        if (number > block) break;
        const id = delegationId(delegation);
        const held = open.get(id);
        if (held !== undefined) held.until = { block: number, logIndex };
        open.delete(id);
        if (type === 'ended') continue;
        const grant = { delegation, until: null };
        grants.push(grant);
        open.set(id, grant);
      }
      return grants;
    },
    entries: (): readonly Change[] => entries,
    /** Everything that was read and not undone. Whether it was final then is left out: that changes later. */
    lines: (): string[] => entries.map(lineOf),
    /** Those of them that a filter wants. */
    linesOf: ({ wallet, from, to, contract }: ChangesFilter): string[] =>
      entries
        .filter(
          ({ delegation }) =>
            [undefined, delegation.from, delegation.to].includes(wallet) &&
            [undefined, delegation.from].includes(from) &&
            [undefined, delegation.to].includes(to) &&
            (contract === undefined || delegation.contract === contract),
        )
        .map(lineOf),
    /** How many entries are of blocks up to this one. */
    countUpTo: (last: number): number => entries.filter(({ block }) => block.number <= last).length,
    get undone() {
      return undone;
    },
  };
}

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
