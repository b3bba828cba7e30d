// Encodes a position in a list as an opaque cursor.

import type { LogPosition } from '../store/store.ts';

export interface Cursor {
  /** The block of the list's first page, and the revision and stamp of the history that it was read from. */
  readonly at: { readonly block: number; readonly revision: number; readonly stamp: number };
  readonly after: LogPosition;
}

/** `list` identifies the list: every parameter that decides what is in it. */
export function cursorText({ at, after }: Cursor, list: string): string {
  const fields = [at.block, at.revision, at.stamp, after.block, after.logIndex, fingerprint(list)];
  return Buffer.from(fields.join('.')).toString('base64url');
}

/** Null if the text is not a cursor of this list. */
export function readCursor(text: string, list: string): Cursor | null {
  if (!/^[\w-]{8,160}$/.test(text)) return null;
  const decoded = Buffer.from(text, 'base64url').toString('latin1');
  if (!/^(?:\d+\.){5}\d+$/.test(decoded)) return null;
  const numbers = decoded.split('.').map(Number);
  const [block = -1, revision = -1, stamp = -1, afterBlock = -1, logIndex = -1, mark] = numbers;
  if (mark !== fingerprint(list) || !numbers.every(Number.isSafeInteger)) return null;
  const cursor = { at: { block, revision, stamp }, after: { block: afterBlock, logIndex } };
  // Each position has one text: any other encoding of it was not made here.
  return cursorText(cursor, list) === text ? cursor : null;
}

const fingerprint = (list: string) => Bun.hash.xxHash32(list);
