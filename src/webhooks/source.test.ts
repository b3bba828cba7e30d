// Tests what a webhook delivers next, and where it starts.

import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../../test/support/engines.ts';
import { address, block, granted, HOT, timeOf } from '../../test/support/fixtures.ts';
import { appOf } from '../../test/support/serving.ts';
import { createLongLists } from '../http/limits/long-lists.ts';
import { openStore } from '../store/open.ts';
import type { BlockInput, Store } from '../store/store.ts';
import { createWebhookSource, MOST_ENTRIES, replayCursor, startCursor } from './source.ts';
import type { WebhookFilter, WebhookRecord } from './webhooks.ts';

const CHAIN = 1;
const chainIds = new Set([CHAIN]);
const SERVED: WebhookFilter = { chainIds: 'served' };
const MAX = 2n ** 256n - 1n;

/** Indexes a block with grants, the newest of which is final. */
async function extend(store: Store, count: number, fields = {}): Promise<void> {
  const { head, epoch } = await store.claim(CHAIN, 1);
  const number = (head?.number ?? 0) + 1;
  const events = Array.from({ length: count }, (_, turn) =>
    granted('ERC1155', { from: address(number * 10_000 + turn), ...fields }),
  );
  const next: BlockInput = block(number, events);
  await store.apply({ chainId: CHAIN, epoch, after: head, blocks: [next], head: next, verified: number });
}

/** Chain, position, revision and stamp of each chain: a new cursor does not know the final block yet. */
const placeOf = (cursor: string) =>
  Buffer.from(cursor, 'base64url')
    .toString()
    .split(',')
    .map((field) => field.replace(/(-\w+\.\w+)\.[\w.]+$/, '$1'))
    .join();

for (const engine of ENGINES) {
  describe(`what a webhook delivers on ${engine.name}`, () => {
    const withStore = async (work: (store: Store) => Promise<void>) => {
      const store = await openStore(await engine.fresh());
      await work(store).finally(store.close);
    };
    const read = (store: Store, webhook: Pick<WebhookRecord, 'filter' | 'at'>, cursor: string) =>
      createWebhookSource({ store, chainIds, longLists: createLongLists() }).read({ ...webhook, owner: null }, cursor);

    test('a chain without blocks is delivered from its first block on', () =>
      withStore(async (store) => {
        for (const at of ['final', 'head'] as const) {
          const webhook = { filter: SERVED, at };
          const cursor = await startCursor(webhook, { store, chainIds });
          expect(await read(store, webhook, cursor)).toEqual({ texts: [], count: 0, cursor, scanned: 0, isEnd: true });
        }
        const webhook = { filter: SERVED, at: 'head' as const };
        const cursor = await startCursor(webhook, { store, chainIds });
        await extend(store, 3);
        const unsent = await read(store, webhook, cursor);
        expect([unsent.count, unsent.isEnd]).toEqual([3, true]);
        expect(placeOf(await startCursor(webhook, { store, chainIds }))).toBe(placeOf(unsent.cursor));
        await expect(replayCursor({ ...webhook, cursor }, { chainId: 10, block: 1 }, { store })).rejects.toMatchObject({
          code: 'not-started',
        });
      }));

    test('a delivery has at most a hundred entries, and the largest ones have 120 kB', () =>
      withStore(async (store) => {
        const webhook = { filter: SERVED, at: 'final' as const };
        const cursor = await startCursor(webhook, { store, chainIds });
        const largest = { tokenId: MAX, amount: MAX, rights: `0x${Buffer.from('é'.repeat(16)).toString('hex')}` };
        await extend(store, 250, largest);
        const sizes: number[] = [];
        for (let at = cursor; ; ) {
          const unsent = await read(store, webhook, at);
          if (unsent.count > 0) sizes.push(unsent.count);
          expect(Buffer.byteLength(unsent.texts.join())).toBeLessThan(120_000);
          at = unsent.cursor;
          if (unsent.isEnd) break;
        }
        expect(sizes).toEqual([MOST_ENTRIES, MOST_ENTRIES, 50]);
      }));

    test('a filter that matches nothing moves the cursor to the end, and costs two pages of any history', () =>
      withStore(async (store) => {
        const webhook = { filter: { ...SERVED, to: address(0xdead) }, at: 'head' as const };
        const cursor = await startCursor(webhook, { store, chainIds });
        await extend(store, 5200);
        const found = await read(store, webhook, cursor);
        expect([found.texts, found.scanned, found.isEnd]).toEqual([[], 200, true]);
        expect(placeOf(found.cursor)).toBe(placeOf(await startCursor(webhook, { store, chainIds })));
      }));

    test('filters that together match nothing end a delivery after many changes', () =>
      withStore(async (store) => {
        const combined = { filter: { ...SERVED, to: HOT, contract: address(0xdead) }, at: 'head' as const };
        const cursor = await startCursor(combined, { store, chainIds });
        await extend(store, 5200);
        const first = await read(store, combined, cursor);
        expect([first.texts, first.scanned, first.isEnd]).toEqual([[], 5000, false]);
        const last = await read(store, combined, first.cursor);
        expect([last.texts, last.isEnd]).toEqual([[], true]);
      }));

    test('a receiver can continue at /registry/any/changes with the cursor of a delivery', () =>
      withStore(async (store) => {
        const webhook = { filter: { chainIds: [CHAIN], from: address(20_000) }, at: 'final' as const };
        const cursor = await startCursor(webhook, { store, chainIds });
        await extend(store, 1);
        const { cursor: after } = await read(store, webhook, cursor);
        await extend(store, 2);
        const query = `chainId=1&from=${address(20_000)}&final=true&numbers=string&cursor=${after}`;
        const response = await appOf(store, timeOf(2)).fetch(
          new Request(`http://localhost/registry/any/changes?${query}`),
        );
        const { changes } = (await response.json()) as { changes: unknown[] };
        const unsent = await read(store, webhook, after);
        expect([response.status, changes]).toEqual([200, JSON.parse(`[${unsent.texts}]`)]);
        expect(changes).toHaveLength(1);
      }));
  });
}
