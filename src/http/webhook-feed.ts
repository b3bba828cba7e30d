// Reads what a webhook has to deliver next, and makes the cursors that a webhook starts or replays from.

import type { WebhookRecord } from '../accounts/webhooks.ts';
import { endOfBlock } from '../store/change-position.ts';
import { StoreError } from '../store/errors.ts';
import type { ChangesCursor, ChangesPage, ChangesQuery } from '../store/store.ts';
import type { Batch } from '../webhooks/deliverer.ts';
import { feedCursorText, readFeedCursor } from './changes-cursor.ts';
import { entriesOf, type Feed, feedIdentity, headOf, isWanted } from './feed.ts';
import type { Service } from './service.ts';

type Subscription = Pick<WebhookRecord, 'filter' | 'at'>;

export interface WebhookSource {
  readonly chainIds: ReadonlySet<number>;
  /** Reads all changes. Webhooks at the same place may share what it read. */
  readonly readPage: (query: Omit<ChangesQuery, 'filter'>) => Promise<ChangesPage>;
  /** Reads only those that a filter wants. */
  readonly readWanted: (query: ChangesQuery) => Promise<ChangesPage>;
}

/** The most entries of a delivery: the largest ones are 120 kB. */
export const MOST_ENTRIES = 100;
const PAGE = 100;
/** After so many changes a batch ends, however few the filters left. */
const MOST_SCANNED = 5000;

const isFinal = ({ at }: Subscription) => at === 'final';

/** The same as of `/registry/any/changes` with the same parameters, so that a receiver can continue there. */
const identityOf = ({ filter, at }: Subscription) =>
  feedIdentity({ ...filter, chainId: filter.chainIds, final: at === 'final' ? 'true' : 'false' });

/** The chains of a webhook that are served. */
export const chainsOf = ({ filter }: Subscription, served: ReadonlySet<number>): readonly number[] =>
  filter.chainIds === 'served'
    ? [...served].sort((one, other) => one - other)
    : filter.chainIds.filter((chainId) => served.has(chainId));

export async function readBatch(
  webhook: Subscription,
  cursor: string,
  { chainIds, readPage, readWanted }: WebhookSource,
): Promise<Batch> {
  const identity = identityOf(webhook);
  const from = readFeedCursor(cursor, identity);
  if (from === null) throw new Error('The cursor of a webhook does not fit its filters.');
  const reached = new Map(from);
  const served = chainsOf(webhook, chainIds);
  const feed: Feed = {
    chainIds: served,
    isFinal: isFinal(webhook),
    filter: webhook.filter,
    mode: 'string',
  };
  const entries: string[] = [];
  let scanned = 0;

  const readRest: typeof readPage = (query) => readWanted({ ...query, filter: feed.filter });
  /** False if the batch is full. */
  const readChain = async (chainId: number): Promise<boolean> => {
    // Near the head one page has everything, for all webhooks.
    for (let read = readPage; ; read = readRest) {
      if (scanned >= MOST_SCANNED) return false;
      const after = reached.get(chainId) ?? null;
      const page = await read({ chainId, after, isFinal: feed.isFinal, limit: PAGE });
      // What is known of a halted chain may be wrong.
      if (page.chain.halt !== null) return true;
      for (const entry of entriesOf(page, chainId)) {
        if (!isWanted(entry, feed)) continue;
        if (entries.length >= MOST_ENTRIES) return false;
        entries.push(entry.text(feed.mode));
        reached.set(chainId, entry.after);
      }
      scanned += page.isEnd && read === readPage ? page.changes.length : PAGE;
      reached.set(chainId, page.next);
      if (page.isEnd) return true;
    }
  };
  let isEnd = true;
  for (const chainId of served) {
    isEnd = await readChain(chainId).catch(ignoreNotStarted);
    if (!isEnd) break;
  }
  return { entries, cursor: feedCursorText(reached, identity), scanned, isEnd };
}

/** A chain without blocks has nothing to deliver. */
function ignoreNotStarted(error: unknown): true {
  if (error instanceof StoreError && error.code === 'not-started') return true;
  throw error;
}

/**
 * The cursor of a new webhook: after everything that is known now. A chain without blocks is absent and starts at its first block,
 * as does a chain that is served later.
 */
export async function startCursor(
  webhook: Subscription,
  service: Pick<Service, 'store' | 'chainIds'>,
): Promise<string> {
  const cursor = new Map<number, ChangesCursor>();
  for (const chainId of chainsOf(webhook, service.chainIds)) {
    const end = await headOf(chainId, { isFinal: isFinal(webhook) }, service).catch(ignoreNotStarted);
    if (end !== true) cursor.set(chainId, end);
  }
  return feedCursorText(cursor, identityOf(webhook));
}

/** Where a replay begins: with all of history, or with a block of one chain. Other chains continue where they are. */
export type ReplayFrom = 'start' | { readonly chainId: number; readonly block: number };

/** The cursor to replay from. Throws a `StoreError` if the chain has no blocks yet. */
export async function replayCursor(
  webhook: Subscription & Pick<WebhookRecord, 'cursor'>,
  from: ReplayFrom,
  { store }: Pick<Service, 'store'>,
): Promise<string> {
  const identity = identityOf(webhook);
  if (from === 'start') return feedCursorText(new Map(), identity);
  const { chain, stamp } = await store.pin(from.chainId);
  const position = endOfBlock(Math.max(-1, from.block - 1));
  const reached = readFeedCursor(webhook.cursor, identity) ?? new Map<number, ChangesCursor>();
  const cursor = new Map([
    ...reached,
    [from.chainId, { position, revision: chain.revision, stamp, final: null }] as const,
  ]);
  return feedCursorText(cursor, identity);
}
