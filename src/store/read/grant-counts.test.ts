// The lengths of lists, on both engines: every delegation that was ever granted counts once, whatever became of it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import { address, block, ended, granted } from '../../../test/support/fixtures.ts';
import { below, createRandom, pickFrom } from '../../../test/support/random.ts';
import type { Address } from '../../registry/delegation.ts';
import { openStore } from '../open.ts';
import type { Store } from '../store.ts';
import { MOST_SPANS } from './grant-counts.ts';

const WALLETS = [1, 2, 3, 4].map(address);

for (const engine of ENGINES) {
  describe(`counts of grants on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());

    test('are those of the registry after any history, as of every block', async () => {
      const random = createRandom(5);
      const chain = await newChain(store);
      const other = await newChain(store);
      await other.add([block(101, [granted('ALL', { from: address(1), to: address(2) })])]);
      const truths = new Map<number, Map<string, Set<string>>>();
      const ever = new Map<string, Set<string>>();
      for (let number = 101; number < 141; number++) {
        const events = Array.from({ length: below(random, 5) }, () => {
          const fields = {
            from: pickFrom(random, WALLETS),
            to: pickFrom(random, WALLETS),
            version: pickFrom(random, [1, 2] as const),
          };
          const kind = pickFrom(random, ['ALL', 'CONTRACT'] as const);
          const contract = kind === 'ALL' ? null : pickFrom(random, [address(8), address(9)]);
          const isGrant = random() < 0.5;
          if (isGrant && fields.version === 2)
            for (const name of [`outgoing ${fields.from}`, `incoming ${fields.to}`])
              ever.set(name, new Set(ever.get(name)).add(`${fields.from} ${fields.to} ${contract}`));
          return (isGrant ? granted : ended)(kind, { ...fields, contract });
        });
        await chain.add([block(number, events)]);
        truths.set(number, new Map(ever));
      }
      for (const [number, truth] of truths)
        for (const list of ['outgoing', 'incoming'] as const) {
          const { counts, next } = await store.grantCounts(chain.chainId, list, number, null);
          const found = counts.map(({ wallet, count }) => [`${list} ${wallet}`, count]).sort();
          const expected = [...truth].filter(([name]) => name.startsWith(list)).map(([name, of]) => [name, of.size]);
          expect([number, list, found, next]).toEqual([number, list, expected.sort(), null]);
          const one = pickFrom(random, WALLETS);
          const count = await store.grantCount(chain.chainId, { wallet: one, list }, number);
          expect(count).toBe(truth.get(`${list} ${one}`)?.size ?? 0);
        }
    });

    test('come in pages, which leave out a wallet that fills one', async () => {
      const chain = await newChain(store);
      const many = address(50);
      const others = Array.from({ length: 30 }, (_, turn) => address(100 + turn));
      const from = (wallet: Address, count: number) =>
        Array.from({ length: count }, (_, turn) => granted('ALL', { from: wallet, to: address(1000 + turn) }));
      await chain.add([
        block(
          101,
          others.flatMap((wallet) => from(wallet, 150)),
        ),
        block(102, from(many, MOST_SPANS)),
      ]);
      const counted = new Map<string, number>();
      let after: number | null = null;
      let pages = 0;
      do {
        const page: Awaited<ReturnType<Store['grantCounts']>> = await store.grantCounts(
          chain.chainId,
          'outgoing',
          102,
          after,
        );
        for (const { wallet, count } of page.counts) counted.set(wallet, count);
        after = page.next;
        pages++;
      } while (after !== null);
      expect(counted).toEqual(new Map(others.map((wallet) => [wallet, 150])));
      expect(pages).toBeGreaterThan(3);
      expect(await store.grantCount(chain.chainId, { wallet: many, list: 'outgoing' }, 102)).toBeNull();
      expect(await store.grantCount(chain.chainId, { wallet: many, list: 'outgoing' }, 101)).toBe(0);
    });
  });
}
