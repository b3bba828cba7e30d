// What checks and lists share: the point in time, the headers, and the entity tag.

import { Problem } from '../api/problems.ts';
import type { FollowerStatus } from '../chain/follower-status.ts';
import type { Question, QuestionOf } from '../registry/check.ts';
import type { Address } from '../registry/delegation.ts';
import { NETWORKS } from '../registry/network.ts';
import type { Version } from '../registry/versions.ts';
import { StoreError } from '../store/errors.ts';
import type { AnswerBlock, ChainState, Store } from '../store/store.ts';
import type { Developers } from './developers.ts';
import type { MaxLag, Sightings } from './freshness.ts';

export interface Service {
  readonly store: Store;
  /** Unix seconds, with their fraction. */
  readonly now: () => number;
  /** The chains that are served. */
  readonly chainIds: ReadonlySet<number>;
  readonly maxLag: MaxLag;
  /** When this process saw the chains move. */
  readonly sightings: Sightings;
  /** How many seconds a list may be under way. */
  readonly answerTimeout: number;
  /** The chain is a local one, made for trying things out: every answer says so. */
  readonly sandbox?: boolean;
  /** How callers reach the service, where its operator has said so. */
  readonly publicUrl?: string;
  /** Where wallets look after their own keys; absent where the operator gives keys by hand. */
  readonly developers?: Developers;
  /** How the followers stand, where this process knows. */
  readonly followerStatus?: () => readonly FollowerStatus[];
  /** Told of checks at which the answer was no. */
  readonly onDenied?: (chainId: number, question: Question) => void;
  /** Told of what was refused for a revocation that is not settled. */
  readonly onUnread?: (chainId: number, question: QuestionOf<1>) => void;
  /** Told of failures that callers are not told of. */
  readonly onError?: (error: unknown) => void;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

export const CORS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Block-Number, X-Block-Hash, X-Block-Timestamp, X-As-Of-Timestamp, X-Indexed-From, ETag, Link, Retry-After, RateLimit, RateLimit-Policy, X-Sandbox',
};

/** The headers of an answer that is true as of a block. */
export function replyHeaders(
  chain: ChainState,
  block: AnswerBlock,
  now: number,
  asked: { timestamp?: number | undefined },
) {
  const headers: Record<string, string> = {
    ...CORS,
    'content-type': JSON_TYPE,
    'cache-control': cacheControl(chain, now),
    'x-block-number': String(block.number),
  };
  if (block.hash !== null) headers['x-block-hash'] = block.hash;
  if (block.timestamp !== null) headers['x-block-timestamp'] = String(block.timestamp);
  if (chain.partial) headers['x-indexed-from'] = String(chain.firstBlock);
  if (asked.timestamp !== undefined) headers['x-as-of-timestamp'] = String(asked.timestamp);
  return headers;
}

/** An answer may be kept until the chain's next block is due, and no longer. */
function cacheControl({ head, chainId }: ChainState, now: number): string {
  const blockSeconds = NETWORKS.get(chainId)?.blockSeconds ?? 0;
  const due = (head?.timestamp ?? 0) + blockSeconds - now;
  // A head from the future, by a clock that is behind, is no reason to keep an answer longer.
  const seconds = Math.floor(Math.min(due, blockSeconds));
  return seconds > 0 ? `public, max-age=${seconds}` : 'public, no-cache';
}

/** True where the caller has this very answer already. */
export function isKnown(request: Request, etag: string): boolean {
  const asked = request.headers.get('if-none-match');
  if (asked === null) return false;
  return asked.trim() === '*' || asked.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** What to say of a chain without a registry of this version; null where it has one. */
export const missingRegistry = (chainId: number, version: Version): string | null =>
  NETWORKS.get(chainId)?.registries[version] === undefined ? `${chainId} has no v${version} registry` : null;

/** Refuses a chain that is not served, or has no registry of this version. */
export function requireServed(chainId: number, version: Version, chainIds: ReadonlySet<number>): void {
  const detail = chainIds.has(chainId) ? missingRegistry(chainId, version) : `${chainId} is not served here`;
  if (detail === null) return;
  const served = [...chainIds].filter((id) => missingRegistry(id, version) === null);
  throw new Problem('unknown-chain', `chainId: ${detail}.`, {
    errors: [{ parameter: 'chainId', detail }],
    members: { chainIds: served.sort((a, b) => a - b) },
  });
}

/** Waits for an answer about what a wallet was granted; where a revocation stands in its way, that is told. */
export async function tellUnread<T>(
  { chainId, to }: { readonly chainId: number; readonly to: Address },
  { onUnread }: Service,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreError && error.vault !== null) {
      onUnread?.(chainId, { version: 1, scope: 'all', from: error.vault, to });
    }
    throw error;
  }
}
