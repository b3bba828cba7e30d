// Encodes a position in a list as an opaque cursor.

import type { ListPosition } from '../store/store.ts';

export interface Cursor {
  /** The block of the list's first page, and the revision and stamp of the history that it was read from. */
  readonly at: { readonly block: number; readonly revision: number; readonly stamp: number };
  readonly after: ListPosition;
}

/** `list` identifies the list: every parameter that decides what is in it. */
export function cursorText({ at, after }: Cursor, list: string): string {
  const fields = [at.block, at.revision, at.stamp, listPositionText(after), fingerprint(list)];
  return Buffer.from(fields.join('.')).toString('base64url');
}

/** Null if the text is not a cursor of this list. */
export function readCursor(text: string, list: string): Cursor | null {
  if (!/^[\w-]{8,220}$/.test(text)) return null;
  const decoded = Buffer.from(text, 'base64url').toString('latin1');
  const [, at = '', place = '', mark] = /^((?:\d+\.){3})((?:\d+\.){4}\d+)\.(\d+)$/.exec(decoded) ?? [];
  const [block = -1, revision = -1, stamp = -1] = at.split('.').map(Number);
  const after = readListPosition(place);
  if (Number(mark) !== fingerprint(list) || after === null || ![block, revision, stamp].every(Number.isSafeInteger))
    return null;
  const cursor = { at: { block, revision, stamp }, after };
  // Each position has one text: any other encoding of it was not made here.
  return cursorText(cursor, list) === text ? cursor : null;
}

export const listPositionText = ({ side, first, since }: ListPosition): string =>
  [side === 'incoming' ? 0 : 1, first.block, first.logIndex, since.block, since.logIndex].join('.');

/** Null if the text is not a position. */
export function readListPosition(text: string): ListPosition | null {
  if (!/^[01](?:\.\d{1,16}){4}$/.test(text)) return null;
  const numbers = text.split('.').map(Number);
  if (!numbers.every(Number.isSafeInteger)) return null;
  const [side, firstBlock = -1, firstLog = -1, sinceBlock = -1, sinceLog = -1] = numbers;
  return {
    side: side === 0 ? 'incoming' : 'outgoing',
    first: { block: firstBlock, logIndex: firstLog },
    since: { block: sinceBlock, logIndex: sinceLog },
  };
}

const fingerprint = (list: string) => Bun.hash.xxHash32(list);
