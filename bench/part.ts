// What a part of the benchmark gets, and how much it measures.

import type { Section } from './section.ts';
import type { PeerWorld } from './world.ts';

export interface Part {
  readonly about: string;
  run(bench: Bench): Promise<Section[]>;
}

export interface Bench {
  readonly sizes: Sizes;
  /** A temporary folder, removed at the end. */
  readonly folder: string;
  /** Command-line arguments after the name of the part. */
  readonly options: readonly string[];
  /** The same events, indexed by us and by Ponder. Created on first use and shared by all parts. */
  world(): Promise<PeerWorld>;
}

export interface Sizes {
  /** Interleaved rounds without the warm-up, and the seconds of load in each. */
  readonly rounds: number;
  readonly seconds: number;
  /** Load on every server before the first measurement: some compile code while they run. */
  readonly warmUpSeconds: number;
  readonly questions: number;
  /** Checks of different pairs, before the memory is measured. */
  readonly pairs: number;
  /** Requests to each server whose latency is measured. */
  readonly latencies: number;
  /** Approximate number of delegations listed per round. */
  readonly listed: number;
  /** Blocks of the history that only ours indexes, and of the one that Ponder indexes too. */
  readonly blocks: number;
  readonly peerBlocks: number;
  /** Blocks of the history that a node with a rate limit serves. */
  readonly throttledBlocks: number;
  /** Blocks of the history whose first answer is measured: one in four has an event. */
  readonly coldBlocks: number;
  /** Calls a second that its node allows. */
  readonly coldCalls: number;
  readonly delegations: number;
  readonly growth: readonly number[];
  /** Delegations of each long list that is read beside checks. */
  readonly longList: number;
  readonly chains: readonly number[];
  readonly idleSeconds: number;
  readonly bulkRows: number;
  /** Streams of changes that are open at once. */
  readonly streams: number;
}

export const FULL: Sizes = {
  rounds: 5,
  seconds: 3,
  warmUpSeconds: 10,
  questions: 20_000,
  latencies: 60_000,
  pairs: 1_000_000,
  listed: 200_000,
  blocks: 200_000,
  peerBlocks: 40_000,
  throttledBlocks: 2_000_000,
  coldBlocks: 4_000_000,
  coldCalls: 25,
  delegations: 1_000_000,
  growth: [1_000_000, 10_000_000],
  longList: 100_000,
  chains: [1, 10, 30],
  idleSeconds: 30,
  bulkRows: 1_000_000,
  streams: 10_000,
};

export const QUICK: Sizes = {
  rounds: 1,
  seconds: 1,
  warmUpSeconds: 2,
  questions: 2000,
  latencies: 400,
  pairs: 5000,
  listed: 40_000,
  blocks: 20_000,
  peerBlocks: 4000,
  throttledBlocks: 100_000,
  coldBlocks: 20_000,
  coldCalls: 2000,
  delegations: 50_000,
  growth: [40_000, 80_000],
  longList: 5000,
  chains: [1, 3],
  idleSeconds: 5,
  bulkRows: 50_000,
  streams: 500,
};
