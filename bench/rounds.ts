// Loads several servers in turns, so that noise on the machine affects all of them alike.

import { medians } from './figures.ts';
import type { Cost } from './load.ts';

type Figures<C> = { readonly [Name in keyof C]: number };

export interface Loaded<C = Cost> {
  readonly name: string;
  load(): C | Promise<C>;
}

/** Returns the median of each over the rounds. The first round is a warm-up and does not count. */
export async function measureInTurns<C extends Figures<C>>(
  all: readonly Loaded<C>[],
  rounds: number,
): Promise<Map<string, C>> {
  const found = new Map(all.map(({ name }): [string, C[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, load } of all) {
      const cost = await load();
      if (round > 0) found.get(name)?.push(cost);
    }
  }
  return new Map([...found].map(([name, costs]) => [name, medians(costs)]));
}
