// v1 revocations that do not name their delegate, on both engines.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { asksV1, newChain as chainIn, failure } from '../../test/chain.ts';
import { ENGINES } from '../../test/engines.ts';
import { address, block, COLD, delegation, ended, granted, HOT, revocation, timeOf } from '../../test/fixtures.ts';
import { openStore } from './open.ts';
import type { Store } from './store.ts';

for (const engine of ENGINES) {
  describe(`unnamed revocations on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());
    const newChain = () => chainIn(store);

    const v1All = delegation('ALL', { version: 1 });
    const v1Other = delegation('ALL', { version: 1, to: address(5) });
    const grantBoth = block(101, [granted('ALL', v1All), granted('ALL', v1Other)]);

    test('a revocation that names no delegate ends what the registry no longer has', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103, { vault: COLD, held: [v1Other] })]);
      expect([await chain.ask(asksV1, 102), await chain.ask(asksV1)]).toEqual([true, false]);
      expect(await chain.ask({ ...asksV1, to: address(5) })).toBe(true);
    });

    test('what the registry has and no log explains is reported', async () => {
      const chain = await newChain();
      const unknown = delegation('CONTRACT', { version: 1 });
      const { lacking } = await chain.add([grantBoth, revocation(103, { vault: COLD, held: [v1All, unknown] })]);
      expect(lacking).toEqual([unknown]);
      // A log was missed: until it is found, nobody knows what else is wrong with the wallet.
      expect(await chain.answers(asksV1, 102, undefined)).toEqual([true, 'revocation-unread']);
    });

    test('many questions at once: those about a wallet with an unread revocation have no answer, the others do', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103, { vault: COLD, held: null }), block(104)]);
      const other = { ...asksV1, from: address(8) };
      const { revision } = chain.state;
      expect(await store.checkMany(chain.chainId, [asksV1, other], { block: 104, revision })).toEqual([null, false]);
      expect(await store.checkMany(chain.chainId, [asksV1, other], { block: 102, revision })).toEqual([true, false]);
    });

    test('where the state could not be read, the wallet is refused until it is, and its past in between for ever', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103, { vault: COLD, held: null }), block(104)]);
      expect(await chain.answers(asksV1, 102, 103, undefined)).toEqual([
        true,
        'revocation-unread',
        'revocation-unread',
      ]);
      expect((await failure(chain.list(104, COLD, 1))).code).toBe('revocation-unread');
      expect((await failure(chain.list(104, HOT, 1))).code).toBe('revocation-unread');
      expect(await store.unreadRevocations(chain.chainId)).toEqual([{ vault: COLD, block: 103, readAt: null }]);

      await chain.add([block(106)], { lateStates: [{ vault: COLD, held: [v1Other] }] });
      expect(await chain.answers(asksV1, 102, 103, 105, 106, undefined)).toEqual([
        true,
        'revocation-unread',
        'revocation-unread',
        false,
        false,
      ]);
      expect(await store.unreadRevocations(chain.chainId)).toEqual([{ vault: COLD, block: 103, readAt: 106 }]);

      // The block at which it was read is gone, and with it the reading.
      await chain.add([block(105, [], 1)], { rollbackTo: 104 });
      expect(await chain.answers(asksV1, undefined)).toEqual(['revocation-unread']);
      await chain.add([block(106, [], 1)], { lateStates: [{ vault: COLD, held: [v1All, v1Other] }] });
      expect(await chain.answers(asksV1, undefined)).toEqual([true]);
    });

    test('what is missing from the registry although no revocation explains it is reported, and the wallet refused', async () => {
      const chain = await newChain();
      await chain.add([revocation(101, { vault: COLD, held: null }), block(102, [granted('ALL', v1All)])]);
      const { surplus } = await chain.add([block(103)], { lateStates: [{ vault: COLD, held: [] }] });
      expect(surplus).toEqual([v1All]);
      expect(await chain.answers(asksV1, undefined)).toEqual(['revocation-unread']);
    });

    test('a state for a block without a revocation is refused', async () => {
      const chain = await newChain();
      await chain.add([grantBoth]);
      const error = await failure(chain.repair([{ ...block(101), vaultStates: [{ vault: COLD, held: [] }] }]));
      expect(error.message).toContain('no revocation');
    });

    test('an end that was missed after an unread revocation leaves the wallet unread, and rebuilding changes nothing', async () => {
      const chain = await newChain();
      // Granted again at 105, which changes nothing, and ended by a log that never came.
      await chain.add([grantBoth, revocation(103, { vault: COLD, held: null }), block(105, [granted('ALL', v1All)])]);
      const { surplus } = await chain.add([block(120)], { lateStates: [{ vault: COLD, held: [v1Other] }] });
      expect(surplus).toEqual([v1All]);
      expect(await chain.answers(asksV1, undefined)).toEqual(['revocation-unread']);
      await store.rebuild(chain.chainId);
      expect(await chain.answers(asksV1, undefined)).toEqual(['revocation-unread']);
      await chain.repair([block(110, [ended('ALL', v1All)])]);
      await chain.add([block(121)], { lateStates: [{ vault: COLD, held: [v1Other] }] });
      expect(await chain.answers(asksV1, 102, 121, undefined)).toEqual([true, false, false]);
    });

    test('an unread revocation refuses the lists that it can touch, and names its wallet', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103, { vault: COLD, held: null }), block(104)]);
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

    test('the block of a late reading is kept, so that times after it are answered', async () => {
      const chain = await newChain();
      await chain.add([grantBoth, revocation(103, { vault: COLD, held: null })]);
      await chain.add([block(106)], { lateStates: [{ vault: COLD, held: [v1Other] }] });
      await chain.add([block(107), block(108), block(109)]);
      await chain.add([block(120)], { verified: 110 });
      const { number } = await store.blockAt(chain.chainId, timeOf(107));
      expect(number).toBe(106);
      expect(await chain.answers(asksV1, number)).toEqual([false]);
    });

    test('a state for a block whose log of a self-delegation is no revocation is refused', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL', { version: 1, to: COLD })])]);
      const error = await failure(chain.repair([{ ...block(101), vaultStates: [{ vault: COLD, held: [] }] }]));
      expect(error.message).toContain('no revocation');
    });
  });
}
