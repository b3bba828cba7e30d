// Reads as of the requested block or time, and refuses what may be out of date.

import type { BlockChoice } from '../../api/params.ts';
import { BACKFILL_BLOCKS, Problem } from '../../api/problems.ts';
import { isIndexOf } from '../../registry/custom-network.ts';
import type { Address, Bytes32 } from '../../registry/delegation.ts';
import { NETWORKS } from '../../registry/network.ts';
import { StoreError } from '../../store/errors.ts';
import { describeHalt, findDispute } from '../../store/halt.ts';
import type { AnswerBlock, ChainState, ChosenBlock, Pinned, Store } from '../../store/store.ts';
import { awaitsConfirmation, clockAhead, clockBehind, confirmedShare, lagOf } from './freshness.ts';
import type { Service } from './service.ts';

/** The requested point in time. */
export interface AsOf {
  readonly block?: BlockChoice | undefined;
  /** Unix seconds. */
  readonly timestamp?: number | undefined;
}

/**
 * Reads as of the requested time. Never answers from a block that is no longer the block of that time. `reach` is the highest block
 * that the result depends on: it is final if that block is.
 */
export async function readAsOf<T extends { readonly chain: ChainState; readonly block: AnswerBlock }>(
  store: Store,
  chainId: number,
  { block, timestamp }: AsOf,
  read: (block: number | undefined) => Promise<T>,
): Promise<{ readonly result: T; readonly reach: number }> {
  if (timestamp === undefined && block !== 'finalized') {
    const at = blockNumber(block);
    const result = await read(at);
    // A request for the newest block depends on the head being fresh, even if the indexed head is final.
    return { result, reach: at === undefined ? Number.POSITIVE_INFINITY : result.block.number };
  }
  // The chain may change between the lookup of a time and the read of its block.
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (timestamp === undefined) {
      const at = await finalized(store, chainId);
      const result = await read(at);
      const verified = result.chain.verified ?? -1;
      // The read may come from a replica that is behind and has another block at this height. A newer block may be finalized
      // meanwhile: then the hash of this one may not be kept any more.
      if (verified === at || (verified > at && result.block.hash !== null)) return { result, reach: at };
      continue;
    }
    const found = await store.blockAt(chainId, timestamp);
    const result = await read(found.number);
    const again = await store.blockAt(chainId, timestamp);
    if (again.hash === found.hash && again.hash === result.block.hash) return { result, reach: again.next - 1 };
  }
  throw reorganizing(`Chain ${chainId} is being reorganized at that time. Retry.`);
}

/** Undefined means the head at the time of the read. */
const blockNumber = (block: number | 'latest' | undefined) => (block === 'latest' ? undefined : block);

async function finalized(store: Store, chainId: number): Promise<number> {
  const state = await store.chain(chainId);
  if (state === null || state.verified === null) throw noFinalizedBlock(chainId);
  return state.verified;
}

const noFinalizedBlock = (chainId: number) =>
  new StoreError('not-started', `Chain ${chainId} has no finalized block yet.`, { chainId });

/** Says that all providers of a chain are unhealthy, as the end of a message about it; empty if some are healthy or unknown. */
export function providerTrouble({ followerStatus }: Pick<Service, 'followerStatus'>, chainId: number | null): string {
  const chain = followerStatus?.().find((one) => one.chainId === chainId);
  const unhealthy = chain?.providers.filter(({ cause }) => cause !== null) ?? [];
  if (chain === undefined || unhealthy.length < chain.providers.length) return '';
  return ` All of its providers are unhealthy: ${unhealthy.map(({ name, cause }) => `${name} ${cause}`).join(', ')}.`;
}

/** The wallet that an answer is about. */
export type About = Parameters<typeof findDispute>[1];

/** The problem of a disputed wallet; null if it is not disputed. */
export function findWalletDispute({ chainId, disputes }: ChainState, about: About): Problem | null {
  const dispute = disputes.length === 0 ? undefined : findDispute(disputes, about);
  if (dispute === undefined) return null;
  const { vault, since, block } = dispute;
  return new Problem(
    'wallet-disputed',
    `What ${vault} has granted on chain ${chainId} is disputed since block ${block}: providers or the registry contradict the index.`,
    { retryAfter: 60, fields: { chainId, since } },
  );
}

