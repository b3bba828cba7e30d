// The point in time that a request asks about, and whether the chain may speak about it.

import type { BlockChoice } from '../api/params.ts';
import { Problem } from '../api/problems.ts';
import { NETWORKS } from '../registry/network.ts';
import { StoreError } from '../store/errors.ts';
import { describeHalt } from '../store/halt.ts';
import type { AnswerBlock, ChainState, Store } from '../store/store.ts';
import { clockBehind, lagOf } from './freshness.ts';
import type { Service } from './reply.ts';

export interface AskedTime {
  readonly block?: BlockChoice | undefined;
  /** Unix seconds. */
  readonly timestamp?: number | undefined;
}

/** How often a time is looked up again because the chain changed between that and the read of its block. */
const TRIES = 5;

/** What was read, and the highest block on which it depends: final if that is. */
export interface ReadAsOf<T> {
  readonly result: T;
  readonly reach: number;
}

/** Reads as of the asked time. An answer about a block that is no longer that of the time is never given. */
export async function readAsOf<T extends { readonly chain: ChainState; readonly block: AnswerBlock }>(
  store: Store,
  chainId: number,
  { block, timestamp }: AskedTime,
  read: (block: number | undefined) => Promise<T>,
): Promise<ReadAsOf<T>> {
  if (timestamp === undefined && block !== 'finalized') {
    const at = numberOrHead(block);
    const result = await read(at);
    // The head is asked for as what is newest: that it is final too does not make it new.
    return { result, reach: at === undefined ? Number.POSITIVE_INFINITY : result.block.number };
  }
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (timestamp === undefined) {
      const at = await finalized(store, chainId);
      const result = await read(at);
      // What was read may know less than what named the block: there it may be another block.
      if ((result.chain.verified ?? -1) >= at) return { result, reach: at };
      continue;
    }
    const found = await store.blockAt(chainId, timestamp);
    const result = await read(found.number);
    const again = await store.blockAt(chainId, timestamp);
    if (again.hash === found.hash && again.hash === result.block.hash) return { result, reach: again.next - 1 };
  }
  throw new Problem('not-yet-indexed', `Chain ${chainId} is being reorganised there.`, { retryAfter: 5 });
}

/** Undefined means the head, whichever it is when it is read. */
const numberOrHead = (block: number | 'latest' | undefined) => (block === 'latest' ? undefined : block);

async function finalized(store: Store, chainId: number): Promise<number> {
  const state = await store.chain(chainId);
  if (state === null || state.verified === null) {
    throw new StoreError('not-started', `Chain ${chainId} has no finalized block yet.`, { chainId });
  }
  return state.verified;
}

/** What ails the nodes of a chain, as the end of a sentence about it; nothing where they are well or not known. */
export function troubleOf({ followerStatus }: Pick<Service, 'followerStatus'>, chainId: number | null): string {
  const chain = followerStatus?.().find((one) => one.chainId === chainId);
  const ill = chain?.providers.filter(({ failure }) => failure !== null) ?? [];
  if (chain === undefined || ill.length < chain.providers.length) return '';
  return ` None of its nodes is well: ${ill.map(({ name, failure }) => `${name} ${failure}`).join(', ')}.`;
}

/** The chain's history is still being read when its newest block is so far above ours. */
const READING_BLOCKS = 100;

/** Refuses to speak about what may be out of date. What depends on final blocks alone stays true however old the head is. */
export function requireFresh(state: ChainState, reach: number, now: number, service: Service): void {
  const { head, verified, chainId, halt, tip, firstBlock } = state;
  if (halt !== null) {
    const { cause } = describeHalt(chainId, halt);
    const members = { chainId, code: halt.code, since: halt.since };
    throw new Problem('chain-halted', `Chain ${chainId} is halted: ${cause}`, { retryAfter: 60, members });
  }
  if (head === null || (verified !== null && reach <= verified)) return;
  const behind = clockBehind(state, now, service);
  const age = lagOf(state, now, service);
  const limit = service.maxLag(chainId);
  if (behind === 0 && age <= limit) return;
  const retryAfter = NETWORKS.get(chainId)?.blockSeconds ?? 10;
  const indexed = { chainId, indexedBlock: head.number, indexedTimestamp: head.timestamp };
  if (behind > 0) {
    throw new Problem(
      'clock-skew',
      `The clock of this machine is ${behind} seconds behind chain ${chainId}, so nobody knows how old its newest block is: check NTP.`,
      { retryAfter: 60, members: { ...indexed, clockBehindSeconds: behind } },
    );
  }
  const members = { ...indexed, ageSeconds: age, maxAgeSeconds: limit };
  if (tip !== null && tip - head.number > READING_BLOCKS) {
    const share = (100 * (head.number - firstBlock + 1)) / (tip - firstBlock + 1);
    throw new Problem(
      'chain-not-ready',
      `The history of chain ${chainId} is being read: block ${head.number} of ${tip}, ${share.toFixed(1)} %.${troubleOf(service, chainId)}`,
      { retryAfter: 10, members: { ...members, chainBlock: tip } },
    );
  }
  throw new Problem(
    'chain-stale',
    `The newest indexed block of chain ${chainId} is ${head.number}, ${age} seconds old; more than ${limit} is too old.${troubleOf(service, chainId)}`,
    { retryAfter, members },
  );
}
