// Times and durations in words.

import { type Html, html } from './html.ts';
import { countText } from './parts.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** From the largest. A month is a twelfth of a year. */
const UNITS = [
  ['year', 365 * DAY],
  ['month', (365 * DAY) / 12],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', 1],
] as const;

/** In the largest unit that is exact enough: 90 seconds, 2 minutes, 119 minutes, 2 hours, 800 days. */
export function durationText(seconds: number): string {
  const [unit, size] = UNITS.slice(2).find(([, one]) => seconds >= 2 * one) ?? ['second', 1];
  return countText(Math.round(seconds / size), unit);
}

/** Both in Unix seconds. A block can be a little ahead of our clock. */
export function relativeText(at: number, now: number): string {
  const [unit, size] = UNITS.find(([, one]) => now - at >= one) ?? ['second', 1];
  return unit === 'second' ? 'less than a minute ago' : `${countText(Math.floor((now - at) / size), unit)} ago`;
}

export const dateText = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const renderTime = (at: number, now: number, block: number): Html =>
  html`<time datetime="${new Date(at * 1000).toISOString()}" title="${dateText(at)}, block ${block}">${relativeText(at, now)}</time>`;
