import { expect, test } from 'bun:test';
import { expiryText } from './expiry-text.ts';
import { NEVER } from './rights.ts';

/** 3 March 2027, 12:00 UTC. */
const NOON = 1_804_075_200;
const DAY = 86_400;

test('an expiry is a day to come, never, or how long ago it was', () => {
  expect(expiryText('never', NOON)).toBe('never expires');
  // It counts in its last second, and not a moment later.
  expect([expiryText(NOON, NOON - DAY), expiryText(NOON, NOON)]).toEqual(['until 3 March 2027', 'until 3 March 2027']);
  expect(expiryText(NOON, NOON + 1)).toBe('expired less than a minute ago');
  expect(expiryText(NOON, NOON + 60)).toBe('expired 1 minute ago');
  expect(expiryText(NOON, NOON + 2 * DAY)).toBe('expired 2 days ago');
  expect(expiryText(NOON, NOON + 400 * DAY)).toBe('expired 1 year ago');
  expect(expiryText(NEVER - 1, NOON)).toBe('until 20 February 36812');
});
