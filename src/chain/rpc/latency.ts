// Counts how long requests take, in buckets, as plain values that a process can send to another.

export interface Latency {
  /** By bucket. A longer request than the last bound is only in the total. */
  counts: number[];
  sum: number;
  total: number;
}

export const emptyLatency = (bounds: readonly number[]): Latency => ({ counts: bounds.map(() => 0), sum: 0, total: 0 });

/** `bounds`: upper bounds of the buckets, in seconds. */
export function countLatency(latency: Latency, bounds: readonly number[], seconds: number): void {
  const bucket = bounds.findIndex((end) => seconds <= end);
  if (bucket >= 0) latency.counts[bucket] = (latency.counts[bucket] ?? 0) + 1;
  latency.sum += seconds;
  latency.total++;
}
