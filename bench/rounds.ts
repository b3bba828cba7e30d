// Several servers under load in turns, so that what else happens on the machine happens to all of them.

import { medians } from './figures.ts';
import type { Sizes } from './sizes.ts';
import { type Cost, type Server, wrk } from './wrk.ts';

export interface Loaded {
  readonly name: string;
  readonly server: Server;
  /** A script of wrk. */
  readonly script: string;
}

/** The median of each over the rounds; the first round warms up. */
export function measureInTurns(all: readonly Loaded[], { rounds, seconds }: Sizes): Map<string, Cost> {
  const found = new Map(all.map(({ name }): [string, Cost[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, server, script } of all) {
      const cost = wrk(server, script, seconds);
      if (round > 0) found.get(name)?.push(cost);
    }
  }
  return new Map([...found].map(([name, costs]) => [name, medians<keyof Cost>(costs)]));
}
