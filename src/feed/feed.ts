// A feed of changes: which delegations its reader asked for, the entries that it gets, and how they are read.

import type { NumberMode } from '../api/params.ts';
import type { DelegationKey } from '../registry/delegation.ts';
import { endOfBlock } from '../store/change-position.ts';
import type { Change, ChangesCursor, ChangesFilter, ChangesPage, ChangesQuery, Store } from '../store/store.ts';
import type { FeedCursor } from './cursor.ts';
import { changeText, undoText } from './delegation-json.ts';

/** What a reader asked for. */
export interface Feed {
  readonly chainIds: readonly number[];
  /** Only what is final. */
  readonly isFinal: boolean;
  readonly filter: ChangesFilter;
  readonly mode: NumberMode;
}

/** Identifies a feed in its cursors, by every parameter that decides what is in it. */
export const feedIdentity = (
  chainIds: readonly number[] | 'served',
  { wallet, from, to, contract }: ChangesFilter,
  isFinal: boolean,
): string => [chainIds === 'served' ? chainIds : chainIds.join('+'), wallet, from, to, contract, isFinal].join();

const matches = ({ wallet, from, to, contract }: ChangesFilter, delegation: DelegationKey): boolean =>
  (wallet === undefined || delegation.from === wallet || delegation.to === wallet) &&
  (from === undefined || delegation.from === from) &&
  (to === undefined || delegation.to === to) &&
  (contract === undefined || delegation.contract === contract);

/** A change or an undo. */
export interface FeedEntry {
  /** Null for an undo. */
  readonly change: Change | null;
  /** As JSON. */
  text(mode: NumberMode): string;
}

/** An undo concerns everyone: it may take back what the reader was sent. */
export const isWanted = ({ change }: FeedEntry, { filter }: Pick<Feed, 'filter'>): boolean =>
  change === null || matches(filter, change.delegation);

/** Where a reader is on a chain; null before its first read. */
export interface Place {
  cursor: ChangesCursor | null;
}

/**
 * Gives a reader the entries of a page one by one, with its place after each of them, until `take` returns false: that entry is read
 * again. True if the reader is past the page.
 */
export function passEntries(
  { undo, changes, next }: ChangesPage,
  chainId: number,
  place: Place,
  take: (entry: FeedEntry) => boolean,
): boolean {
  const pass = (entry: FeedEntry, after: ChangesCursor): boolean => {
    const before = place.cursor;
    place.cursor = after;
    const isTaken = take(entry);
    if (!isTaken) place.cursor = before;
    return isTaken;
  };
  if (undo !== null && !pass({ change: null, text: () => undoText(undo, chainId) }, next)) return false;
  for (const change of changes) {
    const text = (mode: NumberMode) => changeText(change, { chainId, mode });
    if (!pass({ change, text }, { ...next, position: change.position })) return false;
  }
  place.cursor = next;
  return true;
}

/** What was read of a feed, and what comes of reading on. */
export interface FeedReading {
  /** Changes and undos as JSON: those of one page together, with commas between them. */
  readonly texts: string[];
  /** How many changes and undos these are. */
  count: number;
  /** How many changes were read, or would have been for the same work. */
  scanned: number;
  readonly cursor: Map<number, ChangesCursor>;
}

export const beginReading = (from: FeedCursor): FeedReading => {
  const cursor = new Map(from);
  return { texts: [], count: 0, scanned: 0, cursor };
};

export interface ReadingBounds {
  /** The most entries. */
  readonly limit: number;
  /** After so many changes it ends, however few the filter left. */
  readonly mostScanned: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads a chain on until its end or a bound. `read` reads what the query asks for or more, and null if nothing can be read of the chain
 * now. Returns the state of the chain at its end.
 */
export async function readChain(
  feed: Feed,
  chainId: number,
  reading: FeedReading,
  { limit, mostScanned, signal }: ReadingBounds,
  read: (query: Omit<ChangesQuery, 'limit'>) => Promise<(ChangesPage & { readonly scanned: number }) | null>,
): Promise<{ readonly isEnd: boolean; readonly chain: ChangesPage['chain'] | null }> {
  const { isFinal, filter, mode } = feed;
  while (reading.count < limit && reading.scanned < mostScanned && !signal?.aborted) {
    const place: Place = { cursor: reading.cursor.get(chainId) ?? null };
    const page = await read({ chainId, after: place.cursor, isFinal, filter });
    if (page === null) return { isEnd: true, chain: null };
    const texts: string[] = [];
    const isPast = passEntries(page, chainId, place, (entry) => {
      if (!isWanted(entry, feed)) return true;
      if (reading.count >= limit) return false;
      reading.count++;
      return texts.push(entry.text(mode)) > 0;
    });
    // Joined between reads: each text consists of dozens of others, and all at once they would keep others waiting.
    if (texts.length > 0) reading.texts.push(texts.join(','));
    reading.scanned += page.scanned;
    if (place.cursor !== null) reading.cursor.set(chainId, place.cursor);
    if (page.isEnd && isPast) return { isEnd: true, chain: page.chain };
  }
  return { isEnd: false, chain: null };
}

/** Where a reader starts that wants only what is new. */
export async function headOf(
  chainId: number,
  { isFinal }: Pick<Feed, 'isFinal'>,
  { store }: { readonly store: Store },
): Promise<ChangesCursor> {
  const { chain, stamp } = await store.pin(chainId);
  const block = isFinal ? (chain.verified ?? -1) : (chain.head?.number ?? -1);
  return { position: endOfBlock(block), revision: chain.revision, stamp, final: null };
}
