// Questions to both registries and to several chains at once: vaults, delegates, and the list of a wallet.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { App } from '../src/http/server/app.ts';
import { checksummed } from '../src/registry/checksum.ts';
import type { Address } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { ENGINES } from './support/engines.ts';
import { address, block, COLD, CONTRACT, ended, granted, HOT, hash, revocation, timeOf } from './support/fixtures.ts';
import { appOf } from './support/serving.ts';

const OTHER = address(0xdd);
const VOTE = `0x${'766f7465'.padEnd(64, '0')}` as const;
const [POLYGON, BASE, GNOSIS] = [137, 8453, 100];
const [V1_ALL, V2_ALL, BOTH, AT_CONTRACT, AT_TOKEN, VOTER, PAST, ELSEWHERE] = [1, 2, 3, 4, 5, 6, 7, 8].map((of) =>
  address(0x1000 + of),
) as [Address, Address, Address, Address, Address, Address, Address, Address];

interface Row {
  readonly [name: string]: unknown;
  readonly chainId: number;
  readonly narrower: boolean;
  readonly grants: readonly { readonly version: number; readonly type: string; readonly rightsText: string | null }[];
}
interface Body {
  readonly wallet: string;
  readonly complete: boolean;
  readonly vaults: readonly Row[];
  readonly delegates: readonly Row[];
  readonly delegations: readonly { readonly version: number; readonly chainId: number; readonly from: string }[];
  readonly chains: readonly {
    chainId: number;
    block?: { number: number };
    indexedFrom?: number;
    problem?: { type: string; status: number };
  }[];
  readonly next: string | null;
}

const BLOCKS = [
  block(100, [
    granted('ALL', { version: 1, from: V1_ALL }),
    granted('ALL', { from: V2_ALL }),
    granted('ALL', { version: 1, from: BOTH }),
    granted('ALL', { from: BOTH }),
    granted('CONTRACT', { from: AT_CONTRACT }),
    granted('ERC721', { from: AT_TOKEN }),
    granted('ERC721', { from: AT_TOKEN, tokenId: 8n }),
    granted('TOKEN', { from: AT_TOKEN, tokenId: 9n }),
    granted('ALL', { from: VOTER, rights: VOTE }),
    granted('ALL', { from: PAST }),
    granted('CONTRACT', { from: ELSEWHERE, contract: OTHER }),
    granted('ALL', { from: HOT, to: COLD }),
  ]),
  block(101, [ended('ALL', { from: PAST })]),
  block(102),
];

