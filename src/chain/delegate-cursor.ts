// Pages through the delegates that a v1 revocation may have ended, and remembers the position for the next tick.

import type { Address } from '../registry/delegation.ts';
import type { Revocation } from '../store/store.ts';
import type { FollowerContext } from './context.ts';

/** The delegates of one revocation to settle now. */
export interface RevocationTask {
  readonly revocation: Revocation;
  readonly delegates: readonly Address[];
  /** There are no delegates after these. */
  readonly isLast: boolean;
  /** The position of the last delegate. */
  readonly position: number;
}

export function createDelegateCursor({ network, store }: FollowerContext) {
  const positions = new Map<string, number>();
  const keyOf = ({ vault, block }: Revocation) => `${vault} ${block.hash}`;

  return {
    /** The requested delegates, then the next `limit` ones that held at block `at`. */
    async next(
      revocation: Revocation,
      at: number,
      requested: readonly Address[],
      limit: number,
    ): Promise<RevocationTask> {
      const { vault, block, logIndexes } = revocation;
      const before = { block: block.number, logIndex: logIndexes.at(-1) ?? 0 };
      const after = positions.get(keyOf(revocation)) ?? -1;
      const found = await store.v1Delegates({ chainId: network.chainId, vault, before, at, after, limit });
      const delegates = [...new Set([...requested, ...found.map(({ delegate }) => delegate)])];
      return { revocation, delegates, isLast: found.length < limit, position: found.at(-1)?.place ?? after };
    },
    advance(revocation: Revocation, position: number) {
      positions.set(keyOf(revocation), position);
    },
    reset(revocation: Revocation) {
      positions.delete(keyOf(revocation));
    },
  };
}

export type DelegateCursor = ReturnType<typeof createDelegateCursor>;
