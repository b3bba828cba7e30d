// What a part of the benchmark is given, and what it gives.

import type { Section } from './section.ts';
import type { Sizes } from './sizes.ts';
import type { PeerWorld } from './world.ts';

export interface Bench {
  readonly sizes: Sizes;
  /** A folder for what is needed for the time being. */
  readonly folder: string;
  /** What was written behind the part's name. */
  readonly options: readonly string[];
  /** The same events in ours and in the peers. It is made once, for all parts that ask. */
  world(): Promise<PeerWorld>;
  /** Called when everything is over, the last one first. */
  atEnd(stop: () => Promise<unknown>): void;
}

export interface Part {
  readonly about: string;
  /** Not among those that run when none is named. */
  readonly extra?: true;
  run(bench: Bench): Promise<Section[]>;
}
