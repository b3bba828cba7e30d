// One question about many wallets: each answer is that of the wallet alone, all are of one block, and the work is counted.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { address, block, COLD, CONTRACT, granted, HOT, timeOf } from '../../../test/support/fixtures.ts';
import { admissionOf, appOf } from '../../../test/support/serving.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { createLongLists } from '../limits/long-lists.ts';

let store: Store;
let epoch = 0;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('wallets.db')}`);
  ({ epoch } = await store.claim(1, 100));
  const blocks = [
    block(101, [granted('ALL'), granted('CONTRACT', { from: address(3), to: HOT })]),
    block(103, [granted('ALL', { from: address(4), to: HOT })]),
    block(105),
  ];
  const head = blocks.at(-1) as (typeof blocks)[0];
  await store.apply({ chainId: 1, epoch, after: null, blocks, head, verified: 103 });
});
afterAll(() => store.close());

type App = ReturnType<typeof appOf>;
const send = (app: App, path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    }),
    () => '198.51.100.1',
  );
const WALLETS = [HOT, COLD, address(9), HOT.toUpperCase().replace('0X', '0x')];

interface Answer {
  readonly chainId: number;
  readonly block: { readonly number: number };
  readonly answers: readonly Record<string, unknown>[];
  readonly complete: boolean;
}

describe('POST /registry/any/vaults and delegates', () => {
  for (const [side, more] of [
    ['vaults', ''],
    ['vaults', `contract=${CONTRACT}&numbers=string`],
    ['vaults', 'narrower=true&block=101'],
    ['vaults', `timestamp=${timeOf(103)}`],
    ['delegates', 'block=finalized'],
  ] as const) {
    test(`${side} with ${more || 'no options'} are those of each wallet alone`, async () => {
      const app = appOf(store, timeOf(105));
      const response = await send(app, `/registry/any/${side}?${more}`, { wallets: WALLETS });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      const { answers, complete, block: of } = (await response.json()) as Answer;
      expect([answers.length, complete]).toEqual([WALLETS.length, true]);
      const asked = new URLSearchParams(more);
      asked.delete('timestamp');
      asked.set('block', String(of.number));
      for (const [position, wallet] of WALLETS.entries()) {
        const alone = await app.fetch(new Request(`http://localhost/registry/any/${side}/${wallet}?${asked}`));
        expect(answers[position]).toEqual((await alone.json()) as Record<string, unknown>);
      }
    });
  }

  test('a wallet that is none has a problem of its own', async () => {
    const response = await send(appOf(store, timeOf(105)), '/registry/any/vaults', {
      wallets: [HOT, '0x12', '../check/all', `${HOT}?limit=1`, HOT],
    });
    const { answers, complete } = (await response.json()) as Answer;
    expect(answers.map((one) => 'problem' in one)).toEqual([false, true, true, true, false]);
    expect(JSON.stringify(answers[1])).toContain('must be an address');
    expect(complete).toBe(false);
  });

  test('bad input is refused as a whole, and what it is', async () => {
    const app = appOf(store, timeOf(105));
    for (const [body, detail] of [
      ['x', 'not JSON'],
      ['null', 'list of addresses'],
      [{ wallet: [HOT] }, 'list of addresses'],
      [{ wallets: [] }, 'list of addresses'],
      [{ wallets: Array(1001).fill(HOT) }, 'at most 1000 addresses, not 1001'],
      [{ wallets: [HOT, 5] }, 'at position 1'],
      [{ wallets: ['0'.repeat(65)] }, 'at position 0'],
    ] as const) {
      const response = await send(app, '/registry/any/vaults', body);
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(detail)]);
    }
    expect((await send(app, '/registry/any/vaults', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await send(app, '/registry/any/vaults', ' '.repeat(70_000))).status).toBe(413);
    expect((await send(app, '/registry/any/vaults?limit=1', { wallets: [HOT] })).status).toBe(400);
    expect((await send(app, '/registry/any/vaults?chainId=1,10', { wallets: [HOT] })).status).toBe(400);
    expect((await send(app, '/registry/any/vaults?chainId=137', { wallets: [HOT] })).status).toBe(400);
    expect((await send(app, '/registry/any/vaults?block=99', { wallets: [HOT] })).status).toBe(404);
    // Neither final nor stored with its hash.
    expect((await send(app, '/registry/any/vaults?block=104', { wallets: [HOT] })).status).toBe(404);
    const gate = await send(app, `/registry/any/holders?contract=${CONTRACT}`, { wallets: [HOT] });
    expect([gate.status, await gate.text()]).toEqual([404, expect.stringContaining('OWNERSHIP=on')]);
  });

  test('each wallet counts as a request', async () => {
    const admission = admissionOf(5);
    const app = appOf(store, timeOf(105), { admission });
    const statusOf = async (count: number) => {
      const response = await send(app, '/registry/any/vaults', { wallets: Array(count).fill(HOT) });
      await response.text();
      return response.status;
    };
    expect([await statusOf(6), await statusOf(3), await statusOf(2)]).toEqual([413, 200, 429]);
  });

  test('a body that does not arrive keeps nobody from a long list', async () => {
    const longLists = createLongLists();
    const app = appOf(store, timeOf(105), { longLists });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', body: readable, headers, duplex: 'half' };
    const waiting = app.fetch(new Request('http://localhost/registry/any/vaults', init as RequestInit));
    const writer = writable.getWriter();
    await writer.write(Buffer.from(`{"wallets":["${HOT}"`));
    await Bun.sleep(0);
    expect(longLists.inFlight).toBe(0);
    await writer.write(Buffer.from(']}'));
    await writer.close();
    const response = await waiting;
    expect([response.status, longLists.inFlight]).toEqual([200, 1]);
    await response.text();
    expect(longLists.inFlight).toBe(0);
  });

  test('a caller without a key has four at a time, until they were read or cancelled', async () => {
    const app = appOf(store, timeOf(105));
    const begin = () => send(app, '/registry/any/vaults', { wallets: WALLETS });
    const begun = [await begin(), await begin(), await begin(), await begin()];
    expect(begun.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await begin()).status).toBe(429);
    await begun[0]?.text();
    expect((await begin()).status).toBe(200);
    expect((await begin()).status).toBe(429);
    await begun[1]?.body?.cancel();
    expect((await begin()).status).toBe(200);
  });
});

test('a reorg that replaces the block meanwhile cuts the answer off', async () => {
  const own = await openStore(`sqlite:${temporaryPath('wallets-reorg.db')}`);
  const { epoch: of } = await own.claim(1, 100);
  const tip = block(102, [granted('ALL')]);
  await own.apply({ chainId: 1, epoch: of, after: null, blocks: [block(101), tip], head: tip });
  const response = await send(appOf(own, timeOf(102)), '/registry/any/vaults', { wallets: WALLETS });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  expect(new TextDecoder().decode(value)).toStartWith('{"chainId":1,"block":{"number":102,');
  const other = block(102, [], 1);
  await own.apply({ chainId: 1, epoch: of, after: tip, blocks: [other], head: other, rollbackTo: 101 });
  const rest = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(rest()).rejects.toThrow('A reorg replaced block 102');
  await own.close();
});
