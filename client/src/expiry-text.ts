// When a right expires, in words.

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

/** "until 3 March 2027", "never expires" or "expired 2 days ago". Both times in Unix seconds. */
export function expiryText(expires: number | 'never', now: number = Date.now() / 1000): string {
  if (expires === 'never') return 'never expires';
  if (now <= expires) return `until ${DAYS.format(1000 * expires)}`;
  const [unit, size] = UNITS.find(([, one]) => now - expires >= one) ?? [];
  if (unit === undefined || size === undefined) return 'expired less than a minute ago';
  const count = Math.floor((now - expires) / size);
  return `expired ${count} ${unit}${count === 1 ? '' : 's'} ago`;
}
