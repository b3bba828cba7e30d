// Reads what webhooks have to deliver next, and makes the cursors that they start or replay from. While a chain does not move, what
// one webhook has read serves all that are at the same place: with thousands of webhooks, a new block costs a few reads.

import { feedCursorText, readFeedCursor } from '../feed/cursor.ts';
import { beginReading, type Feed, type FeedReading, feedIdentity, headOf, readChain } from '../feed/feed.ts';
import { endOfBlock } from '../store/change-position.ts';
import { StoreError } from '../store/errors.ts';
import type { ChainState, ChangesCursor, ChangesPage, ChangesQuery, Store } from '../store/store.ts';
import type { WebhookRecord } from './webhooks.ts';

type Subscription = Pick<WebhookRecord, 'filter' | 'at'>;
type Subscriber = Subscription & Pick<WebhookRecord, 'owner'>;

/** What comes after a cursor. The cursor moves also if there is nothing: a filter may match nothing. */
export interface Unsent extends Omit<FeedReading, 'cursor'> {
  readonly cursor: string;
  /** Nothing more has happened yet. */
  readonly isEnd: boolean;
}

export interface SourceOptions {
  readonly store: Store;
  readonly chainIds: ReadonlySet<number>;
  /** Lets the long reads of this process take turns. */
  readonly longLists: {
    read<T>(caller: { readonly id: string; readonly hasKey: true }, rows: number, run: () => Promise<T>): Promise<T>;
  };
}

/** The most entries of a delivery: the largest ones are 120 kB. */
export const MOST_ENTRIES = 100;
const PAGE = 100;
/** After so many changes a delivery ends, however few the filters left. */
const BOUNDS = { limit: MOST_ENTRIES, mostScanned: 5000 };
/** Webhooks that are behind read different pages: few of them are worth keeping. */
const PAGES_PER_CHAIN = 16;
/** All webhooks of the operator have one turn. */
const OPERATOR = 'operator';

const isFinal = ({ at }: Subscription) => at === 'final';

/** The same as of `/registry/any/changes` with the same parameters, so that a receiver can continue there. */
const identityOf = (webhook: Subscription) => feedIdentity(webhook.filter.chainIds, webhook.filter, isFinal(webhook));

/** The chains of a webhook that are served. */
export const chainsOf = ({ filter }: Subscription, served: ReadonlySet<number>): readonly number[] =>
  filter.chainIds === 'served'
    ? [...served].sort((one, other) => one - other)
    : filter.chainIds.filter((chainId) => served.has(chainId));

/** Anything new to deliver changes the revision, makes blocks final, or clears a halt. */
const stateText = ({ revision, verified, halt }: ChainState) => `${revision} ${verified} ${halt === null}`;

/** A chain without blocks has nothing to deliver. */
function nullIfNotStarted(error: unknown): null {
  if (error instanceof StoreError && error.code === 'not-started') return null;
  throw error;
}

export type WebhookSource = ReturnType<typeof createWebhookSource>;

