// A place in a list, given to callers as an opaque text.

import type { LogPosition } from '../store/store.ts';

export interface Cursor {
  /** The block of the list's first page, and the revision at which it was read. */
  readonly at: { readonly block: number; readonly revision: number };
  readonly after: LogPosition;
  /** Revisions of another store mean nothing here. */
  readonly store: string;
}

/** `list` names the list that the cursor belongs to: every parameter that decides what is in it. */
export function cursorText({ at, after, store }: Cursor, list: string): string {
  const fields = [at.block, at.revision, after.block, after.logIndex, fingerprint(list), store];
  return Buffer.from(fields.join('.')).toString('base64url');
}

/** Null for a text that is no cursor of this list. */
export function readCursor(text: string, list: string): Cursor | null {
  if (!/^[\w-]{8,160}$/.test(text)) return null;
  const form = /^((?:\d+\.){5})([0-9a-z]+)$/.exec(Buffer.from(text, 'base64url').toString('latin1'));
  const [numbers = '', store = ''] = form?.slice(1) ?? [];
  const [block = -1, revision = -1, afterBlock = -1, logIndex = -1, mark] = numbers.split('.').map(Number);
  if (mark !== fingerprint(list)) return null;
  if (![block, revision, afterBlock, logIndex].every((field) => Number.isSafeInteger(field) && field >= 0)) return null;
  const cursor = { at: { block, revision }, after: { block: afterBlock, logIndex }, store };
  // One text for each place: what does not come out as it went in was not made here.
  return cursorText(cursor, list) === text ? cursor : null;
}

const fingerprint = (list: string) => Bun.hash.xxHash32(list);
