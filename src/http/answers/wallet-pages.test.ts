// The history of a wallet over HTTP, on both engines.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { newChain } from '../../../test/support/chain.ts';
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
import { appOf } from '../../../test/support/serving.ts';
import { StoreError } from '../../store/errors.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';

interface Log {
  readonly block: number;
  readonly logIndex: number;
}
interface Grant {
  readonly type: string;
  readonly chainId: number;
  readonly amount: string | number | null;
  readonly since: Log;
  readonly until: Log | null;
}
interface Body {
  readonly type?: string;
  readonly grants: readonly Grant[];
  readonly complete: boolean;
  readonly chains: readonly object[];
  readonly next: string | null;
}

const [OTHER, ALONE, NEVER] = [address(5), address(6), address(7)];
const [OPTIMISM, POLYGON, BASE] = [10, 137, 8453];
const lineOf = ({ type, since, until }: Grant) =>
  `${type} ${since.block}.${since.logIndex}${until === null ? '' : ` to ${until.block}.${until.logIndex}`}`;

for (const engine of ENGINES) {
  describe(`the history of a wallet on ${engine.name}`, () => {
    let store: Store;
    let main: Awaited<ReturnType<typeof newChain>>;
    beforeAll(async () => {
      store = await openStore(await engine.fresh());
      main = await newChain(store, 1);
      await main.add([
        block(100),
        block(101, [granted('ALL'), granted('ERC20', { amount: 1n }), granted('ALL', { from: HOT, to: OTHER })]),
        block(103, [granted('ERC20', { amount: 2n }), ended('ALL')]),
        block(104, [granted('CONTRACT'), ended('CONTRACT')]),
        block(105, [granted('ALL'), granted('ALL', { from: ALONE, to: ALONE })]),
        block(110),
      ]);
      const other = await newChain(store, POLYGON);
      await other.add([block(102, [granted('ALL')]), block(110)]);
    });
    afterAll(() => store.close());

    const send = (path: string, init?: RequestInit) =>
      appOf(store, timeOf(110), { chainIds: new Set([1, POLYGON, BASE]) }).fetch(
        new Request(`http://localhost/registry/any/history/${path}`, init),
      );
    const read = async (path: string) => (await (await send(path)).json()) as Body;
    const linesOf = async (path: string) => (await read(path)).grants.map(lineOf);

    const ALL = ['ALL 105.0', 'ERC20 103.0', 'ALL 101.2', 'ERC20 101.1 to 103.0', 'ALL 101.0 to 103.1'];

    test('every grant is listed with what ended it, the newest first', async () => {
      const { grants, ...rest } = await read(HOT);
      expect(
        grants.map((grant) => lineOf({ ...grant, type: (grant as { standard?: string }).standard ?? grant.type })),
      ).toEqual(ALL);
      expect(rest).toMatchObject({ complete: true, next: null, chains: [{ chainId: 1, block: { number: 110 } }] });
      expect(grants[3]).toMatchObject({
        amount: 1,
        since: { block: 101, timestamp: timeOf(101), transactionHash: hash(101_001), logIndex: 1 },
        until: { block: 103, timestamp: timeOf(103), transactionHash: hash(103_000), logIndex: 0 },
      });
      expect((await read(NEVER)).grants).toEqual([]);
    });

    test('pages of any size give the same, also after new blocks', async () => {
      const whole = await linesOf(HOT);
      for (const limit of [1, 2, 3, 5, 6]) {
        const found: string[] = [];
        for (let next: string | null = ''; next !== null; ) {
          const page: Body = await read(`${HOT}?limit=${limit}${next && `&cursor=${next}`}`);
          found.push(...page.grants.map(lineOf));
          next = page.next;
        }
        expect(found).toEqual(whole);
      }
      const response = await send(`${HOT}?limit=2`);
      expect(response.headers.get('link')).toContain('rel="next"');
      const { next } = (await response.json()) as Body;
      for (const path of [
        `${COLD}?cursor=${next}`,
        `${HOT}?direction=incoming&cursor=${next}`,
        `${HOT}?cursor=AAAAAAAAAA`,
      ])
        expect((await send(path)).status).toBe(400);
    });

    test('direction selects what the wallet issued or got', async () => {
      expect(await linesOf(`${HOT}?direction=outgoing`)).toEqual(['ALL 101.2']);
      expect(await linesOf(`${HOT}?direction=incoming`)).toHaveLength(4);
      expect(await linesOf(`${COLD}?direction=outgoing`)).toEqual(await linesOf(`${HOT}?direction=incoming`));
    });

    test('a wallet that delegated to itself has the grant once, in each direction', async () => {
      for (const query of ['', '?direction=incoming', '?direction=outgoing'])
        expect(await linesOf(`${ALONE}${query}`)).toEqual(['ALL 105.1']);
    });

    test('as of a block or a time, what ended later had not ended', async () => {
      expect(await linesOf(`${COLD}?block=102`)).toEqual(['TOKEN 101.1', 'ALL 101.0']);
      expect(await linesOf(`${COLD}?timestamp=${timeOf(103)}`)).toEqual([
        'TOKEN 103.0',
        'TOKEN 101.1 to 103.0',
        'ALL 101.0 to 103.1',
      ]);
      expect((await send(`${COLD}?block=99`)).status).toBe(404);
      expect((await send(`${COLD}?block=111`)).status).toBe(503);
      expect((await send(`${COLD}?block=102&timestamp=${timeOf(103)}`)).status).toBe(400);
    });

    test('several chains follow one another, and one that does not answer is named', async () => {
      const body = await read(`${COLD}?chainId=${POLYGON},1,${BASE}`);
      expect(body.grants.map(({ chainId }) => chainId)).toEqual([POLYGON, 1, 1, 1, 1]);
      expect(body).toMatchObject({ complete: false, chains: [{}, {}, { problem: { title: 'Chain not ready' } }] });
      expect((await send(`${COLD}?chainId=1,${POLYGON}&block=102`)).status).toBe(400);
    });

    test('what one chain has is not lost where the next one fails while it is read', async () => {
      const history: Store['history'] = (query) =>
        query.chainId === POLYGON ? Promise.reject(new StoreError('failed', 'Why.')) : store.history(query);
      const app = appOf({ ...store, history }, timeOf(110), { chainIds: new Set([1, POLYGON]), onError: () => {} });
      const url = `http://localhost/registry/any/history/${COLD}?chainId=1,${POLYGON}`;
      const body = (await (await app.fetch(new Request(url))).json()) as Body;
      expect(body.grants.map(({ chainId }) => chainId)).toEqual([1, 1, 1, 1]);
      expect(body).toMatchObject({ complete: false, chains: [{ chainId: 1 }, { chainId: POLYGON, problem: {} }] });
    });

    test('a reorg before the first row is read makes the page begin again', async () => {
      const chain = await newChain(store, OPTIMISM);
      await chain.add([block(100), block(110, [granted('ALL')])]);
      let reorgs = 0;
      const pin: Store['pin'] = async (...args) => {
        const pinned = await store.pin(...args);
        if (reorgs++ === 0) await chain.add([block(110, [granted('CONTRACT')], 1)], { rollbackTo: 100 });
        return pinned;
      };
      const app = appOf({ ...store, pin }, timeOf(110), { chainIds: new Set([OPTIMISM]) });
      const response = await app.fetch(new Request(`http://localhost/registry/any/history/${HOT}?chainId=${OPTIMISM}`));
      expect(await response.json()).toMatchObject({
        grants: [{ type: 'CONTRACT' }],
        chains: [{ block: { hash: block(110, [], 1).hash } }],
      });
    });

    test('a v1 revocation that is not settled refuses the history of its wallets, and no other', async () => {
      const chain = await newChain(store, BASE);
      const v1 = delegation('ALL', { version: 1 });
      await chain.add([block(101, [granted('ALL', v1)]), revocation(103), block(110)]);
      for (const wallet of [COLD, HOT]) {
        const response = await send(`${wallet}?chainId=${BASE}`);
        expect([response.status, ((await response.json()) as Body).type]).toEqual([
          503,
          '/docs#problem-revocation-unread',
        ]);
      }
      expect(await linesOf(`${NEVER}?chainId=${BASE}`)).toEqual([]);
      await chain.settle(settlement(103, { [HOT]: true }));
      expect(await linesOf(`${COLD}?chainId=${BASE}`)).toEqual(['ALL 101.0 to 103.0']);
    });

    test('a reorg between two pages ends the list; ETag, 304 and HEAD are those of other lists', async () => {
      const response = await send(`${HOT}?limit=1`);
      const etag = response.headers.get('etag') ?? '';
      const { next } = (await response.json()) as Body;
      expect((await send(`${HOT}?limit=1`, { headers: { 'if-none-match': etag } })).status).toBe(304);
      expect((await send(`${HOT}?limit=1`, { method: 'HEAD' })).headers.get('etag')).toBe(etag);
      expect(response.headers.get('x-block-number')).toBe('110');
      await main.add([block(110, [granted('CONTRACT')], 1)], { rollbackTo: 105 });
      const gone = await send(`${HOT}?limit=1&cursor=${next}`);
      expect([gone.status, ((await gone.json()) as Body).type]).toEqual([409, '/docs#problem-cursor-gone']);
      expect((await send(`${HOT}?limit=1`, { headers: { 'if-none-match': etag } })).status).toBe(200);
    });
  });
}
