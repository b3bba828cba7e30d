// Measures how fast a chain is indexed, over the last half minute.

export interface Rates {
  readonly logs: number;
  /** Null until there are two samples. */
  readonly blocks: number | null;
}

interface Sample {
  /** Milliseconds. */
  readonly at: number;
  readonly block: number;
  readonly logs: number;
}

const WINDOW_MS = 30_000;
const MIN_INTERVAL_MS = 1000;

/**
 * The first sample after a start is only a base: the blocks of earlier runs are not progress of this one. `block` is null before
 * the chain is known. Fewer logs than before mean that another follower has started to count.
 */
export function createProgressRate(): (at: number, block: number | null, logs: number) => Rates {
  let samples: Sample[] = [];
  return (at, block, logs) => {
    const newest = samples.at(-1);
    if (block === null || logs < (newest?.logs ?? 0)) samples = [];
    if (block !== null && (samples.length === 0 || at - (newest?.at ?? 0) >= MIN_INTERVAL_MS)) {
      samples.push({ at, block, logs });
      samples = samples.filter((sample) => at - sample.at <= WINDOW_MS);
    }
    const [first, last] = [samples[0], samples.at(-1)];
    if (first === undefined || last === undefined || first === last) return { logs: 0, blocks: null };
    const seconds = (last.at - first.at) / 1000;
    return { logs: (last.logs - first.logs) / seconds, blocks: (last.block - first.block) / seconds };
  };
}
