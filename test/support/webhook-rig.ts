// A store with a chain that tests extend, webhooks in the same database, and deliverers over both.

import { openAccounts } from '../../src/accounts/accounts.ts';
import { createLongLists } from '../../src/http/limits/long-lists.ts';
import { openStore } from '../../src/store/open.ts';
import type { BlockInput } from '../../src/store/store.ts';
import { type Deliverer, type DelivererOptions, startDeliverer } from '../../src/webhooks/deliverer.ts';
import { createWebhookSource, startCursor } from '../../src/webhooks/source.ts';
import { createWebhooks, type WebhookFilter, type WebhookRecord } from '../../src/webhooks/webhooks.ts';
import { block } from './fixtures.ts';

export const CHAIN = 1;
const SERVED = new Set([CHAIN]);
const ALL: WebhookFilter = { chainIds: 'served' };
/** Of an attempt. */
export const TIMEOUT_MS = 1000;
/** For attempts that hang. */
const STOP_MS = 200;

type Events = Parameters<typeof block>[1];
interface Extension {
  readonly rollbackTo?: number;
  readonly isFinal?: boolean;
}
interface Created {
  readonly filter?: WebhookFilter;
  readonly at?: WebhookRecord['at'];
  readonly owner?: string;
  readonly isConfirmed?: boolean;
}

export type WebhookRig = Awaited<ReturnType<typeof createWebhookRig>>;

export async function createWebhookRig(url: string, defaults: Pick<DelivererOptions, 'send'>) {
  const store = await openStore(url);
  const accounts = await openAccounts(url);
  const stored = createWebhooks(accounts.engine);
  let state = await store.claim(CHAIN, 1);
  let branch = 0;
  const deliverers: Deliverer[] = [];
  let looks = 0;
  const rig = {
    store,
    accounts,
    webhooks: stored,
    /** Unix milliseconds of all deliverers. */
    clock: Date.now(),
    get state() {
      return state;
    },
    /** Adds a block, which is final. With `rollbackTo`, it replaces what came after that block. */
    async extend(events: Events = [], { rollbackTo, isFinal = true }: Extension = {}): Promise<void> {
      const base = { chainId: CHAIN, epoch: state.epoch, after: state.head };
      if (rollbackTo !== undefined) branch++;
      const head: BlockInput = block((rollbackTo ?? state.head?.number ?? 0) + 1, events, branch);
      const rest = {
        ...(rollbackTo === undefined ? {} : { rollbackTo }),
        ...(isFinal ? { verified: head.number } : {}),
      };
      state = await store.apply({ ...base, blocks: [head], head, ...rest });
    },
    async create(target: string, { filter = ALL, at = 'final', owner, isConfirmed = true }: Created = {}) {
      const cursor = await startCursor({ filter, at }, { store, chainIds: SERVED });
      const made = await stored.create({
        ...{ owner: owner ?? null, label: null, url: target, filter, at, cursor },
        ...{ secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`, now: rig.clock, isConfirmed },
      });
      if (typeof made === 'string') throw new Error(made);
      return made;
    },
    deliver({ webhooks = stored, ...more }: Partial<DelivererOptions> = {}): Deliverer {
      const candidates: typeof webhooks.candidates = (query) => {
        looks++;
        return webhooks.candidates(query);
      };
      const deliverer = startDeliverer({
        webhooks: { ...webhooks, candidates },
        source: createWebhookSource({ store, chainIds: SERVED, longLists: createLongLists() }),
        now: () => rig.clock,
        pollMs: 5,
        timeoutMs: TIMEOUT_MS,
        ...defaults,
        ...more,
      });
      deliverers.push(deliverer);
      return deliverer;
    },
    /** Resolves when the deliverers have looked for work several times more. */
    async rounds(): Promise<void> {
      for (const enough = looks + 5; looks < enough; ) await Bun.sleep(5);
    },
    async close(): Promise<void> {
      await Promise.all(deliverers.map((one) => one.stop(STOP_MS)));
      await accounts.close();
      await store.close();
    },
  };
  return rig;
}
