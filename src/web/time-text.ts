// Times and durations in words.

import { agoText, UNITS } from '../registry/expiry-text.ts';
import { type Html, html } from './html.ts';
import { countText } from './parts.ts';

/** In the largest unit that is exact enough: 90 seconds, 2 minutes, 119 minutes, 2 hours, 800 days. */
export function durationText(seconds: number): string {
  const [unit, size] = UNITS.slice(2).find(([, one]) => seconds >= 2 * one) ?? ['second', 1];
  return countText(Math.round(seconds / size), unit);
}

export const dateText = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

export const renderTime = (at: number, now: number, block: number): Html =>
  html`<time datetime="${new Date(at * 1000).toISOString()}" title="${dateText(at)}, block ${block}">${agoText(at, now)}</time>`;
