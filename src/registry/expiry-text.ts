// When a right expires, in words, for pages and the command line.

/** What the expiry of a right says: a time in Unix seconds, or that there is no end. */
export type Expiry = number | 'never';

const DAY = 86_400;
/** From the largest. A month is a twelfth of a year. */
export const UNITS = [
  ['year', 365 * DAY],
  ['month', (365 * DAY) / 12],
  ['day', DAY],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Made when a day is first written: it takes 17 ms, and a program that starts does not wait for it. */
let days: Intl.DateTimeFormat | undefined;

/** The day of a time in Unix seconds. */
export function dayText(at: number): string {
  days ??= new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  return days.format(1000 * at);
}

/** A right still counts in its last second. Both times are Unix seconds. */
export function expiryText(expires: Expiry, now: number): string {
  if (expires === 'never') return 'never expires';
  return now <= expires ? `until ${dayText(expires)}` : `expired ${agoText(expires, now)}`;
}

/** Both in Unix seconds. A block can be a little ahead of our clock. */
export function agoText(at: number, now: number): string {
  const [unit, size] = UNITS.find(([, one]) => now - at >= one) ?? [];
  if (unit === undefined) return 'less than a minute ago';
  const count = Math.floor((now - at) / size);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}
