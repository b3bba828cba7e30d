// A seeded random number generator: the same seed gives the same numbers everywhere.

export type Random = () => number;

/** An integer from 0 to one below the end. */
export const below = (random: Random, end: number) => Math.floor(random() * end);
export const pickFrom = <T>(random: Random, of: readonly T[]): T => of[below(random, of.length)] as T;

/** Mulberry32. Returns numbers from 0 (inclusive) to 1 (exclusive). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
