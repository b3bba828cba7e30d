// A span that ends in the block where it began was never active at the end of a block: the store must not keep or return it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { questionFor } from '../src/registry/check.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { asksAll, asksV1, newChain } from './support/chain.ts';
import { ENGINES } from './support/engines.ts';
import { block, COLD, delegation, ended, granted, HOT, settlement } from './support/fixtures.ts';
import { runSql } from './support/run-sql.ts';

const EMPTY_SPANS = 'SELECT count(*) AS number FROM span WHERE since_block = until_block';
/** Copies a span with its start moved to the block that ended it. */
const addEmpty = (places = '') => `INSERT INTO span SELECT chain, until_block, 99, cold, hot, key, version, kind,
  from_addr, to_addr, contract, token_id, rights, amount, until_block${places} FROM span WHERE until_block IS NOT NULL`;

for (const engine of ENGINES) {
  describe(`empty spans on ${engine.name}`, () => {
    let url: string;
    let store: Store;
    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
    });
    afterAll(() => store.close());
    const emptySpans = async (of = url) => Number((await runSql(of, EMPTY_SPANS))[0]?.['number']);

    test('a grant that a later state read shows revoked in the same block leaves no empty span', async () => {
      const chain = await newChain(store);
      const all = delegation('ALL', { version: 1 });
      await chain.add([block(105, [granted('ALL', all)])]);
      await chain.add([block(110, [ended('ALL', all), granted('ALL', all), { type: 'unknownRevoked', from: COLD }])]);
      await chain.add([block(120)]);
      const pairs = [{ delegate: HOT, endedBy: 2 }];
      await chain.settle(settlement(110, {}, { pairs, readAt: 120 }));
      expect(await emptySpans()).toBe(0);
      expect(await chain.answers(asksV1, 105, 109, 120)).toEqual([true, true, false]);
    });

    test('a stored empty span does not hide other spans', async () => {
      const chain = await newChain(store);
      await chain.add([block(105, [granted('ALL')]), block(110, [ended('ALL')]), block(120)]);
      // The empty span is first in the table, and so first among equals.
      await runSql(url, `CREATE TABLE kept AS SELECT * FROM span WHERE chain = ${chain.chainId}`);
      await runSql(url, `DELETE FROM span WHERE chain = ${chain.chainId}`);
      await runSql(url, addEmpty(', first_block, first_log, casing, until_log').replace('FROM span', 'FROM kept'));
      await runSql(url, 'INSERT INTO span SELECT * FROM kept');
      expect(await emptySpans()).toBeGreaterThan(0);
      expect(await chain.answers(asksAll, 104, 105, 109, 110)).toEqual([false, true, true, false]);
      const at = { block: 109, revision: chain.state.revision };
      expect(await store.checkMany(chain.chainId, [asksAll], at)).toEqual([true]);
      expect(await chain.list(109)).toHaveLength(1);
      expect(await chain.list(110)).toEqual([]);
    });

    test('a first v2 grant that ended in its own block keeps its place, and never held', async () => {
      const chain = await newChain(store);
      const token = (tokenId: bigint) => delegation('ERC721', { tokenId });
      const grant = (tokenId: bigint) => granted('ERC721', token(tokenId));
      await chain.add([block(105, [grant(1n), ended('ERC721', token(1n)), grant(2n)]), block(106)]);
      await chain.add([block(110, [grant(1n)]), block(120)]);
      const ids = async (at: number) => (await chain.list(at)).map(({ tokenId }) => tokenId);
      const asks = questionFor(token(1n));
      const expectRight = async () => {
        expect([await ids(105), await ids(109), await ids(110)]).toEqual([[2n], [2n], [1n, 2n]]);
        expect(await chain.answers(asks, 104, 105, 109, 110)).toEqual([false, false, false, true]);
        const at = { block: 105, revision: chain.state.revision };
        expect(await store.checkMany(chain.chainId, [asks], at)).toEqual([false]);
      };
      await expectRight();
      // The place survives a rollback to the block of the first grant, and later ones.
      for (const rollbackTo of [106, 105]) {
        await chain.add([block(109, [], rollbackTo), block(110, [grant(1n)], rollbackTo)], { rollbackTo });
        await expectRight();
      }
      await store.rebuild(chain.chainId);
      await chain.repair([block(105, [grant(1n), ended('ERC721', token(1n)), grant(2n)])]);
      await expectRight();
    });
  });
}