for (const engine of ENGINES) {
  describe(`either registry on ${engine.name}`, () => {
    let store: Store;
    let app: App;

    beforeAll(async () => {
      store = await openStore(await engine.fresh());
      for (const chainId of [1, POLYGON, BASE]) {
        const { epoch } = await store.claim(chainId, 100);
        // Base is far behind its tip, and Gnosis has not started.
        const blocks = chainId === 1 ? BLOCKS : [block(102, [granted('ALL', { from: address(chainId) })])];
        await store.apply({ chainId, epoch, after: null, blocks, head: blocks.at(-1) ?? block(102) });
        if (chainId === BASE) await store.report(chainId, epoch, { tip: 5000 });
      }
      const chainIds = new Set([1, POLYGON, BASE, GNOSIS]);
      app = appOf(store, timeOf(102), { chainIds, maxLag: (chainId) => (chainId === BASE ? -1 : 60) });
    });
    afterAll(() => store.close());

    const send = (path: string, init?: RequestInit) =>
      app.fetch(new Request(`http://localhost/registry/any/${path}`, init));
    const get = async (path: string) => {
      const response = await send(path);
      expect([path, response.status]).toEqual([path, 200]);
      return (await response.json()) as Body;
    };
    /** The listed wallets, those with narrower grants in brackets. */
    const vaultsOf = async (query: string) =>
      (await get(`vaults/${HOT}?${query}`)).vaults.map(({ vault, narrower }) => (narrower ? [vault] : vault));
    const shown = (...wallets: Address[]) => wallets.map(checksummed);

    test('vaults: those that delegated everything, in either registry, once', async () => {
      expect(await vaultsOf('')).toEqual(shown(V1_ALL, V2_ALL, BOTH));
      const { vaults, wallet, complete, chains, next } = await get(`vaults/${HOT}`);
      expect([wallet, complete, next]).toEqual([checksummed(HOT), true, null]);
      expect(chains).toEqual([
        { chainId: 1, block: { number: 102, hash: hash(102), timestamp: timeOf(102) } },
      ] as never);
      expect(vaults.map(({ grants }) => grants.map(({ version, type }) => [version, type]))).toEqual([
        [[1, 'ALL']],
        [[2, 'ALL']],
        [
          [2, 'ALL'],
          [1, 'ALL'],
        ],
      ]);
    });

    test('each list says from which block a chain is indexed if its registries may be older', async () => {
      const partial = await openStore(await engine.fresh());
      const { epoch } = await partial.claim(1, 100, true);
      await partial.apply({ chainId: 1, epoch, after: null, blocks: BLOCKS, head: block(102) });
      const partialApp = appOf(partial, timeOf(102));
      for (const path of [`vaults/${HOT}`, `delegates/${COLD}`, `history/${HOT}`, HOT]) {
        const response = await partialApp.fetch(new Request(`http://localhost/registry/any/${path}`));
        const { chains } = (await response.json()) as Body;
        expect([path, chains[0]?.indexedFrom, (await get(path)).chains[0]?.indexedFrom]).toEqual([
          path,
          100,
          undefined,
        ]);
      }
      await partial.close();
    });

    test('vaults: of a contract, of a token, with a right, as of a block', async () => {
      const all = shown(V1_ALL, V2_ALL, BOTH);
      const [contract, token] = shown(AT_CONTRACT, AT_TOKEN);
      expect(await vaultsOf(`contract=${CONTRACT}`)).toEqual([...all, contract] as never);
      expect(await vaultsOf(`contract=${CONTRACT}&tokenId=7`)).toEqual([...all, contract, token] as never);
      expect(await vaultsOf(`contract=${CONTRACT}&tokenId=9`)).toEqual([...all, contract, token] as never);
      expect(await vaultsOf(`contract=${CONTRACT}&tokenId=10`)).toEqual([...all, contract] as never);
      expect(await vaultsOf('rights=text:vote')).toEqual([...all, ...shown(VOTER)]);
      expect(await vaultsOf('block=100')).toEqual([...all, ...shown(PAST)]);
      expect(await vaultsOf(`timestamp=${timeOf(100)}`)).toEqual([...all, ...shown(PAST)]);
    });

    test('vaults: narrower ones come after, with what they granted', async () => {
      const all = shown(V1_ALL, V2_ALL, BOTH);
      const [contract, token, elsewhere] = shown(AT_CONTRACT, AT_TOKEN, ELSEWHERE).map((one) => [one]);
      // AT_TOKEN granted in both registries: once for each.
      expect(await vaultsOf('narrower=true')).toEqual([...all, contract, token, elsewhere, token] as never);
      expect(await vaultsOf(`narrower=true&contract=${CONTRACT}`)).toEqual([
        ...all,
        ...shown(AT_CONTRACT),
        token,
        token,
      ] as never);
      expect(await vaultsOf(`narrower=true&contract=${CONTRACT}&tokenId=7`)).toHaveLength(5);
    });

    test('delegates: the mirror', async () => {
      for (const wallet of [V1_ALL, V2_ALL, BOTH, HOT]) {
        const { delegates } = await get(`delegates/${wallet}`);
        expect(delegates.map(({ delegate }) => delegate)).toEqual(shown(wallet === HOT ? COLD : HOT));
      }
      expect((await get(`delegates/${AT_TOKEN}`)).delegates).toEqual([]);
      expect((await get(`delegates/${AT_TOKEN}?contract=${CONTRACT}&tokenId=8`)).delegates).toHaveLength(1);
      expect((await get(`delegates/${AT_TOKEN}?narrower=true`)).delegates.map(({ narrower }) => narrower)).toEqual([
        true,
        true,
      ]);
    });

    test('the list of a wallet: both registries and several chains, each row with its version and chain', async () => {
      const { delegations } = await get(`${HOT}?chainId=1,${POLYGON}`);
      expect(delegations.map(({ version, chainId }) => `${version} ${chainId}`)).toEqual([
        ...Array.from({ length: 8 }, () => '2 1'),
        ...Array.from({ length: 3 }, () => '1 1'),
        `2 ${POLYGON}`,
      ]);
      const { delegations: free } = await get(`${HOT}?unrestricted=true`);
      expect(free).toHaveLength(10);
      expect((await get(`${HOT}?type=ALL&direction=outgoing`)).delegations).toHaveLength(1);
    });

    test('pages lead through everything, and each is as of the same blocks', async () => {
      for (const path of [
        `vaults/${HOT}?chainId=1,${POLYGON}&narrower=true`,
        `vaults/${HOT}?contract=${CONTRACT}`,
        `${HOT}?chainId=${POLYGON},1`,
      ]) {
        const rowsOf = (body: Body) => [...(body.vaults ?? []), ...(body.delegations ?? [])];
        const whole = rowsOf(await get(path));
        const found: unknown[] = [];
        let pages = 0;
        for (let cursor: string | null | undefined; cursor !== null; pages++) {
          const page = await get(`${path}&limit=2${cursor ? `&cursor=${cursor}` : ''}`);
          expect(page.chains.map(({ block: at }) => at?.number)).toEqual(page.chains.map(() => 102));
          expect(rowsOf(page).length).toBeLessThanOrEqual(2);
          found.push(...rowsOf(page));
          cursor = page.next;
        }
        // Rows that were found together may be apart in small pages: the delegations are the same.
        const grants = (rows: readonly unknown[]) =>
          rows
            .flatMap((row): readonly unknown[] => ('grants' in (row as Row) ? (row as Row).grants : [row]))
            .map((one) => JSON.stringify(one));
        expect(grants(found)).toEqual(grants(whole));
        expect(pages).toBeGreaterThan(1);
      }
    });

    test('one chain that is down and one that is backfilling spoil only their own part', async () => {
      const query = `vaults/${HOT}?chainId=1,${POLYGON},${BASE},${GNOSIS}`;
      const { complete, vaults, chains } = await get(query);
      expect(complete).toBe(false);
      expect(vaults.map(({ chainId }) => chainId)).toEqual([1, 1, 1, POLYGON]);
      expect(chains.map(({ chainId, block: at, problem }) => [chainId, at?.number ?? problem?.type])).toEqual([
        [1, 102],
        [POLYGON, 102],
        [BASE, '/docs#problem-chain-not-ready'],
        [GNOSIS, '/docs#problem-chain-not-ready'],
      ]);
      expect(await get(`vaults/${HOT}?chainId=served`)).toMatchObject({ complete: false });
      // A later page says the same of them.
      const first = await get(`${query}&limit=1`);
      const second = await get(`${query}&limit=1&cursor=${first.next}`);
      expect([second.complete, second.chains.map(({ problem }) => problem?.status)]).toEqual([
        false,
        [undefined, undefined, 409, 409],
      ]);
    });

    test('if no chain answers, the status says so', async () => {
      const alone = await send(`vaults/${HOT}?chainId=${BASE}`);
      expect([alone.status, ((await alone.json()) as { type: string }).type]).toEqual([
        503,
        '/docs#problem-chain-not-ready',
      ]);
      const both = await send(`vaults/${HOT}?chainId=${BASE},${GNOSIS}`);
      expect([both.status, both.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await both.json()).toMatchObject({
        type: '/docs#problem-no-chain-answered',
        chains: [{ chainId: BASE }, { chainId: GNOSIS, problem: { status: 503 } }],
      });
    });

    test('an answer about one chain names its block in the headers; about several it does not', async () => {
      const one = await send(`vaults/${HOT}`);
      expect(one.headers.get('x-block-number')).toBe('102');
      const several = await send(`vaults/${HOT}?chainId=1,${POLYGON}`);
      expect([several.headers.get('x-block-number'), several.headers.get('cache-control')]).toEqual([
        null,
        'public, no-cache',
      ]);
      for (const response of [one, several]) {
        const etag = response.headers.get('etag') ?? '';
        const path = response === one ? `vaults/${HOT}` : `vaults/${HOT}?chainId=1,${POLYGON}`;
        expect((await send(path, { headers: { 'if-none-match': etag } })).status).toBe(304);
      }
    });

    test('bad parameters are named', async () => {
      const faultsOf = async (query: string) => {
        const response = await send(`vaults/${HOT}?${query}`);
        expect([query, response.status]).toEqual([query, 400]);
        const { errors } = (await response.json()) as { errors: { parameter: string; detail: string }[] };
        return errors.map(({ parameter, detail }) => `${parameter} ${detail}`).join('; ');
      };
      expect(await faultsOf('tokenId=7')).toBe('contract is required with tokenId');
      expect(await faultsOf('chainId=1,1')).toBe('chainId names chain 1 more than once');
      expect(await faultsOf('chainId=1,x')).toContain('chainId must be chain ids in decimal digits');
      expect(await faultsOf('chainId=1,')).toContain('chainId must be chain ids in decimal digits');
      expect(await faultsOf('chainId=1,5')).toBe('chainId 5 is not served here');
      expect(await faultsOf(`chainId=1,${POLYGON}&block=102`)).toContain('block must not be a number');
      expect(await faultsOf('limit=0')).toContain('limit must be a number from 1');
      expect(await faultsOf('cursor=AAAAAAAAAAAA')).toBe('cursor is not a cursor of this list');
      const { next } = await get(`vaults/${HOT}?limit=1`);
      expect(await faultsOf(`contract=${CONTRACT}&cursor=${next}`)).toBe('cursor is not a cursor of this list');
      expect(await faultsOf(`cursor=${next}x`)).toBe('cursor is not a cursor of this list');
    });

    test('a page of a history that was rewritten is a 409', async () => {
      const chainId = 10;
      const { epoch } = await store.claim(chainId, 100);
      const blocks = BLOCKS.slice(0, 2);
      await store.apply({ chainId, epoch, after: null, blocks, head: block(101) });
      const other = appOf(store, timeOf(102), { chainIds: new Set([chainId]) });
      const ask = (path: string) => other.fetch(new Request(`http://localhost/registry/any/${path}`));
      const first = (await (await ask(`vaults/${HOT}?chainId=10&limit=1`)).json()) as Body;
      const head = block(101, [ended('ALL', { from: V2_ALL })], 1);
      await store.apply({ chainId, epoch, after: block(101), rollbackTo: 100, blocks: [head], head });
      const response = await ask(`vaults/${HOT}?chainId=10&limit=1&cursor=${first.next}`);
      expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([
        409,
        '/docs#problem-cursor-gone',
      ]);
    });

    test('a revocation that is not settled is a problem, not a guess', async () => {
      const chainId = 42161;
      const { epoch } = await store.claim(chainId, 100);
      const blocks = [block(100, [granted('ALL', { version: 1 })]), revocation(101)];
      await store.apply({ chainId, epoch, after: null, blocks, head: block(101) });
      const unread: unknown[] = [];
      const other = appOf(store, timeOf(102), {
        chainIds: new Set([chainId, 1]),
        onUnread: (_, question) => unread.push(question),
      });
      const ask = (path: string) => other.fetch(new Request(`http://localhost/registry/any/${path}`));
      for (const path of [`vaults/${HOT}`, `delegates/${COLD}`, HOT]) {
        const response = await ask(`${path}?chainId=${chainId}`);
        expect([path, response.status]).toEqual([path, 503]);
        expect(((await response.json()) as { type: string }).type).toBe('/docs#problem-revocation-unread');
        const several = (await (await ask(`${path}?chainId=${chainId},1`)).json()) as Body;
        expect([several.complete, several.chains[0]?.problem?.status]).toEqual([false, 503]);
      }
      expect(unread.length).toBeGreaterThan(0);
    });
  });
}
