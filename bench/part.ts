// Types of a benchmark part: its input and its result.

import type { Section } from './section.ts';
import type { Sizes } from './sizes.ts';
import type { PeerWorld } from './world.ts';

export interface Bench {
  readonly sizes: Sizes;
  /** A temporary folder, removed at the end. */
  readonly folder: string;
  /** Command-line arguments after the name of the part. */
  readonly options: readonly string[];
  /** The same events, indexed by us and by Ponder. Created on first use and shared by all parts. */
  world(): Promise<PeerWorld>;
  /** Registers a cleanup; cleanups run at the end, the last one first. */
  atEnd(stop: () => Promise<unknown>): void;
}

export interface Part {
  readonly about: string;
  /** Runs only when it is named. */
  readonly extra?: true;
  run(bench: Bench): Promise<Section[]>;
}
