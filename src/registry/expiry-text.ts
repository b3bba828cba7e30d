// When a right expires, in words, for pages and the command line.

/** What the expiry of a right says: a time in Unix seconds, or that there is no end. */
export type Expiry = number | 'never';

const DAY = 86_400;
/** From the largest. */
const UNITS = [
  ['year', 365 * DAY],
  ['month', (365 * DAY) / 12],
  ['day', DAY],
  ['hour', 3600],
  ['minute', 60],
] as const;

const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** A right still counts in its last second. Both times are Unix seconds. */
export function expiryText(expires: Expiry, now: number): string {
  if (expires === 'never') return 'never expires';
  if (now <= expires) return `until ${DAYS.format(1000 * expires)}`;
  const [unit, size] = UNITS.find(([, one]) => now - expires >= one) ?? [];
  if (unit === undefined) return 'expired less than a minute ago';
  const count = Math.floor((now - expires) / size);
  return `expired ${count} ${unit}${count === 1 ? '' : 's'} ago`;
}
