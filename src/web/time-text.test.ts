import { expect, test } from 'bun:test';
import { agoText } from '../registry/expiry-text.ts';

const DAY = 86_400;

test.each([
  [-30, 'less than a minute ago'],
  [59, 'less than a minute ago'],
  [60, '1 minute ago'],
  [3 * 3600 + 5, '3 hours ago'],
  [DAY - 1, '23 hours ago'],
  [DAY, '1 day ago'],
  [30 * DAY, '30 days ago'],
  [31 * DAY, '1 month ago'],
  [364 * DAY, '11 months ago'],
  [2 * 365 * DAY, '2 years ago'],
])('%p seconds are told as %p', (age, text) => {
  expect(agoText(1_700_000_000 - age, 1_700_000_000)).toBe(text);
});
