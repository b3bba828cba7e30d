// The page of a wallet with very many grants, all with ids of 78 digits: it stays small, and finds what is dangerous.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { App } from '../src/http/server/app.ts';
import { MAX_UINT256 } from '../src/registry/delegation.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { accessibilityFaults } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { temporaryPath } from './support/engines.ts';
import { address, block, COLD, granted, timeOf } from './support/fixtures.ts';
import { appOf, serving } from './support/serving.ts';

/** Many times what a page reads. */
const GRANTS = 10_000;
const A_BLOCK = 5000;
const LAST = GRANTS / A_BLOCK + 1;
/** Uncompressed. */
const MAX_BYTES = 250_000;
/** Each has a token in turn. One more, the last of all, has no limit. */
const HOLDERS = 20;
const UNLIMITED = address(0xbad);

let store: Store;
let app: App;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('large-wallet-page.db')}`);
  let state = await store.claim(1, 1);
  for (let number = 1, id = 0n; number <= LAST; number++) {
    const grants = Array.from({ length: number === LAST ? 0 : A_BLOCK }, () => {
      id++;
      return granted('ERC721', { tokenId: MAX_UINT256 - id, to: address(0x1000 + Number(id % BigInt(HOLDERS))) });
    });
    const one = block(number, number === LAST ? [granted('ALL', { to: UNLIMITED })] : grants);
    state = await store.apply({ chainId: 1, epoch: state.epoch, after: state.head, blocks: [one], head: one });
  }
  app = appOf(store, timeOf(LAST));
});
afterAll(() => store.close());

async function get(query: string): Promise<{ html: string; words: string }> {
  const began = performance.now();
  const response = await app.fetch(new Request(`http://localhost/?wallet=${COLD}${query}`));
  const html = await response.text();
  console.log(
    `a wallet of ${GRANTS} grants${query}: ${html.length} bytes after ${Math.round(performance.now() - began)} ms`,
  );
  expect([response.status, html.length < MAX_BYTES]).toEqual([200, true]);
  return { html, words: html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ') };
}
const rowsIn = (html: string) => html.match(/data-key="outgoing\./g)?.length ?? 0;

test('the page counts what it read, says so, and names a wallet without any limit that it did not read', async () => {
  const { html, words } = await get('');
  expect(words).toContain(`At least ${HOLDERS + 1} wallets may act for it, 1 without any limit`);
  expect(words).toContain(
    'This wallet has very many grants. 1,001 were read for this page: those without any limit first, then the others by chain and registry, the oldest first.',
  );
  // No order is offered that the page cannot have.
  expect(words).not.toMatch(/Newest first|Order/);
  expect([rowsIn(html), html.includes('data-part')]).toEqual([50, false]);
  const [, first = ''] = /data-key="(outgoing\.[^"]+)"/.exec(html) ?? [];
  expect(first).toEndWith(`v2.ALL.${UNLIMITED}`);
  const unlimited = await get('&unlimited=yes&direction=outgoing');
  expect(rowsIn(unlimited.html)).toBe(1);
  expect(unlimited.html).toContain(UNLIMITED);
});

test('without such a wallet it claims no more than it knows', async () => {
  const words = (await get(`&asOf=${LAST - 1}&chain=1`)).words;
  expect(words).toContain(`At least ${HOLDERS} wallets could act for it, each within limits.`);
});

test('the rest can be reached page by page', async () => {
  const seen = new Set<string>();
  let query: string | undefined = '&direction=outgoing';
  for (let turn = 0; turn < 3; turn++) {
    const { html } = await get(query ?? '');
    for (const [, key] of html.matchAll(/data-key="(outgoing\.[^"]+)"/g)) seen.add(key ?? '');
    query = /href="\/\?wallet=0x[0-9a-fA-F]{40}(&amp;[^"#]*cursor=[^"#]*)/.exec(html)?.[1]?.replaceAll('&amp;', '&');
    expect(query).toBeDefined();
  }
  expect(seen.size).toBe(150);
});

test('the last page of the list names its order too, and leads back to its beginning', async () => {
  const { html, words } = await get('&direction=outgoing&kind=all');
  expect(rowsIn(html)).toBe(1);
  const [, next = ''] = /href="\/\?wallet=0x[0-9a-fA-F]{40}(&amp;[^"#]*cursor=[^"#]*)/.exec(html) ?? [];
  let query = next.replaceAll('&amp;', '&');
  expect(words).toContain('Only a part of them was searched for this page: 1 matches so far,');
  for (let turn = 0; query !== ''; turn++) {
    expect(turn).toBeLessThan(5);
    const page = await get(query);
    const following = /href="\/\?wallet=0x[0-9a-fA-F]{40}(&amp;[^"#]*cursor=[^"#]*)/.exec(page.html)?.[1] ?? '';
    query = following.replaceAll('&amp;', '&');
    expect(page.words).not.toContain('Newest first');
    expect(page.words).toContain('Back to the beginning');
  }
});

test('to revoke several, what has no limit is offered first', async () => {
  const response = await app.fetch(new Request(`http://localhost/revoke?wallet=${COLD}&chain=1`));
  const html = await response.text();
  const ids = [...html.matchAll(/name="grant" value="([^"]+)"/g)].map(([, id]) => id);
  expect([ids[0], ids.length]).toEqual([`v2.ALL.${UNLIMITED}`, 26]);
  expect(html).toContain('Wallets without any limit first, then by registry, the oldest first.');
});

test('a filter that finds nothing in what was read says that it has not seen everything', async () => {
  const { words } = await get('&kind=contract&direction=outgoing');
  expect(words).toContain('Only a part of them was searched for this page: 0 match so far,');
  expect(words).toContain('No grants match these filters so far.');
});

test('its history is as long as a page', async () => {
  const { html, words } = await get('&view=history');
  expect(words).toContain('This wallet has a very long history. The time line has 1,000 of its grants');
  expect([rowsIn(html), html.includes('data-part')]).toEqual([50, false]);
});

test('in a browser it fits, can be read on, and leads to the revocation of the dangerous one; its CSV has every grant', async () => {
  const [server, browser] = [serving(store, timeOf(LAST)), await startBrowser()];
  try {
    for (const width of [1280, 390]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      await page.goto(`${server.url}/?wallet=${COLD}`);
      expect(await page.locator('[data-key^="outgoing."]').count()).toBe(50);
      expect(await page.locator('.grants tr:has(td)').first().innerText()).toContain('no limit');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page
        .getByRole('link', { name: /^Next grants/ })
        .first()
        .click();
      await page.waitForURL(/cursor=/);
      expect(await page.locator('[data-key^="outgoing."]').count()).toBe(50);
      await page.goto(`${server.url}/?wallet=${COLD}&unlimited=yes&direction=outgoing`);
      await page.getByRole('link', { name: /^Revoke the grant/ }).click();
      await page.getByText('will no longer be able to act for').waitFor();
      expect(await page.locator('[data-transaction]').count()).toBe(1);
      await page.close();
    }
    const csv = await (await fetch(`${server.url}/wallet.csv?wallet=${COLD}`)).text();
    expect(csv.trimEnd().split('\r\n')).toHaveLength(GRANTS + 2);
  } finally {
    await browser.close();
    await server.stop();
  }
});
