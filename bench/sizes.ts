// How much each part measures. The quick sizes only check that a part works.

export interface Sizes {
  /** Interleaved rounds without the warm-up, and the seconds of load in each. */
  readonly rounds: number;
  readonly seconds: number;
  /** Load on every server before the first measurement: some compile code while they run. */
  readonly warmUpSeconds: number;
  readonly questions: number;
  /** Approximate number of delegations listed per round. */
  readonly listed: number;
  /** Blocks of the history that only ours indexes, and of the one that Ponder indexes too. */
  readonly blocks: number;
  readonly peerBlocks: number;
  /** Blocks of the history that a node with a rate limit serves. */
  readonly throttledBlocks: number;
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
  listed: 200_000,
  blocks: 200_000,
  peerBlocks: 40_000,
  throttledBlocks: 2_000_000,
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
  listed: 40_000,
  blocks: 20_000,
  peerBlocks: 4000,
  throttledBlocks: 100_000,
  delegations: 50_000,
  growth: [40_000, 80_000],
  longList: 5000,
  chains: [1, 3],
  idleSeconds: 5,
  bulkRows: 50_000,
  streams: 500,
};

/** Reads a number of delegations, such as 500k or 30m. */
export const sizeOf = (text: string) => Number.parseFloat(text) * (text.endsWith('m') ? 1e6 : 1e3);
