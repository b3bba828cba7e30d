// Encodes a position in a list as an opaque cursor.

import type { ListPosition } from '../store/store.ts';

export interface Cursor {
  /** The block of the list's first page, and the revision and stamp of the history that it was read from. */
  readonly at: { readonly block: number; readonly revision: number; readonly stamp: number };
  readonly after: ListPosition;
}

/** `list` identifies the list: every parameter that decides what is in it. */
export function cursorText({ at, after }: Cursor, list: string): string {
  const { side, first, since } = after;
  const fields = [
    at.block,
    at.revision,
    at.stamp,
    side === 'incoming' ? 0 : 1,
    first.block,
    first.logIndex,
    since.block,
    since.logIndex,
    fingerprint(list),
  ];
  return Buffer.from(fields.join('.')).toString('base64url');
}

/** Null if the text is not a cursor of this list. */
export function readCursor(text: string, list: string): Cursor | null {
  if (!/^[\w-]{8,220}$/.test(text)) return null;
  const decoded = Buffer.from(text, 'base64url').toString('latin1');
  if (!/^(?:\d+\.){8}\d+$/.test(decoded)) return null;
  const numbers = decoded.split('.').map(Number);
  if (numbers.at(-1) !== fingerprint(list) || !numbers.every(Number.isSafeInteger)) return null;
  const [block = -1, revision = -1, stamp = -1, side, ...places] = numbers;
  const [firstBlock = -1, firstLog = -1, sinceBlock = -1, sinceLog = -1] = places;
  const cursor: Cursor = {
    at: { block, revision, stamp },
    after: {
      side: side === 0 ? 'incoming' : 'outgoing',
      first: { block: firstBlock, logIndex: firstLog },
      since: { block: sinceBlock, logIndex: sinceLog },
    },
  };
  // Each position has one text: any other encoding of it was not made here.
  return cursorText(cursor, list) === text ? cursor : null;
}

const fingerprint = (list: string) => Bun.hash.xxHash32(list);
