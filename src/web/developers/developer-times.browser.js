// Times as the developer page writes them. They are given in milliseconds.

globalThis.times = (() => {
  const DAY_MS = 86_400_000;
  const UNITS = [
    ['hour', 3_600_000],
    ['minute', 60_000],
  ];
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
  const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

  const dayText = (ms) => day.format(ms);
  const exactText = (ms) => `${exact.format(ms)} UTC`;

  /** Such as “in 5 minutes” or “3 hours ago”; a day for what is further away. */
  function nearText(ms) {
    const distance = ms - Date.now();
    if (Math.abs(distance) >= DAY_MS) return dayText(ms);
    const [unit, length] = UNITS.find(([, one]) => Math.abs(distance) >= one) ?? [];
    if (unit === undefined) return distance > 0 ? 'in less than a minute' : 'less than a minute ago';
    return relative.format(Math.trunc(distance / length), unit);
  }

  return { dayText, exactText, nearText };
})();
