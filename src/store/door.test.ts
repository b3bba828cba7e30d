// What both engines refuse: with a typed error that names what was wrong, and nothing half-applied.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { asksAll, newChain as chainIn, failure } from '../../test/chain.ts';
import { ENGINES } from '../../test/engines.ts';
import { block, COLD, ended, granted, HOT, hash, revocation, timeOf } from '../../test/fixtures.ts';
import type { Question } from '../registry/check.ts';
import type { Address, Kind } from '../registry/delegation.ts';
import type { RegistryEvent } from '../registry/event.ts';
import { openStore } from './open.ts';
import type { Batch, BlockInput, ChainState, Store } from './store.ts';

for (const engine of ENGINES) {
  describe(`the door on ${engine.name}`, () => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());
    const newChain = () => chainIn(store);

    const refused: [string, RegExp, (state: ChainState) => Partial<Batch>][] = [
      ['blocks out of order', /103 does not follow block 104/, () => ({ blocks: [block(104), block(103)] })],
      ['logs out of order', /log 0 does not follow log 0/, () => ({ blocks: [twice(block(103, [granted('ALL')]))] })],
      ['a block that is indexed already', /101 is indexed already/, () => ({ blocks: [block(101)] })],
      ['a block beyond the head', /109 lies beyond the head/, () => ({ blocks: [block(109)], head: block(105) })],
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
        'an event of no type',
        /no known type/,
        () => ({ blocks: [block(103, [{ type: 'x' } as unknown as RegistryEvent])] }),
      ],
      [
        'a kind that is none',
        /kind constructor is unknown/,
        () => ({ blocks: [block(103, [granted('ALL', { kind: 'constructor' as Kind })])] }),
      ],
      [
        'a named revocation of oneself',
        /does not say whom/,
        () => ({ blocks: [block(103, [{ type: 'delegateRevoked', from: COLD, to: COLD }])] }),
      ],
      [
        'a state that nobody needs',
        /no revocation of .* to read/,
        () => ({ blocks: [{ ...block(103), vaultStates: [{ vault: COLD, held: [] }] }] }),
      ],
      [
        'the same state twice',
        /given twice/,
        () => {
          const once = revocation(103, { vault: COLD, held: [] });
          return { blocks: [{ ...once, vaultStates: [...(once.vaultStates ?? []), { vault: COLD, held: null }] }] };
        },
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
      [
        'a revocation without its delegate',
        /neither the delegate nor/,
        () => ({ blocks: [block(103, [{ type: 'unknownRevoked', from: COLD }])] }),
      ],
      ['a verified block beyond the head', /verified block 999/, () => ({ blocks: [block(103)], verified: 999 })],
      ['a rollback to above the head', /cannot roll back to 150/, () => ({ blocks: [], rollbackTo: 150 })],
      ['a block before the first', /the index begins at 100/, () => ({ rollbackTo: 50, blocks: [block(60)] })],
    ];
    const twice = (input: BlockInput): BlockInput => ({ ...input, logs: [...input.logs, ...input.logs] });
    for (const [what, why, fault] of refused) {
      test(`a batch with ${what} is refused with the reason, and nothing of it is written`, async () => {
        const chain = await newChain();
        await chain.add([block(101, [granted('ERC721')])]);
        const before = chain.state;
        const { blocks = [], ...more } = fault(before);
        const bad = blocks.length === 0 ? [] : [...blocks];
        const error = await failure(chain.add(bad, { head: bad.at(-1) ?? block(110), ...more }));
        expect(error.code).toBe('bad-batch');
        expect(error.message).toMatch(why);
        expect(await store.chain(chain.chainId)).toEqual(before);
        expect(await chain.list()).toHaveLength(1);
      });
    }

    test('a claim of what is no chain or begins nowhere is refused', async () => {
      for (const [chainId, firstBlock] of [
        [Number.NaN, 1],
        [1.5, 1],
        [-1, 1],
        [9999, 1.5],
        [9999, -1],
      ] as const) {
        expect((await failure(store.claim(chainId, firstBlock))).code).toBe('bad-batch');
      }
      expect(await store.chain(9999)).toBeNull();
    });

    test('a batch for a chain that nobody claimed is refused as such', async () => {
      const orphan = { chainId: 4711, epoch: 1, after: null, blocks: [], head: block(101) };
      expect((await failure(store.apply(orphan))).code).toBe('not-started');
    });

    test('a malformed question is refused, not answered', async () => {
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

    test('a list of what is not indexed, or of nothing a page, is refused', async () => {
      const chain = await newChain();
      const list = (block: number, limit = 10, chainId = chain.chainId, at = {}) =>
        failure(store.list({ chainId, version: 2, wallet: HOT, at: { block, revision: 0, ...at }, limit }));
      expect((await list(101)).code).toBe('not-started');
      await chain.add([block(101)]);
      expect((await list(50)).code).toBe('before-first');
      expect((await list(102)).code).toBe('beyond-head');
      expect((await list(101, 10, 4712)).code).toBe('not-started');
      for (const limit of [0, -1, 1.5]) expect((await list(101, limit)).code).toBe('bad-question');
      // Of a revision that this store has not come to yet, or of what was seen at one.
      for (const at of [{ revision: 99 }, { seen: 99 }])
        expect((await list(101, 10, chain.chainId, at)).code).toBe('rewritten');
    });

    test('a repair that does not fit between its neighbours in time is refused', async () => {
      const chain = await newChain();
      await chain.add([block(100), block(105), block(110), block(120)]);
      const late = { ...block(102, [ended('ALL')]), timestamp: timeOf(111) };
      expect((await failure(chain.repair([late]))).message).toContain('block 105 has');
      const other = { ...block(105, [ended('ALL')]), timestamp: timeOf(104) };
      expect((await failure(chain.repair([other]))).message).toContain('block 105 has');
    });

    test('addresses that look alike do not mix', async () => {
      const chain = await newChain();
      const like = (of: number): Address => `0x${'0'.repeat(32)}${of.toString(16).padStart(8, '0')}`;
      const grants = Array.from({ length: 500 }, (_, of) => granted('ALL', { to: like(of) }));
      await chain.add([block(101, grants)]);
      expect(await chain.ask({ ...asksAll, to: like(499) })).toBe(true);
      expect(await chain.ask({ ...asksAll, to: like(500) })).toBe(false);
    });
  });
}
