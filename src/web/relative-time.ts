// Times as people say them, with the exact time behind.

import { dateText } from './delegation.ts';
import { type Html, html } from './html.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Each unit is used up to the next, from the largest. A month is a twelfth of a year. */
const UNITS = [
  ['year', 365 * DAY],
  ['month', (365 * DAY) / 12],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
] as const;

/** Both in Unix seconds. A block can be a little ahead of our clock. */
export function relativeText(at: number, now: number): string {
  const age = now - at;
  for (const [unit, seconds] of UNITS) {
    const count = Math.floor(age / seconds);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  }
  return 'less than a minute ago';
}

export const renderTime = (at: number, now: number, block: number): Html =>
  html`<time datetime="${new Date(at * 1000).toISOString()}" title="${dateText(at)}, block ${block}">${relativeText(at, now)}</time>`;
