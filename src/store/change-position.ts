// Places among the changes of a chain.

import type { ChangePosition } from './store.ts';

/** No log has this index. */
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** After everything of a block. */
export const endOfBlock = (block: number): ChangePosition => ({
  block,
  logIndex: AFTER_ALL,
  step: 'began',
  since: { block: 0, logIndex: 0 },
});

export const isEndOfBlock = ({ logIndex }: ChangePosition): boolean => logIndex === AFTER_ALL;

/** A log that ends one delegation and begins another ends the first one first. */
export const STEPS = { ended: 0, began: 1 } as const;

export const comparePositions = (one: ChangePosition, other: ChangePosition): number =>
  one.block - other.block ||
  one.logIndex - other.logIndex ||
  STEPS[one.step] - STEPS[other.step] ||
  one.since.block - other.since.block ||
  one.since.logIndex - other.since.logIndex;
