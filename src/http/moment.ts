// The point in time that a request asks about, and whether the chain may speak about it.

import { NETWORKS } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { BlockRef, ChainState, Store } from '../store/store.ts';
import type { BlockChoice } from './params.ts';
import { Problem } from './problem.ts';

export interface AskedTime {
  readonly block?: BlockChoice | undefined;
  /** Unix seconds. */
  readonly timestamp?: number | undefined;
}

/** The block to read as of; undefined means the head, whichever it is when it is read. */
export interface AsOf {
  readonly block?: number;
  /** What the store must still say about that block when it answers. */
  readonly pinned?: BlockRef;
  readonly timestamp?: number;
}

export async function asOf(store: Store, chainId: number, { block, timestamp }: AskedTime): Promise<AsOf> {
  if (timestamp !== undefined) {
    const pinned = await store.blockAt(chainId, timestamp);
    return { block: pinned.number, pinned, timestamp };
  }
  if (block === undefined || block === 'latest') return {};
  if (block !== 'finalized') return { block };
  const state = await store.chain(chainId);
  if (state === null || state.verified === null) {
    throw new StoreError('not-started', `Chain ${chainId} has no finalized block yet.`);
  }
  return { block: state.verified };
}

/** How old the newest block may be, in seconds. */
export type MaxLag = (chainId: number) => number;

/** Refuses to speak about blocks that may be out of date. What is final stays true however old the head is. */
export function requireFresh(state: ChainState, at: number, now: number, maxLag: MaxLag): void {
  const { head, verified, chainId } = state;
  if (head === null || (verified !== null && at <= verified)) return;
  const age = now - head.timestamp;
  const limit = maxLag(chainId);
  if (age <= limit) return;
  throw new Problem(
    'chain-stale',
    `The newest indexed block of chain ${chainId} is ${head.number}, ${age} seconds old; more than ${limit} is too old.`,
    {
      retryAfter: NETWORKS.get(chainId)?.blockSeconds ?? 10,
      members: {
        chainId,
        indexedBlock: head.number,
        indexedTimestamp: head.timestamp,
        ageSeconds: age,
        maxAgeSeconds: limit,
      },
    },
  );
}
