// Token gates whose token is on one chain and whose delegations are on others: what each counts for, the block of each, and that there
// is no answer while one of them cannot be read.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
import { address, block, CONTRACT, granted, timeOf } from '../../../test/support/fixtures.ts';
import { below, createRandom, pickFrom } from '../../../test/support/random.ts';
import { appOf, tokensOf } from '../../../test/support/serving.ts';
import type { TokenReader } from '../../chain/tokens/token-reader.ts';
import { checksummed } from '../../registry/checksum.ts';
import { type Address, type Bytes32, NO_RIGHTS } from '../../registry/delegation.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

const [HOT, OTHER, VAULT, PAIR, QUIET] = [1, 2, 3, 4, 5].map((of) => address(0xa0 + of)) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
/** Grants with an expiry. */
const until = (expiry: number): Bytes32 => `0x${'0'.repeat(54)}${expiry.toString(16).padStart(10, '0')}`;
const FOREVER = until(0xff_ffff_ffff);
const tokens: TokenReader = {
  ...tokensOf(VAULT),
  balances: async (_of, owners) => ({ type: 'balances', balances: owners.map((one) => BigInt(one) % 7n) }),
};

interface Body {
  readonly holds: boolean | null;
  readonly block: { readonly number: number };
  readonly holders: readonly {
    readonly owner: string;
    readonly delegations: readonly { readonly chainId: number; readonly type: string }[];
  }[];
  readonly delegationChains?: readonly { readonly chainId: number; readonly block: { readonly number: number } }[];
  readonly next: string | null;
  readonly type?: string;
  readonly detail?: string;
  readonly chainId?: number;
}

