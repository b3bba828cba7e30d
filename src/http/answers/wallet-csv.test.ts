import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { address, block, granted, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { CHAINS, fillWalletChains, LONG_ID, NOW, OWNER } from '../../../test/support/wallet-chains.ts';
import { type CsvRow, readCsv } from '../../cli/csv.ts';
import { checksummed } from '../../registry/checksum.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import type { App } from '../server/app.ts';

const get = (app: App, query: string) => app.fetch(new Request(`http://localhost/wallet.csv?${query}`));

async function rowsOf(app: App, query: string): Promise<Record<string, string>[]> {
  const response = await get(app, query);
  expect([query, response.status, response.headers.get('content-type')]).toEqual([
    query,
    200,
    'text/csv; charset=utf-8',
  ]);
  const rows: CsvRow[] = [];
  for await (const batch of readCsv(response.body as ReadableStream<Uint8Array>)) rows.push(...batch.rows);
  const [names, ...cells] = rows.map((row) => row.cells);
  return cells.map((row) => Object.fromEntries(row.map((cell, index) => [names?.[index] ?? '', cell])));
}

describe('the CSV of a wallet', () => {
  let store: Store;
  let app: App;
  let withAway: App;

  beforeAll(async () => {
    store = await openStore(`sqlite:${temporaryPath('csv.db')}`);
    await fillWalletChains(store);
    const maxLag = () => 1e9;
    app = appOf(store, NOW, { chainIds: new Set([1, 10, 137, 8453]), maxLag });
    withAway = appOf(store, NOW, { chainIds: new Set(CHAINS), maxLag });
  });
  afterAll(() => store.close());

  test('is one at a time for each caller, until it was sent or cancelled', async () => {
    const from = (address: string, method = 'GET') =>
      app.fetch(new Request(`http://localhost/wallet.csv?wallet=${OWNER}`, { method }), () => address);
    const first = await from('198.51.100.1');
    expect([first.status, (await from('198.51.100.1')).status]).toEqual([200, 429]);
    const other = await from('198.51.100.2');
    expect(other.status).toBe(200);
    await other.body?.cancel();
    await first.text();
    for (const method of ['HEAD', 'HEAD', 'GET']) {
      const again = await from('198.51.100.1', method);
      expect([method, again.status]).toEqual([method, 200]);
      await again.body?.cancel();
    }
    expect((await get(app, `wallet=${OWNER}&chain=5`)).status).not.toBe(429);
  });

  test('has every grant with whole values, the standard of each token, and rights as bytes and text', async () => {
    const rows = await rowsOf(app, `wallet=${OWNER}`);
    expect(rows).toHaveLength(11);
    expect(rows.map(({ kind }) => kind).sort()).toEqual([
      'ALL',
      'ALL',
      'ALL',
      'ALL',
      'CONTRACT',
      'CONTRACT',
      'ERC1155',
      'ERC20',
      'ERC721',
      'ERC721',
      'TOKEN',
    ]);
    expect(rows.find(({ kind }) => kind === 'TOKEN')).toMatchObject({
      registry: 'v1',
      chain_id: '10',
      chain: 'Optimism',
      direction: 'outgoing',
      from: checksummed(OWNER),
      token_id: String(LONG_ID),
      rights: '',
      since_block: '101',
      since_time: new Date(timeOf(101) * 1000).toISOString(),
    });
    expect(rows.find(({ rights_text }) => rights_text === 'claim')?.['rights_expire']).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(rows.find(({ kind }) => kind === 'ERC20')?.['amount']).toBe('250');
  });

  test('does not hand a spreadsheet a formula that somebody wrote into the rights', async () => {
    const rows = await rowsOf(app, `wallet=${OWNER}&direction=incoming&kind=all`);
    expect(rows.map(({ rights_text }) => rights_text)).toEqual([`'=1+1,"x";'@y`]);
  });

  test('has the rows that the same filters show on the page', async () => {
    expect(await rowsOf(app, `wallet=${OWNER}&unlimited=yes`)).toHaveLength(2);
    expect(await rowsOf(app, `wallet=${OWNER}&kind=erc20`)).toHaveLength(1);
    expect(await rowsOf(app, `wallet=${OWNER}&chain=10`)).toHaveLength(3);
    expect(await rowsOf(app, `wallet=${OWNER}&chain=1&asOf=102`)).toHaveLength(6);
  });

  test('is refused with a page rather than lacking a chain that does not answer', async () => {
    const response = await get(withAway, `wallet=${OWNER}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(await response.text()).toContain('Gnosis did not answer');
    expect(await rowsOf(withAway, `wallet=${OWNER}&chain=1`)).toHaveLength(5);
  });

  test.each([['wallet=0x12'], [`wallet=${OWNER}&chian=1`], [`wallet=${OWNER}&chain=5`]])(
    '%s is refused',
    async (query) => {
      expect((await get(app, query)).status).toBe(400);
    },
  );
});

test('a long wallet is sent whole, and a file that cannot be finished is broken off', async () => {
  const store = await openStore(`sqlite:${temporaryPath('long-csv.db')}`);
  const { epoch } = await store.claim(1, 100);
  const owner = address(7);
  const grants = Array.from({ length: 2500 }, (_, id) => granted('ERC721', { from: owner, tokenId: BigInt(id) }));
  await store.apply({ chainId: 1, epoch, after: null, blocks: [block(101, grants)], head: block(101) });
  const rows = await rowsOf(appOf(store, timeOf(101)), `wallet=${owner}`);
  expect([rows.length, new Set(rows.map(({ token_id }) => token_id)).size]).toEqual([2500, 2500]);

  // The chain goes stale while the file is sent.
  let now = timeOf(101);
  const app = appOf(store, 0, { now: () => now });
  const response = await get(app, `wallet=${owner}`);
  now += 1000;
  await expect(response.text()).rejects.toThrow('cut off');
  await store.close();
});