/** Until this process has read what another one indexes, a "no" could be about a registry that is not indexed. */
function requireSameRegistries({ chainId, network: stored }: ChainState): void {
  const network = NETWORKS.get(chainId);
  if (network === undefined || isIndexOf(network, stored)) return;
  throw new StoreError('not-started', `Chain ${chainId} is not indexed with its registries yet.`, { chainId });
}

/**
 * Throws a problem if the answer may be out of date, or is about a disputed wallet. What depends on final blocks alone is true
 * however old the head is.
 */
export function requireFresh(state: ChainState, reach: number, now: number, service: Service, about?: About | null) {
  requireSameRegistries(state);
  const disputed = about ? findWalletDispute(state, about) : null;
  if (disputed !== null) throw disputed;
  const { head, verified, chainId, halt, tip, firstBlock, imported } = state;
  if (halt !== null) {
    const { cause } = describeHalt(chainId, halt);
    const fields = { chainId, code: halt.code, since: halt.since };
    throw new Problem('chain-halted', `Chain ${chainId} is halted: ${cause}`, { retryAfter: 60, fields });
  }
  if (imported !== null && awaitsConfirmation(state, service))
    throw new Problem(
      'chain-not-ready',
      `Chain ${chainId} was imported, and is answered when all of it is confirmed: ${Math.floor(100 * confirmedShare(state, imported))} %.`,
      { retryAfter: 10, fields: { chainId } },
    );
  if (head === null || (verified !== null && reach <= verified)) return;
  const behind = clockBehind(state, now, service);
  const age = lagOf(state, now, service);
  const limit = service.maxLag(chainId);
  if (behind === 0 && age <= limit && !state.proving) return;
  const retryAfter = NETWORKS.get(chainId)?.blockSeconds ?? 10;
  const indexed = { chainId, indexedBlock: head.number, indexedTimestamp: head.timestamp };
  if (behind > 0) {
    throw new Problem(
      'clock-skew',
      `The clock of the server is ${behind} seconds behind chain ${chainId}, so the age of its newest block is unknown. Check NTP.`,
      { retryAfter: 60, fields: { ...indexed, clockBehindSeconds: behind } },
    );
  }
  const fields = { ...indexed, ageSeconds: age, maxAgeSeconds: limit };
  if (state.proving)
    throw new Problem(
      'chain-not-ready',
      `Chain ${chainId} is being proven: the logs of its newest blocks are checked against their hashes.`,
      { retryAfter: 5, fields: { ...fields, chainBlock: tip ?? head.number } },
    );
  if (tip !== null && tip - head.number > BACKFILL_BLOCKS) {
    const share = (100 * (head.number - firstBlock + 1)) / (tip - firstBlock + 1);
    throw new Problem(
      'chain-not-ready',
      `Chain ${chainId} is backfilling: block ${head.number} of ${tip}, ${share.toFixed(1)} %.${providerTrouble(service, chainId)}`,
      { retryAfter: 10, fields: { ...fields, chainBlock: tip } },
    );
  }
  const why =
    clockAhead(state, now, service) > 0
      ? ` New blocks come, and are that old: the server's clock is ahead, or all providers are behind.`
      : providerTrouble(service, chainId);
  throw new Problem(
    'chain-stale',
    `Chain ${chainId} is stale: its newest indexed block ${head.number} is ${age} seconds old, and the limit is ${limit} seconds.${why}`,
    { retryAfter, fields },
  );
}

/** The block that a chain is read as of. */
export interface PinnedBlock {
  readonly chainId: number;
  /** The requested time, if it was a time. */
  readonly timestamp: number | undefined;
  readonly at: ChosenBlock & { readonly seen: number };
  readonly block: AnswerBlock;
  readonly chain: ChainState;
  readonly stamp: number;
  /** As in `readAsOf`. */
  readonly reach: number;
}

export interface Pinning {
  readonly about?: About | null;
  /** The block of a cursor, in place of what was requested. */
  readonly chosen?: ChosenBlock | null;
}

