// Tests that a cursor is valid in its own list only, and only as it was made.

import { describe, expect, test } from 'bun:test';
import * as p from '../api/params.ts';
import { listPositionText, pageCursorText, readFeedCursor, readListPosition, readPageCursor } from './cursor.ts';
import { feedIdentity } from './feed.ts';

describe('a cursor', () => {
  const position = {
    side: 'outgoing',
    first: { block: 17_999_998, logIndex: 300 },
    since: { block: 17_999_999, logIndex: 3 },
  } as const;
  const at = { block: 18_000_000, revision: 42, stamp: 7 };
  const cursor = { chosen: [at, null], chain: 1, section: 2, after: listPositionText(position) };

  test('comes back for its own list, and for no other', () => {
    const text = pageCursorText(cursor, 'list one');
    expect(text).toMatch(/^[\w-]+$/);
    expect(readPageCursor(text, 'list one')).toEqual(cursor);
    expect(readListPosition(cursor.after)).toEqual(position);
    expect(readPageCursor(text, 'list two')).toBeNull();
  });

  test('with numbers that no place has is none', () => {
    for (const bad of [
      { ...at, block: 2 ** 53 },
      { ...at, revision: 1e20 },
      { ...at, stamp: -1 },
    ])
      expect(readPageCursor(pageCursorText({ ...cursor, chosen: [bad] }, 'list'), 'list')).toBeNull();
    for (const text of ['', '2.1.1.1.1', '0.1.1.1', '0.1.1.1.1.1', '0.01.1.1.1', '0.1!.1.1.1', '0.-1.1.1.1'])
      expect(readListPosition(text)).toBeNull();
  });

  test('that the documentation shows is one', () => {
    expect(readFeedCursor(`${p.feedCursor.example}`, feedIdentity([1], {}, false))?.get(1)?.position.block).toBe(100);
    expect(readListPosition(readPageCursor(`${p.cursor.example}`, 'example')?.after ?? '')).not.toBeNull();
    expect(readPageCursor(`${p.pageCursor.example}`, 'example')?.after).toBe('0xf39f');
  });

  test('that was tampered with is none', () => {
    const text = pageCursorText(cursor, 'list');
    for (const bad of ['', 'abc', `${text}A`, text.slice(1), text.replace(/.$/, '='), 'A'.repeat(200)])
      expect(readPageCursor(bad, 'list')).toBeNull();
  });
});
