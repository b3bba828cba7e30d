// Loads several servers in turns, so that noise on the machine affects all of them alike.

import { medians } from './figures.ts';
import type { Cost } from './load.ts';

export interface Loaded {
  readonly name: string;
  load(): Cost | Promise<Cost>;
}

/** Returns the median of each over the rounds. The first round is a warm-up and does not count. */
export async function measureInTurns(all: readonly Loaded[], rounds: number): Promise<Map<string, Cost>> {
  const found = new Map(all.map(({ name }): [string, Cost[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, load } of all) {
      const cost = await load();
      if (round > 0) found.get(name)?.push(cost);
    }
  }
  return new Map([...found].map(([name, costs]) => [name, medians<keyof Cost>(costs)]));
}