/** Throws if the chain does not answer for the block now. */
export async function pinBlock(chainId: number, asOf: AsOf, service: Service, pinning: Pinning = {}) {
  const { store } = service;
  const requested = pinning.chosen ? { block: pinning.chosen.block } : asOf;
  const { result, reach } = await readAsOf(store, chainId, requested, (at) => store.pin(chainId, at));
  return { ...pinnedBy(result, reach, service, pinning), chainId, timestamp: asOf.timestamp };
}

/** The same for a block that was just read. */
export function pinnedBy(
  { chain, stamp, block }: Pinned,
  reach: number,
  service: Service,
  { about, chosen = null }: Pinning,
): PinnedBlock {
  requireFresh(chain, reach, service.now(), service, about);
  // The block and what is read as of it may come from two replicas: the second must not be behind the first.
  const at = { ...(chosen ?? { block: block.number, revision: chain.revision, stamp }), seen: chain.revision };
  return { chainId: chain.chainId, timestamp: undefined, at, block, chain, stamp, reach };
}

/** A block whose hash is known, at which tokens can be read. */
export interface ExactBlock extends PinnedBlock {
  readonly block: AnswerBlock & { readonly hash: Bytes32 };
}

export async function pinExact(...args: Parameters<typeof pinBlock>): Promise<ExactBlock> {
  const [chainId, asOf, , { chosen = null } = {}] = args;
  const pinned = await pinBlock(...args);
  const { block, reach } = pinned;
  const { number, hash } = block;
  // Tokens can change hands in blocks that are not kept, between the kept block and the time.
  const isExact = chosen !== null || asOf.timestamp === undefined || reach === number;
  if (hash === null || !isExact)
    throw new Problem(
      'block-not-kept',
      `The index of chain ${chainId} has no hash of the requested block, so tokens cannot be read at it. Use block=latest or block=finalized.`,
      { fields: { chainId, block: number } },
    );
  return { ...pinned, block: { ...block, hash } };
}

/** The index has no time of a block, and the answer depends on it. */
export const timeNotKept = ({ chainId, block: { number } }: Pick<PinnedBlock, 'chainId' | 'block'>) =>
  new Problem(
    'block-not-kept',
    `The index of chain ${chainId} has no timestamp of the requested block, on which the answer depends. Use block=latest or block=finalized.`,
    { fields: { chainId, block: number } },
  );

/** The same, and refuses a block that is not indexed, which reading rows as of it would do. */
export async function pinIndexed(...args: Parameters<typeof pinBlock>): Promise<PinnedBlock> {
  const pinned = await pinBlock(...args);
  const [chainId, , { store }] = args;
  await store.checkMany(chainId, [], pinned.at);
  return pinned;
}

/** Throws a problem if the changes of a chain may be out of date. They depend on the newest block, or on the newest final one. */
export function requireCurrent(chain: ChainState, { isFinal }: { readonly isFinal: boolean }, service: Service): void {
  const reach = isFinal ? (chain.verified ?? -1) : Number.POSITIVE_INFINITY;
  requireFresh(chain, reach, service.now(), service);
  if (isFinal && chain.verified === null) throw noFinalizedBlock(chain.chainId);
}

export const TRIES = 5;

export const isRewritten = (error: unknown): boolean => error instanceof StoreError && error.code === 'rewritten';

export const reorganizing = (detail: string) => new Problem('not-yet-indexed', detail, { retryAfter: 5 });
export const chainReorganizing = (chainId: number) => reorganizing(`Chain ${chainId} is being reorganized. Retry.`);

/** Runs until it is not interrupted; throws the problem after the last attempt. */
export async function retryRewritten<T>(
  run: () => Promise<T>,
  problem: () => Problem,
  isInterrupted: (error: unknown) => boolean = isRewritten,
): Promise<T> {
  for (let left = TRIES; ; left--) {
    try {
      return await run();
    } catch (error) {
      if (!isInterrupted(error)) throw error;
      if (left === 1) throw problem();
    }
  }
}

/** Waits for an answer about what wallet `to` was granted. */
export const reportUnread = <T>(
  { chainId, to }: { readonly chainId: number; readonly to: Address },
  { onUnread }: Service,
  work: Promise<T>,
): Promise<T> =>
  work.catch((error) => {
    if (error instanceof StoreError && error.vault !== null)
      onUnread?.(chainId, { version: 1, scope: 'all', from: error.vault, to });
    throw error;
  });
