// The point in time that a request asks about, and whether the chain may speak about it.

import { NETWORKS } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import type { BlockRef, ChainState, Moment, Store } from '../store/store.ts';
import type { BlockChoice } from './params.ts';
import { Problem } from './problem.ts';

export interface AskedTime {
  readonly block?: BlockChoice | undefined;
  /** Unix seconds. */
  readonly timestamp?: number | undefined;
}

/** The block to read as of; undefined means the head, whichever it is when it is read. */
interface AsOf {
  readonly block?: number;
  /** What the store must still say about that block when it answers. */
  readonly pinned?: BlockRef;
}

async function asOf(store: Store, chainId: number, { block, timestamp }: AskedTime): Promise<AsOf> {
  if (timestamp !== undefined) {
    const pinned = await store.blockAt(chainId, timestamp);
    return { block: pinned.number, pinned };
  }
  if (block === undefined || block === 'latest') return {};
  if (block !== 'finalized') return { block };
  const state = await store.chain(chainId);
  if (state === null || state.verified === null) {
    throw new StoreError('not-started', `Chain ${chainId} has no finalized block yet.`);
  }
  return { block: state.verified };
}

/** How often a time is looked up again because a reorg came between it and its block. */
const TRIES = 5;

/** Reads as of the asked time. An answer about a block that is no longer that of the time is never given. */
export async function readAsOf<T extends { readonly block: Moment }>(
  store: Store,
  chainId: number,
  asked: AskedTime,
  read: (block: number | undefined) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { block, pinned } = await asOf(store, chainId, asked);
    const result = await read(block);
    if (pinned === undefined || pinned.hash === result.block.hash) return result;
  }
  throw new Problem('not-yet-indexed', `Chain ${chainId} is being reorganised around that time.`, { retryAfter: 5 });
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
