// Reads what changed on several chains after a cursor. Each chain answers for itself: with its block, or with its problem.

import type { Problem } from '../api/problems.ts';
import type { AnswerBlock, ChainState } from '../store/store.ts';
import { requireCurrent } from './as-of.ts';
import type { Call } from './call.ts';
import type { FeedCursor } from './changes-cursor.ts';
import { entriesOf, type Feed, headOf } from './feed.ts';
import { type LongList, ROW_WEIGHT } from './long-lists.ts';
import { problemOf } from './problem-of.ts';

/** How many changes are read at once, and after how many a page is sent, however few the filters left. */
const SCAN = 250;
const MAX_SCANNED = 10_000;

export interface FeedPage {
  /** Changes and undos as JSON: those of one read together, with commas between them. */
  readonly entries: readonly string[];
  readonly cursor: FeedCursor;
  readonly parts: readonly ChainPart[];
  /** Nothing more has happened yet on the chains that answered. */
  readonly isEnd: boolean;
}

export type ChainPart =
  | { readonly chainId: number; readonly block: AnswerBlock; readonly indexedFrom?: number }
  | { readonly chainId: number; readonly problem: Problem };

interface From {
  readonly cursor: FeedCursor;
  /** Where a chain that is not in the cursor starts. */
  readonly start: 'first' | 'head';
  readonly limit: number;
}

export async function readFeed(
  feed: Feed,
  { cursor, start, limit }: From,
  { request, service, caller, failed }: Pick<Call, 'request' | 'service' | 'caller' | 'failed'>,
): Promise<FeedPage> {
  const entries: string[] = [];
  const parts: ChainPart[] = [];
  const reached = new Map(cursor);
  let [listed, scanned, isEnd] = [0, 0, true];
  const long: { list: LongList | null } = { list: null };

  const readChain = async (chainId: number): Promise<ChainState> => {
    // A chain that does not answer now must not start at a later head.
    if (start === 'head' && !reached.has(chainId)) reached.set(chainId, await headOf(chainId, feed, service));
    let after = reached.get(chainId) ?? null;
    for (;;) {
      if (listed >= limit || scanned >= MAX_SCANNED || request.signal.aborted) {
        isEnd = false;
        const { chain } = await service.store.pin(chainId);
        requireCurrent(chain, feed, service);
        return chain;
      }
      const wanted = limit - listed;
      // Where filters are combined, many are read for the few that are wanted.
      const scan = scanned > listed ? SCAN : Math.min(wanted, SCAN);
      const query = { chainId, after, isFinal: feed.isFinal, filter: feed.filter, limit: scan };
      const read = () => service.store.changes(query);
      if (scanned > 0) long.list ??= await service.longLists.beginWhole(caller());
      const page = await (long.list === null ? read() : long.list.read(ROW_WEIGHT * query.limit, read));
      requireCurrent(page.chain, feed, service);
      const found = entriesOf(page, chainId);
      const last = found.length > wanted ? found[wanted - 1] : undefined;
      const texts = found.slice(0, wanted).map((entry) => entry.text(feed.mode));
      // Between reads, because all at once they would keep others waiting. Joined, because each text consists of dozens of others.
      if (texts.length > 0) entries.push(texts.join(','));
      listed += texts.length;
      scanned += page.isEnd ? page.changes.length : query.limit;
      after = last?.after ?? page.next;
      reached.set(chainId, after);
      if (page.isEnd && last === undefined) return page.chain;
    }
  };
  try {
    for (const chainId of feed.chainIds) {
      try {
        parts.push(partOf(feed, await readChain(chainId)));
      } catch (error) {
        const problem = problemOf(error, service, failed);
        // It is the caller's, not the chain's.
        if (problem.type === 'too-many-requests') throw problem;
        parts.push({ chainId, problem });
      }
    }
  } finally {
    long.list?.end();
  }
  return { entries, cursor: reached, parts, isEnd };
}

function partOf({ isFinal }: Feed, { chainId, head, verified, partial, firstBlock }: ChainState): ChainPart {
  const { number, hash, timestamp } = head ?? { number: -1, hash: null, timestamp: null };
  const isOwn = !isFinal || verified === number;
  const block = isOwn ? { number, hash, timestamp } : { number: verified ?? -1, hash: null, timestamp: null };
  return { chainId, block, ...(partial ? { indexedFrom: firstBlock } : {}) };
}
