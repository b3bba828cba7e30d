// The change feed over HTTP, on both engines: pages and cursors, filters, final changes, several chains, and what was undone.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { newChain } from '../../../test/support/chain.ts';
import { ENGINES } from '../../../test/support/engines.ts';
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
  timeOf,
} from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { MAX_PAGE_SIZE } from '../../api/params.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { AppOptions } from '../server/app.ts';

interface Entry {
  readonly type: string;
  readonly chainId: number;
  readonly block: { readonly number: number; readonly hash: string | null; readonly timestamp: number | null };
  readonly logIndex: number;
  readonly final: boolean;
  readonly delegation: { readonly from: string; readonly to: string; readonly amount: number | string | null };
}
interface Body {
  readonly changes: readonly Entry[];
  readonly complete: boolean;
  readonly chains: readonly { chainId: number; block?: { number: number }; problem?: { type: string } }[];
  readonly end: boolean;
  readonly cursor: string;
  readonly errors?: readonly { parameter: string; detail: string }[];
}

const OTHER = address(5);
const v1All = delegation('ALL', { version: 1 });
const lineOf = ({ type, block: { number }, logIndex }: Entry) =>
  type === 'undo' ? `undo ${number}` : `${type} ${number}.${logIndex}`;

for (const engine of ENGINES) {
  describe(`changes over HTTP on ${engine.name}`, () => {
    let store: Store;
    let chain: Awaited<ReturnType<typeof newChain>>;
    let isAway = (_chainId: number) => false;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
    });
    afterAll(() => store.close());
    // Chains that are known networks: their ids have to be, and every test has one of its own.
    const ids = [1, 10, 56, 100, 137, 250, 324, 360, 1101, 1284, 1285, 1329, 1996, 2020, 2741, 2911, 5000, 7000, 8453];
    beforeEach(() => {
      isAway = () => false;
    });
    const start = async () => {
      chain = await newChain(store, ids.shift());
      return chain;
    };
    const send = (query: string, init: RequestInit = {}, more: Partial<AppOptions> = {}) =>
      appOf(store, timeOf(chain.state.head?.number ?? 0), {
        chainIds: new Set([...known, chain.chainId]),
        maxLag: (chainId) => (isAway(chainId) ? -1 : 1000),
        ...more,
      }).fetch(new Request(`http://localhost/registry/any/changes?${query}`, init));
    let known: number[] = [];
    const read = async (query: string, cursor?: string): Promise<Body> => {
      const chains = query.includes('chainId=') ? '' : `chainId=${chain.chainId}&`;
      const response = await send(`${chains}${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      return (await response.json()) as Body;
    };
    /** Reads pages to the end. */
    const readAll = async (query: string, from?: string) => {
      const found: Entry[] = [];
      for (let cursor = from; ; ) {
        const page = await read(query, cursor);
        found.push(...page.changes);
        cursor = page.cursor;
        if (page.end) return { lines: found.map(lineOf), entries: found, cursor };
      }
    };

    test('pages of any size give every change once, in the order of the chain', async () => {
      await start();
      await chain.add([
        block(101, [granted('ALL'), granted('ERC20', { amount: 1n }), granted('CONTRACT'), ended('CONTRACT')]),
        block(103, [granted('ERC20', { amount: 2n }), ended('ALL')]),
        block(105),
      ]);
      const all = ['began 101.0', 'began 101.1', 'changed 103.0', 'ended 103.1'];
      for (const limit of [1, 2, 3, 4, 5, 1000]) expect((await readAll(`limit=${limit}`)).lines).toEqual(all);
      const { changes, ...rest } = await read('numbers=string');
      expect(rest).toMatchObject({ complete: true, end: true, chains: [{ block: { number: 105, hash: hash(105) } }] });
      expect(changes[2]).toEqual({
        type: 'changed',
        chainId: chain.chainId,
        block: { number: 103, hash: hash(103), timestamp: timeOf(103) },
        transactionHash: hash(103_000),
        logIndex: 0,
        final: false,
        delegation: expect.objectContaining({ amount: '2', since: expect.objectContaining({ block: 103 }) }),
      } as never);
      // What ended is described as it was.
      expect(changes[3]?.delegation).toMatchObject({ type: 'ALL', since: { block: 101, logIndex: 0 } });
      expect((await send(`chainId=${chain.chainId}&limit=0`)).status).toBe(400);
      expect((await send(`chainId=${chain.chainId}&limit=${MAX_PAGE_SIZE + 1}`)).status).toBe(400);
    });

    test('a cursor continues after later blocks, and Link has the next request', async () => {
      await start();
      await chain.add([block(101, [granted('ALL')]), block(102)]);
      const { cursor } = await readAll('');
      expect((await read('', cursor)).changes).toEqual([]);
      await chain.add([block(104, [ended('ALL')]), block(105)]);
      const response = await send(`chainId=${chain.chainId}&limit=7&utm_source=x&cursor=${cursor}`);
      const body = (await response.json()) as Body;
      expect(body.changes.map(lineOf)).toEqual(['ended 104.0']);
      expect(response.headers.get('link')).toBe(
        `<?chainId=${chain.chainId}&limit=7&cursor=${body.cursor}>; rel="next"`,
      );
    });

    test('filters leave out other wallets and contracts, and never an undo', async () => {
      await start();
      await chain.add([
        block(100),
        block(101, [
          granted('ALL'),
          granted('ALL', { from: HOT, to: OTHER }),
          granted('CONTRACT', { to: OTHER }),
          granted('CONTRACT', { to: OTHER, contract: OTHER }),
        ]),
        block(102),
      ]);
      const linesOf = async (query: string) => (await readAll(query)).lines;
      expect(await linesOf(`wallet=${HOT}`)).toEqual(['began 101.0', 'began 101.1']);
      expect(await linesOf(`from=${HOT}`)).toEqual(['began 101.1']);
      expect(await linesOf(`to=${HOT}`)).toEqual(['began 101.0']);
      expect(await linesOf(`contract=${CONTRACT}`)).toEqual(['began 101.2']);
      expect(await linesOf(`wallet=${COLD}&to=${OTHER}&limit=1`)).toEqual(['began 101.2', 'began 101.3']);
      const { cursor } = await readAll(`from=${HOT}`);
      await chain.add([block(102, [], 1)], { rollbackTo: 100 });
      expect((await readAll(`from=${HOT}`, cursor)).lines).toEqual(['undo 100']);
    });

    test('what a filter leaves out is not read; where filters are combined, it is not read row by row', async () => {
      await start();
      const grants = Array.from({ length: 600 }, (_, id) => granted('ERC721', { tokenId: BigInt(id) }));
      await chain.add([block(101, [...grants, granted('ALL', { from: OTHER }), granted('ALL', { from: HOT })])]);
      let reads = 0;
      const counting = new Proxy(store, {
        get(target, name) {
          if (name === 'changes') reads++;
          return Reflect.get(target, name);
        },
      });
      const readsOf = async (query: string) => {
        reads = 0;
        const response = await send(`chainId=${chain.chainId}&${query}`, {}, { store: counting });
        const { changes } = (await response.json()) as Body;
        return [changes.map(lineOf), reads];
      };
      for (const filter of ['wallet', 'from', 'to', 'contract'])
        for (const limit of [1, 1000])
          expect([filter, await readsOf(`${filter}=${address(9)}&limit=${limit}`)]).toEqual([filter, [[], 1]]);
      expect(await readsOf(`wallet=${OTHER}&limit=2`)).toEqual([['began 101.600'], 1]);
      expect(await readsOf(`to=${HOT}&contract=${CONTRACT}&limit=1`)).toEqual([['began 101.0'], 1]);
      // One row, then three reads of many.
      expect(await readsOf(`to=${HOT}&contract=${address(9)}&limit=1`)).toEqual([[], 4]);
      const { lines } = await readAll(`from=${OTHER}&limit=1`);
      expect(lines).toEqual(['began 101.600']);
      const all = await readAll(`to=${HOT}&limit=7`);
      expect(all.lines).toHaveLength(602);
    });

    test('final=true reports a change when its block is final, and start=head none of the past', async () => {
      await start();
      await chain.add([block(101, [granted('ALL')]), block(102)]);
      const none = await send(`chainId=${chain.chainId}&final=true`);
      expect([none.status, ((await none.json()) as { type: string }).type]).toEqual([
        503,
        '/docs#problem-chain-not-ready',
      ]);
      await chain.add([block(103, [ended('ALL')]), block(104)], { verified: 102 });
      const final = await readAll('final=true');
      expect(final.entries.map((entry) => [lineOf(entry), entry.final])).toEqual([['began 101.0', true]]);
      const { chains } = await read('final=true');
      expect(chains).toMatchObject([{ block: { number: 102 } }]);
      const atHead = await readAll('start=head');
      const atFinal = await readAll('start=head&final=true');
      expect([...atHead.lines, ...atFinal.lines]).toEqual([]);
      expect((await readAll('')).entries.map((entry) => entry.final)).toEqual([true, false]);
      await chain.add([block(105, [granted('ALL')])], { verified: 104 });
      expect((await readAll('final=true', final.cursor)).lines).toEqual(['ended 103.0']);
      expect((await readAll('start=head&final=true', atFinal.cursor)).lines).toEqual(['ended 103.0']);
      expect((await readAll('start=head', atHead.cursor)).lines).toEqual(['began 105.0']);
      // A reorg above the final block undoes nothing for a reader of final changes.
      const { cursor } = await readAll('final=true', final.cursor);
      await chain.add([block(106, [granted('ALL')], 1)], { rollbackTo: 104 });
      expect((await readAll('final=true', cursor)).lines).toEqual([]);
    });

    /** Two chains of one feed; the second does not answer. */
    const startTwo = async () => {
      const first = await start();
      await first.add([block(101, [granted('ALL')]), block(102)]);
      const second = await start();
      await second.add([block(101, [granted('CONTRACT')]), block(102)]);
      known = [first.chainId];
      const query = `chainId=${first.chainId},${second.chainId}`;
      isAway = (chainId) => chainId === second.chainId;
      return { first, second, query };
    };

    test('a chain that does not answer is named, and is read later from where it was', async () => {
      const { first, second, query } = await startTwo();
      const one = await read(query);
      expect(one).toMatchObject({
        complete: false,
        end: true,
        chains: [
          { chainId: first.chainId, block: { number: 102 } },
          { chainId: second.chainId, problem: { type: '/docs#problem-chain-stale' } },
        ],
      });
      expect(one.changes.map(({ chainId }) => chainId)).toEqual([first.chainId]);
      isAway = () => true;
      const none = await send(query);
      expect([none.status, ((await none.json()) as { type: string }).type]).toEqual([
        503,
        '/docs#problem-no-chain-answered',
      ]);
      isAway = () => false;
      const other = await read(query, one.cursor);
      expect(other).toMatchObject({ complete: true, end: true });
      expect(other.changes.map(({ chainId }) => chainId)).toEqual([second.chainId]);
      for (const limit of [1, 2]) {
        const all = await readAll(`${query}&limit=${limit}`);
        expect(all.entries.map(({ chainId }) => chainId)).toEqual([first.chainId, second.chainId]);
      }
      expect((await readAll('chainId=served')).lines).toHaveLength(2);
      known = [];
    });

    test('a full page of one chain says of the others whether they answer, and start=head is taken from all of them', async () => {
      const { first, second, query } = await startTwo();
      expect(await read(`${query}&limit=1`)).toMatchObject({
        complete: false,
        chains: [{ chainId: first.chainId }, { problem: { type: '/docs#problem-chain-stale' } }],
      });
      // What happens on a chain while it does not answer is reported when it does.
      const { cursor } = await read(`${query}&start=head`);
      await second.add([block(103, [ended('CONTRACT')]), block(104)]);
      isAway = () => false;
      expect((await readAll(`${query}&start=head`, cursor)).lines).toEqual(['ended 103.0']);
      known = [];
    });

    test('a cursor of another feed, or one that was not made here, is refused', async () => {
      await start();
      await chain.add([block(101, [granted('ALL')]), block(102)]);
      const { cursor } = await read('');
      const refusal = [{ parameter: 'cursor', detail: 'is not a cursor of this feed' }];
      for (const query of [
        `wallet=${HOT}`,
        `from=${HOT}`,
        `to=${HOT}`,
        `contract=${HOT}`,
        'final=true',
        'chainId=served',
      ])
        expect([query, (await read(query, cursor)).errors]).toEqual([query, refusal]);
      const plain = Buffer.from(cursor, 'base64url').toString('latin1');
      const forged = [
        `${cursor}AA`,
        Buffer.from(plain.replace('-', '--')).toString('base64url'),
        Buffer.from(plain.replace(/,.*/, ',zzzzzz')).toString('base64url'),
        Buffer.from(plain.replace(/-\w+-/, '-zzzzzzzzzzz-')).toString('base64url'),
        // A number that is exact, but no database takes it for a revision.
        Buffer.from(plain.replace(/^(\w+-\w+-)\w+/, `$1${(2 ** 60).toString(36)}`)).toString('base64url'),
        Buffer.from(plain.replace(/-\w+-/, '-1.1.2.1.1-')).toString('base64url'),
        Buffer.from(`${plain.split(',')[0]},${plain}`).toString('base64url'),
        'AAAAAAAAAA',
      ];
      for (const text of forged) expect([text, (await read('', text)).errors]).toEqual([text, refusal]);
      // Other numbers and pages belong to the same feed.
      expect((await read('numbers=string&limit=3&start=head', cursor)).changes).toEqual([]);
    });

    test('after a reorg the next entry is an undo, and what replaced it follows', async () => {
      await start();
      await chain.add([block(101, [granted('ALL')]), block(102), block(103, [ended('ALL')]), block(104)]);
      const behindIt = await read('limit=1');
      const { cursor } = await readAll('');
      await chain.add([block(103, [granted('CONTRACT')], 1), block(104, [], 1)], { rollbackTo: 102 });
      const { entries, lines } = await readAll('limit=1', cursor);
      expect(lines).toEqual(['undo 102', 'began 103.0']);
      expect(entries[0]).toEqual({
        type: 'undo',
        chainId: chain.chainId,
        block: { number: 102, hash: hash(102), timestamp: timeOf(102) },
      } as never);
      expect((await readAll('', behindIt.cursor)).lines).toEqual(['began 103.0']);
    });

    test('a repair and a late v1 state are undone to the block before them', async () => {
      await start();
      await chain.add([block(101, [granted('ALL', v1All)]), revocation(103), block(105), block(110)], {
        verified: 108,
      });
      const head = await readAll('');
      const final = await readAll('final=true');
      expect([head.lines, final.lines]).toEqual([['began 101.0'], ['began 101.0']]);
      await chain.settle(settlement(103, { [HOT]: true }, { readAt: 110 }));
      const settled = await readAll('', head.cursor);
      expect(settled.lines).toEqual(['undo 101', 'ended 103.0']);
      const lateFinal = await readAll('final=true', final.cursor);
      expect(lateFinal.lines).toEqual(['undo 101', 'ended 103.0']);
      await chain.repair([block(105, [granted('CONTRACT')])]);
      expect((await readAll('', settled.cursor)).lines).toEqual(['undo 103', 'began 105.0']);
      expect((await readAll('final=true', lateFinal.cursor)).lines).toEqual(['undo 103', 'began 105.0']);
    });

    test('a halted chain reports nothing, also nothing final', async () => {
      await start();
      await chain.add([block(101, [granted('ALL')]), block(102)], { verified: 102 });
      await store.report(chain.chainId, chain.state.epoch, {
        halt: { code: 'registry-mismatch', since: 1, block: 101 },
      });
      for (const query of ['', '&final=true']) {
        const response = await send(`chainId=${chain.chainId}${query}`);
        expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([
          503,
          '/docs#problem-chain-halted',
        ]);
      }
    });

    test('final changes are answered while the head is stale', async () => {
      await start();
      await chain.add([block(101, [granted('ALL')]), block(102)], { verified: 101 });
      isAway = () => true;
      expect((await send(`chainId=${chain.chainId}`)).status).toBe(503);
      expect((await readAll('final=true')).lines).toEqual(['began 101.0']);
    });

    test('an ETag is the same while nothing happens; HEAD has the headers', async () => {
      await start();
      await chain.add([block(101, [granted('ALL')]), block(102)]);
      const query = `chainId=${chain.chainId}`;
      const response = await send(query);
      const etag = response.headers.get('etag') ?? '';
      const again = await send(query, { headers: { 'if-none-match': etag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
      const head = await send(query, { method: 'HEAD' });
      expect([head.status, head.headers.get('etag'), head.headers.get('link')]).toEqual([
        200,
        etag,
        response.headers.get('link'),
      ]);
      await chain.add([block(103)]);
      expect((await send(query, { headers: { 'if-none-match': etag } })).status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('public, no-cache');
    });
  });
}
