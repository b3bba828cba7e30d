// Several servers under load in turns, so that what else happens on the machine happens to all of them.

import { medians } from './figures.ts';
import type { Cost } from './load.ts';

export interface Loaded {
  readonly name: string;
  load(): Cost | Promise<Cost>;
}

/** The median of each over the rounds; the first round warms up. */
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
