// Tests that both engines reject invalid input with a typed error that names the cause, and write nothing.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Question } from '../src/registry/check.ts';
import type { Address, Kind } from '../src/registry/delegation.ts';
import type { RegistryEvent } from '../src/registry/event.ts';
import { openStore } from '../src/store/open.ts';
import type { BlockInput, ChainState, CommitInput, Store } from '../src/store/store.ts';
import { asksAll, asksErc20, newChain as chainIn, failure } from './support/chain.ts';
import { ENGINES } from './support/engines.ts';
import { block, COLD, ended, granted, HOT, hash, revocation, settlement, timeOf } from './support/fixtures.ts';

for (const engine of ENGINES) {
  describe(`invalid input on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());
    const newChain = () => chainIn(store);

    const refused: [string, RegExp, (state: ChainState) => Partial<CommitInput>][] = [
      ['blocks out of order', /103 does not follow block 104/, () => ({ blocks: [block(104), block(103)] })],
      ['logs out of order', /log 0 does not follow log 0/, () => ({ blocks: [twice(block(103, [granted('ALL')]))] })],
      ['a block that is indexed already', /101 is already indexed/, () => ({ blocks: [block(101)] })],
      ['a block beyond the head', /109 is beyond the head/, () => ({ blocks: [block(109)], head: block(105) })],
      [
        'a head with two hashes',
        /two hashes/,
        () => ({ blocks: [block(103)], head: { ...block(103), hash: hash(1) } }),
      ],
      [
        'a head with two times',
        /two hashes or times/,
        () => ({ blocks: [block(103)], head: { ...block(103), timestamp: timeOf(104) } }),
      ],
      [
        'an event without a type',
        /unknown event type/,
        () => ({ blocks: [block(103, [{ type: 'x' } as unknown as RegistryEvent])] }),
      ],
      [
        'an unknown kind',
        /kind constructor is unknown/,
        () => ({ blocks: [block(103, [granted('ALL', { kind: 'constructor' as Kind })])] }),
      ],
      [
        'a revocation that names the wallet itself',
        /must not revoke its own wallet/,
        () => ({ blocks: [block(103, [{ type: 'delegateRevoked', from: COLD, to: COLD }])] }),
      ],
      [
        'an unnecessary settlement',
        /no revocation of .* to settle/,
        () => ({ blocks: [{ ...block(103), settlements: [settlement(103, {})] }] }),
      ],
      [
        'a settlement by a log that does not exist',
        /is inconsistent/,
        () => {
          const pairs = [{ delegate: HOT, endedBy: 7 }];
          return { blocks: [{ ...revocation(103), settlements: [settlement(103, {}, { pairs })] }] };
        },
      ],
      [
        'a settlement by a state from before its block',
        /no revocation of .* to settle/,
        () => ({ blocks: [{ ...revocation(103), settlements: [settlement(103, {}, { readAt: 102 })] }] }),
      ],
      ['a short hash', /not 32 bytes/, () => ({ blocks: [{ ...block(103), hash: '0x12' }] })],
      ['a time that goes back', /is older than block 101/, () => ({ blocks: [{ ...block(103), timestamp: 5 }] })],
      [
        'an upper-case address',
        /not a lower-case address/,
        () => ({ blocks: [block(103, [granted('ALL', { to: '0xAA' })])] }),
      ],
      ['an amount on ALL', /amount 5 is wrong/, () => ({ blocks: [block(103, [granted('ALL', { amount: 5n })])] })],
      ['an amount of 0', /amount 0 is wrong/, () => ({ blocks: [block(103, [granted('ERC20', { amount: 0n })])] })],
      [
        'a token id of 2^256',
        /tokenId/,
        () => ({ blocks: [block(103, [granted('ERC721', { tokenId: 2n ** 256n })])] }),
      ],
      ['a v2 kind in v1', /not of version 1/, () => ({ blocks: [block(103, [granted('ERC20', { version: 1 })])] })],
      ['a verified block beyond the head', /verified block 999/, () => ({ blocks: [block(103)], verified: 999 })],
      ['a rollback to above the head', /cannot roll back to block 150/, () => ({ blocks: [], rollbackTo: 150 })],
      [
        'another block at the head',
        /101 is stored with another hash or time/,
        () => ({ blocks: [], head: block(101, [], 1) }),
      ],
      ['a block before the first', /the index starts at block 100/, () => ({ rollbackTo: 50, blocks: [block(60)] })],
    ];
    const twice = (input: BlockInput): BlockInput => ({ ...input, logs: [...input.logs, ...input.logs] });
    for (const [what, why, fault] of refused) {
      test(`rejects a batch with ${what}, names the cause, and writes nothing`, async () => {
        const chain = await newChain();
        await chain.add([block(101, [granted('ERC721')])]);
        const before = chain.state;
        const { blocks = [], ...more } = fault(before);
        const bad = blocks.length === 0 ? [] : [...blocks];
        const error = await failure(chain.add(bad, { head: bad.at(-1) ?? block(110), ...more }));
        expect(error.code).toBe('bad-commit');
        expect(error.message).toMatch(why);
        expect(await store.chain(chain.chainId)).toEqual(before);
        expect(await chain.list()).toHaveLength(1);
      });
    }

    test('rejects a claim with an invalid chain id or first block', async () => {
      for (const [chainId, firstBlock] of [
        [Number.NaN, 1],
        [1.5, 1],
        [-1, 1],
        [9999, 1.5],
        [9999, -1],
      ] as const) {
        expect((await failure(store.claim(chainId, firstBlock))).code).toBe('bad-commit');
      }
      expect(await store.chain(9999)).toBeNull();
    });

    test('rejects a batch for a chain that was never claimed', async () => {
      const orphan = { chainId: 4711, epoch: 1, after: null, blocks: [], head: block(101) };
      expect((await failure(store.apply(orphan))).code).toBe('not-started');
    });

    test('rejects a malformed question', async () => {
      const chain = await newChain();
      await chain.add([block(101, [granted('ALL')])]);
      const upper = `0x${COLD.slice(2).toUpperCase()}` as const;
      const bad: [Question, number?][] = [
        [{ ...asksAll, from: upper }],
        [{ ...asksAll, from: upper }, 101],
        [{ ...asksAll, rights: '0xABC' } as Question],
        [asksAll, Number.NaN],
        [asksAll, 101.5],
      ];
      for (const [question, at] of bad) {
        expect((await failure(store.check(chain.chainId, question, at))).code).toBe('bad-question');
      }
    });

    test('rejects a list at a block that is not indexed, or with a page size of 0', async () => {
      const chain = await newChain();
      const list = (block: number, limit = 10, chainId = chain.chainId, at = {}) =>
        failure(store.list({ chainId, version: 2, wallet: HOT, at: { block, revision: 0, ...at }, limit }));
      expect((await list(101)).code).toBe('not-started');
      await chain.add([block(101)]);
      expect((await list(50)).code).toBe('before-first');
      expect((await list(102)).code).toBe('beyond-head');
      expect((await list(101, 10, 4712)).code).toBe('not-started');
      for (const limit of [0, -1, 1.5]) expect((await list(101, limit)).code).toBe('bad-question');
      // At a revision that this store has not reached, or seen at one.
      for (const at of [{ revision: 99 }, { seen: 99 }])
        expect((await list(101, 10, chain.chainId, at)).code).toBe('rewritten');
    });

    test('rejects a repair of a block that is not indexed or has another hash', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(105), block(110)]);
      expect((await failure(chain.repair([block(111, [ended('ALL')])]))).message).toContain('is not indexed');
      expect((await failure(chain.repair([block(105, [ended('ALL')], 1)]))).message).toContain('another hash');
      expect((await failure(chain.repair([block(99, [ended('ALL')])]))).message).toContain('before the first');
      const otherHead = { ...block(110, [ended('ALL')], 1), replaces: hash(110) };
      expect((await failure(chain.repair([otherHead]))).message).toContain('is the head');
    });

    test('a repair replaces all logs of a block, order and time included', async () => {
      const chain = await newChain();
      await chain.add([
        block(100),
        { ...block(105, [ended('ALL'), granted('ALL')]), timestamp: 5 + timeOf(100) },
        block(110),
      ]);
      expect(await chain.ask(asksAll)).toBe(true);
      await chain.repair([block(105, [granted('ALL'), ended('ALL'), granted('ERC20')])]);
      expect(await chain.ask(asksAll)).toBe(false);
      expect(await chain.ask(asksErc20)).toBe(100n);
      expect(await store.blocks(chain.chainId, { from: 105, to: 105 })).toMatchObject([{ timestamp: timeOf(105) }]);
      await chain.repair([block(105)]);
      expect(await chain.list(110)).toEqual([]);
    });

    test('block times from logs are marked until a header confirms or corrects them', async () => {
      const chain = await newChain();
      const fromLog = { ...block(103, [granted('ALL')]), timestamp: timeOf(102), timeFrom: 'log' as const };
      await chain.add([block(101), fromLog, block(105)]);
      const range = { from: 0, to: 200, limit: 10 };
      expect(await store.uncheckedTimes(chain.chainId, range)).toMatchObject([{ number: 103, timestamp: timeOf(102) }]);
      const state = await store.confirm(chain.chainId, chain.state.epoch, [{ ...block(103), isProven: false }]);
      expect(state.revision).toBe(chain.state.revision + 1);
      expect(await store.uncheckedTimes(chain.chainId, range)).toEqual([]);
      expect((await store.blockAt(chain.chainId, timeOf(102))).number).toBe(101);
      expect((await store.blockAt(chain.chainId, timeOf(103))).number).toBe(103);
    });

    test("a corrected time of the head is the head's, also with others corrected below it", async () => {
      const chain = await newChain();
      const early = (number: number) => ({
        ...block(number, [granted('ALL')]),
        timestamp: timeOf(101),
        timeFrom: 'log' as const,
      });
      await chain.add([block(101), early(103), early(105)]);
      const confirmed = [103, 105].map((number) => ({ ...block(number), isProven: true }));
      const state = await store.confirm(chain.chainId, chain.state.epoch, confirmed);
      expect([state.head?.timestamp, (await store.chain(chain.chainId))?.head?.timestamp]).toEqual([
        timeOf(105),
        timeOf(105),
      ]);
    });

    test('blocks with logs are unproven until they are confirmed as proven, and again when they are repaired without proof', async () => {
      const chain = await newChain();
      const proven = { ...block(102, [granted('ALL')]), isProven: true };
      await chain.add([block(101, [granted('ALL')]), proven, block(103), block(104, [ended('ALL')])]);
      const unproven = async () =>
        (await store.unprovenBlocks(chain.chainId, { from: 0, to: 200, limit: 10 })).map(({ number }) => number);
      expect(await unproven()).toEqual([104, 101]);
      expect((await store.newestUnproven()).get(chain.chainId)).toBe(104);
      await store.confirm(chain.chainId, chain.state.epoch, [{ ...block(104, [], 1), timestamp: 0, isProven: true }]);
      expect([await unproven(), (await store.chain(chain.chainId))?.head?.timestamp]).toEqual([
        [104, 101],
        timeOf(104),
      ]);
      await store.confirm(chain.chainId, chain.state.epoch, [
        { ...block(104), isProven: true },
        { ...block(101), isProven: false },
      ]);
      expect(await unproven()).toEqual([101]);
      await chain.repair([{ ...block(101, [granted('ALL')]), isProven: true }, block(103, [ended('ALL')])]);
      expect(await unproven()).toEqual([103]);
      await chain.repair([block(103)]);
      expect(await unproven()).toEqual([]);
      expect((await store.newestUnproven()).has(chain.chainId)).toBe(false);
    });

    test('similar addresses are kept apart', async () => {
      const chain = await newChain();
      const like = (of: number): Address => `0x${'0'.repeat(32)}${of.toString(16).padStart(8, '0')}`;
      const grants = Array.from({ length: 500 }, (_, of) => granted('ALL', { to: like(of) }));
      await chain.add([block(101, grants)]);
      expect(await chain.ask({ ...asksAll, to: like(499) })).toBe(true);
      expect(await chain.ask({ ...asksAll, to: like(500) })).toBe(false);
    });
  });
}