export function createWebhookSource({ store, chainIds, longLists }: SourceOptions) {
  let states: ReadonlyMap<number, string> = new Map();
  const kept = new Map<number, { readonly state: string; readonly pages: Map<string, Promise<ChangesPage>> }>();

  /** In turn with other long reads of this process, as those of the owner. */
  const readPage = ({ owner }: Subscriber, query: ChangesQuery): Promise<ChangesPage> =>
    longLists.read({ id: owner ?? OPERATOR, hasKey: true }, query.limit, () => store.changes(query));

  function readKept(webhook: Subscriber, query: ChangesQuery): Promise<ChangesPage> {
    const { chainId, after, isFinal: final } = query;
    const state = states.get(chainId) ?? '';
    let ofChain = kept.get(chainId);
    if (ofChain?.state !== state || ofChain.pages.size >= PAGES_PER_CHAIN) ofChain = { state, pages: new Map() };
    kept.set(chainId, ofChain);
    const { pages } = ofChain;
    const key = `${final} ${after === null ? '' : feedCursorText(new Map([[chainId, after]]), '')}`;
    return pages.getOrInsertComputed(key, () => {
      const page = readPage(webhook, query);
      // An error is not kept.
      page.catch(() => pages.delete(key));
      return page;
    });
  }

  async function readNext(webhook: Subscriber, cursor: string, readFirst: typeof readPage): Promise<Unsent> {
    const identity = identityOf(webhook);
    const from = readFeedCursor(cursor, identity);
    if (from === null) throw new Error('The cursor of a webhook does not fit its filters.');
    const chains = chainsOf(webhook, chainIds);
    const feed: Feed = { chainIds: chains, isFinal: isFinal(webhook), filter: webhook.filter, mode: 'string' };
    const reading = beginReading(from);
    let isEnd = true;
    for (const chainId of chains) {
      let isFirst = true;
      ({ isEnd } = await readChain(feed, chainId, reading, BOUNDS, async ({ filter, ...rest }) => {
        const query = { ...rest, limit: PAGE };
        // Near the head one page without a filter has everything, for all webhooks.
        const read = isFirst ? readFirst(webhook, query) : readPage(webhook, { ...query, ...(filter && { filter }) });
        const page = await read.catch(nullIfNotStarted);
        // What is known of a halted chain may be wrong.
        if (page === null || page.chain.halt !== null) return null;
        const scanned = page.isEnd && isFirst ? page.changes.length : PAGE;
        isFirst = false;
        return { ...page, scanned };
      }));
      if (!isEnd) break;
    }
    return { ...reading, cursor: feedCursorText(reading.cursor, identity), isEnd };
  }

  return {
    /** Returns the state of a webhook's chains: while it stays the same, there is nothing new to deliver. */
    async observe(): Promise<(webhook: Subscription) => string> {
      states = new Map((await store.chains()).map((chain) => [chain.chainId, stateText(chain)]));
      const texts = new Map<string, string>();
      return (webhook) => {
        const name = String(webhook.filter.chainIds);
        const stateOf = (chainId: number) => `${chainId} ${states.get(chainId)}`;
        return texts.getOrInsertComputed(name, () => chainsOf(webhook, chainIds).map(stateOf).join());
      };
    },
    /** What comes after a cursor, as of the last `observe` or later. It may be shared by many webhooks. */
    peek: (webhook: Subscriber, cursor: string) => readNext(webhook, cursor, readKept),
    /** What comes after a cursor now. */
    read: (webhook: Subscriber, cursor: string) => readNext(webhook, cursor, readPage),
  };
}

/**
 * The cursor of a new webhook: after everything that is known now. A chain without blocks is absent and starts at its first block,
 * as does a chain that is served later.
 */
export async function startCursor(webhook: Subscription, options: Pick<SourceOptions, 'store' | 'chainIds'>) {
  const cursor = new Map<number, ChangesCursor>();
  for (const chainId of chainsOf(webhook, options.chainIds)) {
    const end = await headOf(chainId, { isFinal: isFinal(webhook) }, options).catch(nullIfNotStarted);
    if (end !== null) cursor.set(chainId, end);
  }
  return feedCursorText(cursor, identityOf(webhook));
}

/** Where a replay begins: with all of history, or with a block of one chain. Other chains continue where they are. */
export type ReplayFrom = 'start' | { readonly chainId: number; readonly block: number };

/** The cursor to replay from. Throws a `StoreError` if the chain has no blocks yet. */
export async function replayCursor(
  webhook: Subscription & Pick<WebhookRecord, 'cursor'>,
  from: ReplayFrom,
  { store }: Pick<SourceOptions, 'store'>,
): Promise<string> {
  const identity = identityOf(webhook);
  if (from === 'start') return feedCursorText(new Map(), identity);
  const { chain, stamp } = await store.pin(from.chainId);
  const position = endOfBlock(Math.max(-1, from.block - 1));
  const cursor = new Map(readFeedCursor(webhook.cursor, identity));
  cursor.set(from.chainId, { position, revision: chain.revision, stamp, final: null });
  return feedCursorText(cursor, identity);
}
