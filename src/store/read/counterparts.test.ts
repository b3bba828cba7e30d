import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { failure, newChain, VOTE } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import {
  address,
  block,
  COLD,
  CONTRACT,
  ended,
  granted,
  HOT,
  settlement,
  timeOf,
} from '../../../test/support/fixtures.ts';
import type { Target } from '../../registry/check.ts';
import { type Address, NO_RIGHTS } from '../../registry/delegation.ts';
import type { RegistryEvent } from '../../registry/event.ts';
import { openStore } from '../open.ts';
import type { Counterpart, CounterpartPage, Store } from '../store.ts';

type Chain = Awaited<ReturnType<typeof newChain>>;

const EVERYTHING: Target = { version: 'any', scope: 'all', rights: NO_RIGHTS };
const ofContract: Target = { version: 'any', scope: 'contract', contract: CONTRACT, rights: NO_RIGHTS };
const ofToken: Target = { version: 'any', scope: 'erc721', contract: CONTRACT, tokenId: 7n, rights: NO_RIGHTS };
const V1 = { version: 1 } as const;

for (const engine of ENGINES) {
  describe(`vaults and delegates on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());

    interface Asked {
      readonly at?: number;
      readonly wallet?: Address;
      readonly limit?: number;
      readonly side?: 'vaults' | 'delegates';
    }
    /** Reads all pages, and counts them. */
    const read = async (
      chain: Chain,
      target: Target,
      { at, wallet = HOT, limit = 10, side = 'vaults' }: Asked = {},
    ) => {
      const { chainId, state } = chain;
      const query = {
        chainId,
        wallet,
        target,
        limit,
        at: { block: at ?? state.head?.number ?? 0, revision: state.revision },
      };
      const found: Counterpart[] = [];
      let pages = 0;
      for (let after: Address | null | undefined; after !== null; pages++) {
        const page: CounterpartPage = await store[side](after ? { ...query, after } : query);
        expect(page.counterparts.length).toBeLessThanOrEqual(limit);
        found.push(...page.counterparts);
        after = page.next;
      }
      return { found, pages };
    };
    const wallets = async (...args: Parameters<typeof read>) => (await read(...args)).found.map(({ wallet }) => wallet);

    test('a vault is listed once with every grant that answers the question, the newest version and the widest first', async () => {
      const chain = await newChain(store);
      const [one, other] = [address(11), address(12)];
      await chain.add([
        block(101, [
          granted('TOKEN', { from: one }),
          granted('ERC721', { from: one }),
          granted('CONTRACT', { from: one, rights: VOTE }),
          granted('CONTRACT', { from: one }),
          granted('ERC721', { from: other, tokenId: 8n }),
          granted('ALL', { from: other, ...V1 }),
        ]),
      ]);
      const { found } = await read(chain, ofToken);
      const told = found.map(({ wallet, granting }) => [
        wallet,
        granting.map(({ version, kind }) => `${version} ${kind}`),
      ]);
      expect(told as unknown[]).toEqual([
        [one, ['2 CONTRACT', '2 ERC721', '1 TOKEN']],
        [other, ['1 ALL']],
      ]);
      expect(found[0]?.granting[0]).toMatchObject({
        from: one,
        to: HOT,
        since: { block: 101, logIndex: 3, timestamp: timeOf(101) },
      });
      expect(await wallets(chain, EVERYTHING)).toEqual([other]);
      expect(await wallets(chain, { ...ofToken, version: 2 })).toEqual([one]);
      expect(await wallets(chain, { version: 1, scope: 'token', contract: CONTRACT, tokenId: 7n })).toEqual([
        one,
        other,
      ]);
      const withRight = await read(chain, { ...ofContract, rights: VOTE });
      expect(withRight.found[0]?.granting.map(({ rights }) => rights)).toEqual([NO_RIGHTS, VOTE]);
      expect(await wallets(chain, ofToken, { wallet: one, side: 'delegates' })).toEqual([HOT]);
      expect(await wallets(chain, ofToken, { wallet: HOT, side: 'delegates' })).toEqual([]);
    });

    test('an ERC-20 is granted by an amount in v2 and by its contract in v1', async () => {
      const chain = await newChain(store);
      const [one, other] = [address(11), address(12)];
      await chain.add([block(101, [granted('ERC20', { from: one }), granted('CONTRACT', { from: other, ...V1 })])]);
      expect(await wallets(chain, { ...ofContract, scope: 'erc20' })).toEqual([one, other]);
      expect(await wallets(chain, ofContract)).toEqual([other]);
    });

    test('wallets that the v2 contract never lets grant are vaults in v1 only', async () => {
      const chain = await newChain(store);
      const never = [address(0), address(1)];
      await chain.add([
        block(
          101,
          [...never, address(2)].map((from) => granted('ALL', { from })),
        ),
        block(102, [granted('ALL', { from: address(1), ...V1 })]),
      ]);
      expect(await wallets(chain, { ...EVERYTHING, version: 2 })).toEqual([address(2)]);
      const { found } = await read(chain, EVERYTHING);
      expect(found.map(({ wallet, granting }) => [wallet, granting.length])).toEqual([
        [address(1), 1],
        [address(2), 1],
      ]);
      const delegates = (wallet: Address, version: 'any' | 2) =>
        wallets(chain, { ...EVERYTHING, version }, { wallet, side: 'delegates' });
      expect(await delegates(address(0), 'any')).toEqual([]);
      expect(await delegates(address(1), 2)).toEqual([]);
      expect(await delegates(address(1), 'any')).toEqual([HOT]);
    });

    test('pages are in the order of addresses, now and as of a block, and read a bounded number of rows', async () => {
      const chain = await newChain(store);
      const all = Array.from({ length: 40 }, (_, of) => address(100 + of));
      const grants = (events: (from: Address, turn: number) => RegistryEvent[]) => all.toReversed().flatMap(events);
      await chain.add([
        block(
          101,
          grants((from) => [granted('ALL', { from }), granted('CONTRACT', { from })]),
        ),
      ]);
      // Every second one ends everything, and those that are left grant again and again.
      await chain.add([
        block(
          103,
          grants((from, turn) => (turn % 2 ? [ended('ALL', { from }), ended('CONTRACT', { from })] : [])),
        ),
      ]);
      for (let at = 104; at < 110; at++) {
        await chain.add([block(at, [(at % 2 ? granted : ended)('ALL', { from: address(101) })])]);
      }
      const odd = all.filter((_, turn) => turn % 2 === 1);
      for (const limit of [1, 3, 7, 32, 33, 40, 100]) {
        expect(await wallets(chain, ofContract, { limit })).toEqual(odd);
        // Each with both of its grants, also where a page would end between them.
        const both = (await read(chain, ofContract, { limit, at: 102 })).found;
        expect(both.map(({ wallet, granting }) => [wallet, granting.length])).toEqual(all.map((one) => [one, 2]));
        expect(await wallets(chain, ofContract, { limit, at: 103 })).toEqual(odd);
        expect(await wallets(chain, EVERYTHING, { limit, at: 104 })).toEqual(odd.filter((one) => one !== address(101)));
        expect(await wallets(chain, EVERYTHING, { limit, at: 105 })).toEqual(odd);
        expect(await wallets(chain, ofContract, { limit, at: 100 })).toEqual([]);
      }
    });

    test('a grant that ended right after the block of a question still counts at it', async () => {
      const chain = await newChain(store);
      await chain.add([block(101, [granted('ALL')])]);
      // The store knows 101 as the head.
      expect(await wallets(chain, EVERYTHING, { at: 101 })).toEqual([COLD]);
      await chain.add([block(102, [ended('ALL')])]);
      expect([await wallets(chain, EVERYTHING, { at: 101 }), await wallets(chain, EVERYTHING)]).toEqual([[COLD], []]);
      await chain.add([block(102, [], 1)], { rollbackTo: 101 });
      expect(await wallets(chain, EVERYTHING)).toEqual([COLD]);
    });

    test('an unsettled revocation that may decide the answer is an error, and one of another pair is not', async () => {
      const chain = await newChain(store);
      const other = address(12);
      await chain.add([
        block(101, [granted('ALL', V1), granted('ALL', { from: other, to: address(13), ...V1 })]),
        block(102, [{ type: 'unknownRevoked', from: COLD }]),
        block(103),
      ]);
      expect((await failure(read(chain, EVERYTHING))).code).toBe('revocation-unread');
      expect((await failure(read(chain, EVERYTHING, { wallet: COLD, side: 'delegates' }))).vault).toBe(COLD);
      expect(await wallets(chain, EVERYTHING, { at: 101 })).toEqual([COLD]);
      expect(await wallets(chain, { ...EVERYTHING, version: 2 })).toEqual([]);
      expect(await wallets(chain, EVERYTHING, { wallet: address(13) })).toEqual([other]);
      expect(await wallets(chain, EVERYTHING, { wallet: other, side: 'delegates' })).toEqual([address(13)]);
      await chain.settle(settlement(102, { [HOT]: true }));
      expect([await wallets(chain, EVERYTHING), await wallets(chain, EVERYTHING, { at: 101 })]).toEqual([[], [COLD]]);
    });

    test('a page after history changed, of a block that is not indexed, or of a malformed query is an error', async () => {
      const chain = await newChain(store);
      await chain.add([block(101, [granted('ALL')]), block(102)]);
      const { chainId, state } = chain;
      const query = {
        chainId,
        wallet: HOT,
        target: EVERYTHING,
        limit: 10,
        at: { block: 102, revision: state.revision },
      };
      const codeOf = async (more: object) => (await failure(store.vaults({ ...query, ...more }))).code;
      expect(await codeOf({ at: { ...query.at, block: 103 } })).toBe('beyond-head');
      expect(await codeOf({ at: { ...query.at, block: 5 } })).toBe('before-first');
      expect(await codeOf({ at: { ...query.at, seen: 99 } })).toBe('rewritten');
      expect(await codeOf({ at: { ...query.at, stamp: 1 } })).toBe('rewritten');
      for (const more of [{ limit: 0 }, { wallet: '0xAB' }, { after: '0x1' }, { target: { ...ofToken, tokenId: -1n } }])
        expect(await codeOf(more)).toBe('bad-question');
      await chain.add([block(102, [], 1)], { rollbackTo: 101 });
      expect(await codeOf({})).toBe('rewritten');
      expect((await store.vaults({ ...query, at: { ...query.at, block: 101 } })).counterparts).toHaveLength(1);
    });
  });
}