for (const engine of ENGINES) {
  describe(`delegations of other chains on ${engine.name}`, () => {
    let store: Store;
    let chains: Awaited<ReturnType<typeof newChain>>[] = [];
    const random = createRandom(33);
    const people = Array.from({ length: 30 }, (_, of) => address(0x700 + of));
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
      chains = [await newChain(store, 1), await newChain(store, 10)];
      for (const [turn, chain] of chains.entries()) {
        const grants = Array.from({ length: 60 }, () => {
          const version = pickFrom(random, [1, 2] as const);
          return granted(pickFrom(random, ['ALL', 'CONTRACT']), {
            version,
            from: pickFrom(random, people),
            to: pickFrom(random, [HOT, HOT, OTHER]),
            rights: version === 1 ? null : pickFrom(random, [NO_RIGHTS, FOREVER, until(timeOf(110))]),
          });
        });
        const own = turn === 0 ? [granted('ALL', { from: PAIR, to: OTHER, rights: FOREVER })] : [];
        const there = [
          granted('ERC721', { from: VAULT, to: HOT, tokenId: 7n }),
          granted('ALL', { from: PAIR, to: HOT, rights: FOREVER }),
          granted('ALL', { from: VAULT, to: HOT, rights: until(timeOf(112)) }),
        ];
        await chain.add([
          block(101, grants.slice(0, 50)),
          block(104, turn === 0 ? own : there),
          block(105),
          block(107, grants.slice(50)),
          block(109),
          ...(turn === 0 ? [block(110)] : []),
        ]);
      }
    });
    afterAll(() => store.close());

    const clock = timeOf(110);
    const ask = async (query: string, { wallet = HOT, now = clock, served = [1, 10] } = {}) => {
      const app = appOf(store, now, { tokens, chainIds: new Set(served) });
      const path = `/registry/any/holders/${wallet}?contract=${CONTRACT}${query}`;
      const response = await app.fetch(new Request(`http://localhost${path}`));
      return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
    };
    const blocksOf = ({ delegationChains }: Body) =>
      delegationChains?.map(({ chainId, block: { number } }) => [chainId, number]);

    test('count where they are asked for, and every chain is named with its block', async () => {
      const alone = (await ask('&tokenId=7')).body;
      expect([alone.holds, alone.block.number, blocksOf(alone)]).toEqual([false, 110, undefined]);
      const { body, headers } = await ask('&tokenId=7&delegationChainId=1,10');
      expect([body.holds, body.block.number, blocksOf(body)]).toEqual([
        true,
        110,
        [
          [1, 110],
          [10, 109],
        ],
      ]);
      expect(body.holders[0]?.delegations.map(({ chainId }) => chainId)).toEqual([10]);
      // The other chain may change before the next block of this one.
      expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['public, no-cache', expect.any(String)]);
      expect(blocksOf((await ask('&tokenId=7&delegationChainId=10')).body)).toEqual([[10, 109]]);
      const own = await ask('&tokenId=7&delegationChainId=1');
      expect([own.body.holds, blocksOf(own.body), own.headers.get('x-block-number')]).toEqual([
        false,
        [[1, 110]],
        '110',
      ]);
    });

    test('are read at the time of an older block of the token', async () => {
      for (const [when, at, holds] of [
        ['block=107', 107, true],
        ['block=104', 104, true],
        ['block=101', 101, false],
        [`timestamp=${timeOf(104)}`, 104, true],
      ] as const) {
        const { body } = await ask(`&tokenId=7&delegationChainId=10,1&${when}`);
        expect([body.holds, body.block.number, blocksOf(body)]).toEqual([
          holds,
          at,
          [
            [10, at],
            [1, at],
          ],
        ]);
      }
      // The other chain is not there yet.
      const between = await ask(`&delegationChainId=10&block=109`);
      expect([between.status, between.body.type, between.body.detail]).toEqual([
        503,
        '/docs#problem-not-yet-indexed',
        expect.stringContaining('Chain 10 is indexed up to'),
      ]);
    });

    test('of one chain that is down there is no answer, and the problem names it', async () => {
      const both = '&tokenId=7&delegationChainId=10,1';
      const unserved = await ask(both, { served: [1] });
      expect([unserved.status, unserved.body.detail]).toEqual([400, 'delegationChainId 10 is not served here.']);
      // Its newest block is a second older than that of the token.
      const stale = await ask(both, { now: timeOf(109) + 61 });
      expect([stale.status, stale.body.type, stale.body.chainId]).toEqual([503, '/docs#problem-chain-stale', 10]);
      expect([stale.body.detail, stale.body.holds]).toEqual([expect.stringContaining('Chain 10 is stale'), undefined]);
      // Also where the first chain alone would be a yes, or the wallet is the owner itself.
      for (const wallet of [HOT, VAULT]) expect((await ask(both, { wallet, now: timeOf(109) + 61 })).status).toBe(503);
      expect((await ask('&tokenId=7', { wallet: VAULT, now: timeOf(109) + 61 })).body.holds).toBe(true);
      for (const more of ['', '&resolver=exclusive'])
        expect((await ask(`&delegationChainId=1,10${more}`, { now: timeOf(109) + 61 })).body.chainId).toBe(10);
    });

    test('where one wallet acts, the first chain that has one decides', async () => {
      const exclusive = async (wallet: Address, of: string, more = '') =>
        (await ask(`&resolver=exclusive&delegationChainId=${of}${more}`, { wallet })).body;
      const hasPair = ({ holders }: Body) => holders.some(({ owner }) => owner === checksummed(PAIR));
      expect(hasPair(await exclusive(HOT, '1,10'))).toBe(false);
      expect(hasPair(await exclusive(OTHER, '1,10'))).toBe(true);
      expect(hasPair(await exclusive(HOT, '10,1'))).toBe(true);
      expect(hasPair(await exclusive(HOT, '10'))).toBe(true);
      const one = await ask('&tokenId=7&resolver=exclusive&delegationChainId=1,10');
      expect([one.body.holds, one.body.holders[0]?.delegations]).toEqual([
        true,
        [expect.objectContaining({ chainId: 10, type: 'ALL' })],
      ]);
    });

    test('in pages of any length, everything is listed once, as in one page', async () => {
      for (const more of ['', '&resolver=exclusive', '&rights=none&block=107']) {
        const query = `&delegationChainId=10,1&numbers=string${more.replace('&rights=none', '')}`;
        const whole = (await ask(`${query}&limit=100`)).body;
        expect(whole.next).toBeNull();
        // Of each chain what it has alone, if each that was granted something may act.
        if (more === '') {
          const alone = await Promise.all(['1', '10'].map(async (of) => (await ask(`&delegationChainId=${of}`)).body));
          const owners = alone.flatMap(({ holders }) => holders.map(({ owner }) => owner));
          expect(whole.holders.map(({ owner }) => owner).sort()).toEqual([...new Set(owners)].sort());
          const grants = (bodies: readonly Body[]) =>
            bodies.flatMap(({ holders }) => holders.flatMap(({ delegations }) => delegations)).length;
          expect(grants([whole])).toBe(grants(alone));
        }
        expect(whole.holders.length).toBeGreaterThan(10);
        for (let limit = 1; limit < 6; limit++) {
          const holders: unknown[] = [];
          for (let cursor: string | null = ''; cursor !== null; ) {
            const { body } = await ask(`${query}&limit=${limit}${cursor && `&cursor=${cursor}`}`);
            holders.push(...body.holders);
            expect(body.delegationChains).toEqual(whole.delegationChains);
            cursor = body.next;
          }
          expect(holders).toEqual([...whole.holders]);
        }
      }
      const { next } = (await ask('&delegationChainId=10,1&limit=1')).body;
      for (const other of ['10', '1,10', '1'])
        expect((await ask(`&delegationChainId=${other}&limit=1&cursor=${next}`)).body.detail).toContain('not a cursor');
      expect((await ask(`&delegationChainId=10,1&limit=${1 + below(random, 4)}&cursor=${next}`)).status).toBe(200);
    });

    test('a wallet to which nothing is granted', async () => {
      const { body } = await ask('&tokenId=7&delegationChainId=1,10', { wallet: QUIET });
      expect([body.holds, body.holders]).toEqual([false, []]);
    });
  });
}
