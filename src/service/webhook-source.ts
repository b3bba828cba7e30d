// Reads the changes for the deliverer of webhooks. While a chain does not move, what one webhook has read serves all that are at the
// same place: with thousands of webhooks, a new block costs a few reads.

import type { WebhookRecord } from '../accounts/webhooks.ts';
import { feedCursorText } from '../http/changes-cursor.ts';
import type { Service } from '../http/service.ts';
import { chainsOf, readBatch } from '../http/webhook-feed.ts';
import type { ChainState, ChangesPage, ChangesQuery } from '../store/store.ts';
import type { ChangeSource } from '../webhooks/deliverer.ts';

/** Webhooks that are behind read different pages: few of them are worth keeping. */
const PAGES_PER_CHAIN = 16;

/** All webhooks of the operator have one turn. */
const OPERATOR = 'operator';

interface KeptPages {
  readonly state: string;
  readonly pages: Map<string, Promise<ChangesPage>>;
}

/** Anything new to deliver changes the revision, makes blocks final, or clears a halt. */
const stateText = ({ revision, verified, halt }: ChainState) => `${revision} ${verified} ${halt === null}`;

export function createWebhookSource({
  store,
  chainIds,
  longLists,
}: Pick<Service, 'store' | 'chainIds' | 'longLists'>): ChangeSource {
  let states: ReadonlyMap<number, string> = new Map();
  const kept = new Map<number, KeptPages>();

  /** In turn with other long reads of this process, as those of the owner. */
  const readPage =
    ({ owner }: WebhookRecord) =>
    (query: ChangesQuery): Promise<ChangesPage> =>
      longLists.read({ id: owner ?? OPERATOR, hasKey: true }, query.limit, () => store.changes(query));
  const readKept =
    (webhook: WebhookRecord) =>
    (query: ChangesQuery): Promise<ChangesPage> => {
      const { chainId, after, isFinal, limit } = query;
      const state = states.get(chainId) ?? '';
      let ofChain = kept.get(chainId);
      if (ofChain?.state !== state || ofChain.pages.size >= PAGES_PER_CHAIN) ofChain = { state, pages: new Map() };
      kept.set(chainId, ofChain);
      const place = after === null ? '' : feedCursorText(new Map([[chainId, after]]), '');
      const key = `${isFinal} ${limit} ${place}`;
      let page = ofChain.pages.get(key);
      if (page === undefined) {
        const { pages } = ofChain;
        page = readPage(webhook)(query);
        // An error is not kept.
        page.catch(() => pages.delete(key));
        pages.set(key, page);
      }
      return page;
    };

  return {
    async observe() {
      states = new Map((await store.chains()).map((chain) => [chain.chainId, stateText(chain)]));
      const texts = new Map<string, string>();
      return (webhook: WebhookRecord) => {
        const name = String(webhook.filter.chainIds);
        const text =
          texts.get(name) ??
          chainsOf(webhook, chainIds)
            .map((chainId) => `${chainId} ${states.get(chainId)}`)
            .join();
        texts.set(name, text);
        return text;
      };
    },
    peek: (webhook, cursor) =>
      readBatch(webhook, cursor, { chainIds, readPage: readKept(webhook), readWanted: readPage(webhook) }),
    read: (webhook, cursor) =>
      readBatch(webhook, cursor, { chainIds, readPage: readPage(webhook), readWanted: readPage(webhook) }),
  };
}
