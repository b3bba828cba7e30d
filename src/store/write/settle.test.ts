// v1 revocations that do not name their delegate, on both engines: settled by pair.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { asksV1, newChain as chainIn, failure } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import {
  address,
  block,
  COLD,
  delegation,
  ended,
  granted,
  HOT,
  hash,
  revocation,
  settlement,
  timeOf,
} from '../../../test/support/fixtures.ts';
import { unreadRevocations } from '../../../test/support/stored.ts';
import { openStore } from '../open.ts';
import type { Store } from '../store.ts';

const OTHER = address(5);

for (const engine of ENGINES) {
  describe(`unnamed revocations on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());
    const newChain = () => chainIn(store);

    const v1All = delegation('ALL', { version: 1 });
    const v1Other = delegation('ALL', { version: 1, to: OTHER });
    const grantBoth = block(101, [granted('ALL', v1All), granted('ALL', v1Other)]);
    const asksOther = { ...asksV1, to: OTHER };

    test('a revocation that is settled with its block ends everything of that pair, and nothing else', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, { ...revocation(103), settlements: [settlement(103, { [HOT]: true })] }]);
      expect(await chain.answers(asksV1, 102, 103, undefined)).toEqual([true, false, false]);
      expect(await chain.answers(asksOther, 102, 103, undefined)).toEqual([true, true, true]);
      expect(await unreadRevocations(store, chain.chainId)).toEqual([]);
    });

    test('until it is settled, pairs that may have ended are refused, and all others are answered', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103), block(104)]);
      const stranger = { ...asksV1, to: address(77) };
      const { revision } = chain.state;
      expect(await chain.answers(asksV1, 102, 103, undefined)).toEqual([
        true,
        'revocation-unread',
        'revocation-unread',
      ]);
      // Never granted, so nothing can have ended.
      expect(await chain.answers(stranger, 102, 103, undefined)).toEqual([false, false, false]);
      const many = [asksV1, stranger, { ...asksV1, from: address(8) }];
      expect(await store.checkMany(chain.chainId, many, { block: 104, revision })).toEqual([null, false, false]);
      expect(await store.checkMany(chain.chainId, many, { block: 102, revision })).toEqual([true, false, false]);
      await chain.settle(settlement(103, { [HOT]: true }, { complete: false }));
      expect(await chain.answers(asksV1, 102, 103, undefined)).toEqual([true, false, false]);
      expect(await chain.answers(asksOther, 102, undefined)).toEqual([true, 'revocation-unread']);
      await chain.settle(settlement(103, { [OTHER]: false }));
      expect(await chain.answers(asksOther, 102, 103, undefined)).toEqual([true, true, true]);
      expect(await unreadRevocations(store, chain.chainId)).toEqual([]);
    });

    test('an end that came otherwise needs no settlement: nothing of the pair is open any more', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103), block(105, [ended('ALL', v1All)])]);
      expect(await chain.answers(asksV1, 104, 105, undefined)).toEqual(['revocation-unread', false, false]);
      expect(await chain.list(105, HOT, 1)).toEqual([]);
    });

    test('what is granted again after the revocation begins anew, in the same block too', async () => {
      const chain = await newChain();
      const again = block(103, [{ type: 'unknownRevoked', from: COLD }, granted('ALL', v1All)]);
      await chain.add([grantBoth, again, block(106, [granted('ALL', v1Other)])]);
      await chain.settle(settlement(103, { [HOT]: true, [OTHER]: true }));
      const [hot] = await chain.list(106, HOT, 1);
      expect(hot?.since).toEqual({ block: 103, logIndex: 1 });
      const [other] = await chain.list(106, OTHER, 1);
      expect(other?.since).toEqual({ block: 106, logIndex: 0 });
      expect(await chain.answers(asksOther, 102, 103, 105, 106)).toEqual([true, false, false, true]);
    });

    test('settled by a later state, the past in between stays refused, and a reorg below that state discards it', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103), block(104)]);
      await chain.add([block(106)]);
      await chain.settle(settlement(103, { [HOT]: true, [OTHER]: false }, { readAt: 106 }));
      expect(await chain.answers(asksV1, 102, 103, 105, 106, undefined)).toEqual([
        true,
        'revocation-unread',
        'revocation-unread',
        false,
        false,
      ]);
      expect(await unreadRevocations(store, chain.chainId)).toEqual([{ vault: COLD, block: 103, readAt: 106 }]);
      // The block at which it was read is gone, and with it the reading.
      await chain.add([block(105, [], 1)], { rollbackTo: 104 });
      expect(await chain.answers(asksV1, undefined)).toEqual(['revocation-unread']);
      await chain.add([block(106, [], 1)]);
      await chain.settle(settlement(103, { [HOT]: false, [OTHER]: false }, { readAt: 106 }));
      expect(await chain.answers(asksV1, undefined)).toEqual([true]);
    });

    test('rebuilding changes nothing', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103), block(105, [granted('ALL', v1All)])]);
      await chain.settle(settlement(103, { [HOT]: true, [OTHER]: false }));
      const before = await chain.list(105, COLD, 1);
      await store.rebuild(chain.chainId);
      await chain.settle();
      expect(await chain.list(105, COLD, 1)).toEqual(before);
      expect(await chain.answers(asksV1, 102, 103, 104, 105)).toEqual([true, false, false, true]);
    });

    test('a settlement for a block without a revocation, or of another branch, is refused', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL', { version: 1, to: COLD })]), revocation(103)]);
      expect((await failure(chain.settle(settlement(101, {})))).message).toContain('no revocation');
      const elsewhere = settlement(103, {}, { block: { number: 103, hash: hash(103, 1) } });
      expect((await failure(chain.settle(elsewhere))).message).toContain('no revocation');
    });

    test('a repair makes the later revocations of its wallets open again: what they ended depended on its logs', async () => {
      const chain = await newChain();
      await chain.add([
        block(101, [granted('ALL', v1Other)]),
        block(102),
        revocation(103),
        block(104),
        revocation(105),
      ]);
      await chain.settle(settlement(103, { [OTHER]: false }), settlement(105, { [OTHER]: true }));
      await chain.repair([block(102, [granted('ALL', v1All)])]);
      expect(await unreadRevocations(store, chain.chainId)).toEqual([
        { vault: COLD, block: 103, readAt: null },
        { vault: COLD, block: 105, readAt: null },
      ]);
      const refused = Array(3).fill('revocation-unread');
      expect(await chain.answers(asksV1, 102, 103, 105, undefined)).toEqual([true, ...refused]);
      expect(await chain.answers(asksOther, 102, 103, 105, undefined)).toEqual([true, ...refused]);
      await chain.settle(settlement(103, { [HOT]: true }), settlement(105, { [OTHER]: true }));
      expect(await chain.answers(asksV1, 102, 103, 105)).toEqual([true, false, false]);
      expect(await chain.answers(asksOther, 102, 103, 105)).toEqual([true, true, false]);
    });

    test('a repair that removes a revocation removes what waits for it', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103)]);
      await chain.repair([block(103)]);
      expect(await unreadRevocations(store, chain.chainId)).toEqual([]);
      expect(await chain.answers(asksV1, 103)).toEqual([true]);
    });

    test('a pair that a later state shows to have held all along is answered in between, others are refused', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103), revocation(104), block(106)]);
      const pairsOf = (endedBy: number | null, knownFrom: number) => [
        { delegate: HOT, endedBy: null, knownFrom: 103 },
        { delegate: OTHER, endedBy, knownFrom },
      ];
      await chain.settle(
        settlement(103, {}, { readAt: 106, pairs: pairsOf(null, 104) }),
        settlement(104, {}, { readAt: 106, pairs: pairsOf(0, 104) }),
      );
      expect(await chain.answers(asksV1, 102, 103, 104, 105, 106)).toEqual(Array(5).fill(true));
      expect(await chain.answers(asksOther, 102, 103, 104, 105, 106)).toEqual([
        true,
        'revocation-unread',
        false,
        false,
        false,
      ]);
    });

    test('what was settled wrongly can be asked again', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103)]);
      await chain.settle(settlement(103, { [HOT]: true, [OTHER]: false }));
      await store.unsettle(chain.chainId, chain.state.epoch, COLD, 103);
      expect(await chain.answers(asksV1, 102, 103)).toEqual([true, 'revocation-unread']);
      await chain.settle(settlement(103, { [HOT]: false, [OTHER]: true }));
      expect(await chain.answers(asksV1, 103)).toEqual([true]);
      expect(await chain.answers(asksOther, 103)).toEqual([false]);
    });

    test('nothing is recorded if anything was committed since the state was read', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103)]);
      const { chainId, state } = chain;
      const settlements = [settlement(103, { [HOT]: true, [OTHER]: false })];
      await store.report(chainId, state.epoch, { tip: 110 });
      const late = await store.settle(chainId, state.epoch, settlements, state.commits).catch((error) => error.code);
      expect([late, ...(await chain.answers(asksV1, 103))]).toEqual(['rewritten', 'revocation-unread']);
      await store.settle(chainId, state.epoch, settlements, state.commits + 1);
      expect(await chain.answers(asksV1, 103)).toEqual([false]);
    });

    test('one of two that a later state settled together takes the other with it when it is asked again', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103), revocation(104), block(106)]);
      await chain.settle(
        settlement(103, { [HOT]: false, [OTHER]: false }, { readAt: 106 }),
        settlement(104, { [HOT]: true, [OTHER]: false }, { readAt: 106 }),
      );
      expect(await chain.answers(asksV1, 102, 103, 106)).toEqual([true, 'revocation-unread', false]);
      await store.unsettle(chain.chainId, chain.state.epoch, COLD, 104);
      await chain.settle(settlement(104, { [HOT]: false, [OTHER]: false }));
      // It was one of the two: if not the later one, then the earlier.
      expect(await chain.answers(asksV1, 103, 104, 106)).toEqual(Array(3).fill('revocation-unread'));
      await chain.settle(settlement(103, { [HOT]: true, [OTHER]: false }));
      expect(await chain.answers(asksV1, 102, 103, 106)).toEqual([true, false, false]);
    });

    test('an open revocation refuses the lists that it can touch, and names its wallet', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103), block(104)]);
      for (const [wallet, direction] of [
        [COLD, 'outgoing'],
        [HOT, 'incoming'],
      ] as const) {
        const error = await failure(chain.list(104, wallet, 1, direction));
        expect(error.code).toBe('revocation-unread');
        expect(error.message).toContain(COLD);
      }
      expect(await chain.list(104, COLD, 1, 'incoming')).toEqual([]);
      expect(await chain.list(104, HOT, 1, 'outgoing')).toEqual([]);
      expect(await chain.list(104, COLD, 2)).toEqual([]);
      expect(await chain.list(104, address(77), 1)).toEqual([]);
    });

    test('the block of a later state is kept, so that times after it are answered', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103)]);
      await chain.add([block(106)]);
      await chain.settle(settlement(103, { [HOT]: true, [OTHER]: false }, { readAt: 106 }));
      await chain.add([block(107), block(108), block(109)]);
      await chain.add([block(120)], { verified: 110 });
      const { number } = await store.blockAt(chain.chainId, timeOf(107));
      expect(number).toBe(106);
      expect(await chain.answers(asksV1, number)).toEqual([false]);
    });
  });
}
