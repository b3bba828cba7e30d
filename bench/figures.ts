// Formats, aggregates and prints measurements.

export const count = (value: number) => Math.round(value).toLocaleString('en');
export const megabytes = (bytes: number) => `${count(bytes / 1e6)} MB`;
/** Three significant digits. */
export const short = (value: number) => (value >= 100 ? count(value) : value.toFixed(value >= 10 ? 1 : 2));
export const micros = (value: number) => `${short(value)} µs`;
export const millis = (value: number) => `${short(value)} ms`;
export const times = (value: number) => `${short(value)} ×`;

const sorted = (values: readonly number[]) => [...values].sort((a, b) => a - b);
export const median = (values: readonly number[]) => percentile(values, 0.5);
/** The value below which this share of the values lies. */
export const percentile = (values: readonly number[], share: number) =>
  sorted(values)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? Number.NaN;

/** The median of each figure over several rounds. */
export function medians<R extends { readonly [Name in keyof R]: number }>(rounds: readonly R[]): R {
  const names = Object.keys(rounds[0] ?? {}) as (keyof R)[];
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))])) as R;
}

/** Overwrites the current line of a terminal with the progress. */
export const progress = (text: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`);
