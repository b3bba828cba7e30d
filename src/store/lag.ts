// The lag of a chain over the last day, as its follower measured it.

export interface LagSample {
  readonly chainId: number;
  /** When the ten minutes began, in Unix seconds. */
  readonly at: number;
  /** The highest lag in them. */
  readonly seconds: number;
}

export const LAG_STEP_SECONDS = 600;
/** Older samples are deleted. */
export const LAG_KEPT_SECONDS = 86_400;
