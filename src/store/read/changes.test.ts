// Reads changes from a store, on both engines: what a reader that follows them holds is what a reader from nothing holds.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain as chainIn, failure } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import { createFeedReader } from '../../../test/support/feed-reader.ts';
import {
  address,
  block,
  COLD,
  CONTRACT,
  delegation,
  ended,
  granted,
  HOT,
  hash,
  revocation,
  settlement,
} from '../../../test/support/fixtures.ts';
import { runSql } from '../../../test/support/run-sql.ts';
import { openStore } from '../open.ts';
import type { Change, ChangesCursor, Store } from '../store.ts';

const v1All = delegation('ALL', { version: 1 });
const GRANT = block(101, [granted('ALL', v1All)]);

for (const engine of ENGINES) {
  describe(`changes on ${engine.name}`, () => {
    let [store, url]: [Store, string] = [null as never, ''];
    beforeAll(async () => {
      url = await engine.fresh();
      store = await openStore(url);
    });
    afterAll(() => store.close());

    async function newChain() {
      const chain = await chainIn(store);
      const { chainId } = chain;
      const read = (after: ChangesCursor | null, limit: number) =>
        store.changes({ chainId, after, isFinal: false, limit });
      const reader = createFeedReader(read);
      /** Follows the feed, and compares it with the one from nothing. Gives the entries. */
      const follow = async () => {
        await reader.follow(2);
        const fromNothing = createFeedReader(read);
        await fromNothing.follow(100);
        expect(reader.lines()).toEqual(fromNothing.lines());
        return reader.entries().map(({ type, block: { number }, logIndex }) => `${type} ${number}.${logIndex}`);
      };
      return { chain, chainId, read, reader, follow };
    }

    test('what a later state had ended is undone if a reorg discards that state', async () => {
      const { chain, follow } = await newChain();
      await chain.add([GRANT, revocation(103), block(110)]);
      await chain.settle(settlement(103, { [HOT]: true }, { readAt: 110 }));
      expect(await follow()).toEqual(['began 101.0', 'ended 103.0']);
      await chain.add([block(109, [], 1)], { rollbackTo: 108 });
      expect(await follow()).toEqual(['began 101.0']);
      // On the new branch the state shows that it was another delegate.
      await chain.settle(settlement(103, { [HOT]: false }, { readAt: 109 }));
      expect(await follow()).toEqual(['began 101.0']);
    });

    test('what a later state had ended is undone if a repair in between discards that state', async () => {
      const { chain, follow } = await newChain();
      await chain.add([GRANT, revocation(103), block(105), block(110)]);
      await chain.settle(settlement(103, { [HOT]: true }, { readAt: 110 }));
      expect(await follow()).toEqual(['began 101.0', 'ended 103.0']);
      await chain.repair([block(105, [granted('ALL', { ...v1All, to: delegation('ALL').from })])]);
      expect(await follow()).toEqual(['began 101.0', 'began 105.0']);
      await chain.settle(settlement(103, { [HOT]: false }, { readAt: 110 }));
      expect(await follow()).toEqual(['began 101.0', 'began 105.0']);
    });

    test('what one part of a settlement had ended is undone if the settlement is discarded', async () => {
      const { chain, chainId, follow } = await newChain();
      await chain.add([GRANT, revocation(103), block(110)]);
      await chain.settle(settlement(103, { [HOT]: true }, { readAt: 110, complete: false }));
      expect(await follow()).toEqual(['began 101.0', 'ended 103.0']);
      await store.unsettle(chainId, chain.state.epoch, v1All.from, 105);
      expect(await follow()).toEqual(['began 101.0']);
    });

    test('one log that changes an amount is one change; a revocation and a grant are two', async () => {
      const { chain, follow, reader } = await newChain();
      const erc20 = (amount: bigint) => granted('ERC20', { amount });
      await chain.add([
        block(101, [erc20(1n), granted('ALL')]),
        block(102, [erc20(2n), ended('ALL'), granted('ALL')]),
        // Several amounts in one block: only the last one held at its end.
        block(103, [erc20(3n), erc20(4n)]),
        block(104, [granted('CONTRACT'), ended('CONTRACT')]),
      ]);
      expect(await follow()).toEqual([
        'began 101.0',
        'began 101.1',
        'changed 102.0',
        'ended 102.1',
        'began 102.2',
        'ended 103.0',
        'began 103.1',
      ]);
      const amounts = reader.entries().map(({ delegation: { amount } }: Change) => amount);
      expect(amounts).toEqual([1n, null, 2n, null, null, 2n, 4n]);
    });

    test('a filter gives the changes of its own wallets, also beside wallets with the same hash, in pages of any size', async () => {
      const { chain, chainId, reader, follow } = await newChain();
      const [other, itself] = [address(5), { from: HOT, to: HOT }];
      const token = (tokenId: bigint, fields = {}) => granted('ERC1155', { tokenId, ...fields });
      await chain.add([
        block(101, [
          token(1n),
          token(2n, { from: other }),
          token(3n, itself),
          token(4n, { to: other }),
          granted('ALL'),
        ]),
        block(102, [
          token(1n, { amount: 2n }),
          token(3n, { ...itself, amount: 2n }),
          token(2n, { from: HOT, to: other }),
        ]),
        block(103, [ended('ERC1155', { tokenId: 2n, from: other }), ended('ERC1155', { tokenId: 3n, ...itself })]),
        block(104, [
          ended('ERC1155', { tokenId: 1n }),
          ended('ALL'),
          token(3n, itself),
          token(9n, { contract: other }),
        ]),
      ]);
      await follow();
      const wallets = [undefined, COLD, HOT, other, address(6)];
      const filters = wallets.flatMap((wallet) =>
        wallets.flatMap((from) =>
          wallets.flatMap((to) => [undefined, CONTRACT, other].map((contract) => ({ wallet, from, to, contract }))),
        ),
      );
      const compare = async () => {
        for (const [turn, filter] of filters.entries()) {
          const found = createFeedReader((after, limit) =>
            store.changes({ chainId, after, isFinal: false, filter, limit }),
          );
          await found.follow(1 + (turn % 4));
          expect([filter, found.lines()]).toEqual([filter, reader.linesOf(filter)]);
        }
      };
      await compare();
      const hashOf = (side: string, log: number) =>
        `(SELECT ${side} FROM span WHERE chain = ${chainId} AND since_block = 101 AND since_log = ${log})`;
      // Every wallet gets the hash of HOT.
      const [cold, hot] = [hashOf('cold', 2), hashOf('hot', 2)];
      await runSql(url, `UPDATE span SET cold = ${cold}, hot = ${hot} WHERE chain = ${chainId}`);
      for (const filter of filters.filter(({ wallet, from, to }) => [wallet, from, to].includes(HOT))) {
        if ((filter.from ?? HOT) !== HOT || (filter.to ?? HOT) !== HOT) continue;
        const found = createFeedReader((after) => store.changes({ chainId, after, isFinal: false, filter, limit: 1 }));
        await found.follow(1);
        expect([filter, found.lines()]).toEqual([filter, reader.linesOf(filter)]);
      }
    });

    test('a page reads no more than its limit, also where combined filters leave nothing of it', async () => {
      const { chain, chainId } = await newChain();
      const tokens = Array.from({ length: 10 }, (_, id) => granted('ERC721', { tokenId: BigInt(id) }));
      await chain.add([block(101, tokens)]);
      const filter = { from: COLD, to: address(6) };
      const first = await store.changes({ chainId, after: null, isFinal: false, filter, limit: 4 });
      expect(first).toMatchObject({ changes: [], isEnd: false, next: { position: { block: 101, logIndex: 3 } } });
      const rest = await store.changes({ chainId, after: first.next, isFinal: false, filter, limit: 7 });
      expect(rest).toMatchObject({ changes: [], isEnd: true });
    });

    test('a cursor of a history that was lost voids everything, also below the first block of the new index', async () => {
      const { chain, read } = await newChain();
      await chain.add([GRANT, block(105)]);
      const { next } = await read(null, 10);
      const page = await read({ ...next, stamp: next.stamp + 1 }, 10);
      expect(page).toMatchObject({ undo: { number: 0, hash: null }, changes: [], isEnd: false });
      expect((await read(page.next, 10)).changes).toHaveLength(1);
      const later = { ...next, revision: next.revision + 1 };
      expect((await read(later, 10)).undo).toMatchObject({ number: 0 });
    });

    test('an undo names the newest block that is still true', async () => {
      const { chain, read } = await newChain();
      await chain.add([GRANT, block(105), block(110)]);
      const { next } = await read(null, 10);
      await chain.add([block(106, [], 1), block(107, [], 1)], { rollbackTo: 105 });
      expect((await read(next, 10)).undo).toEqual({ number: 105, hash: hash(105), timestamp: block(105).timestamp });
      // A reader that was not beyond it has nothing to undo.
      const before = { ...next, position: { ...next.position, block: 105 } };
      expect(await read(before, 10)).toMatchObject({ undo: null, isEnd: true });
    });

    test('a chain without a block has no changes to read', async () => {
      const { read } = await newChain();
      expect((await failure(read(null, 10))).code).toBe('not-started');
      expect((await failure(store.changes({ chainId: 999_999, after: null, isFinal: true, limit: 1 }))).code).toBe(
        'not-started',
      );
    });
  });
}
