// The page of a wallet in a real browser: five chains of which one is away, ids of 78 digits, rights as text and as bytes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { checksummed } from '../src/registry/checksum.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { accessibilityFaults } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { temporaryPath } from './support/engines.ts';
import { address } from './support/fixtures.ts';
import { serving } from './support/serving.ts';
import { AWAY, BUSY, CHAINS, FRIEND, fillWalletChains, LONG_ID, NOW, OWNER, VOTER } from './support/wallet-chains.ts';

let store: Store;
let server: ReturnType<typeof serving>;
let browser: Browser;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('wallet-page.db')}`);
  await fillWalletChains(store);
  server = serving(store, NOW, { chainIds: new Set(CHAINS), maxLag: () => 1e9 });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  await store.close();
});

async function visit(path: string, width = 1280, javaScriptEnabled = true): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, javaScriptEnabled });
  await page.goto(server.url + path);
  return page;
}

const WALLET = `/?wallet=${OWNER}`;

/** The parts of the page that reach beyond its right edge. */
const OUTSIDE = `[...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))`;

describe('however long its ids are', () => {
  test.each([[1280], [768], [390], [320]])('rights, time and Revoke are on a screen of %d pixels', async (width) => {
    const page = await visit(WALLET, width);
    expect(await page.evaluate(OUTSIDE)).toEqual([]);
    const row = page.getByRole('row').filter({ hasText: '115792…639877' }).first();
    expect(await row.innerText()).not.toContain(String(LONG_ID));
    for (const part of [row.getByText('only'), row.locator('time'), row.getByRole('link', { name: 'Revoke' })]) {
      const box = await part.boundingBox();
      expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= width).toBe(true);
    }
    await page.close();
  });

  test('the whole id can be copied', async () => {
    const page = await visit(WALLET);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page
      .getByRole('row')
      .filter({ hasText: '115792…639877' })
      .first()
      .getByRole('button', { name: 'Copy token id' })
      .click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(String(LONG_ID));
    await page.close();
  });
});

describe('the graph', () => {
  test('counts every wallet, and says how many are not drawn', async () => {
    const page = await visit(`/?wallet=${BUSY}`);
    expect(await page.locator('.graph .wide a').count()).toBe(7);
    expect(await page.locator('.graph').innerText()).toContain('Not drawn: 53 more wallets with a grant from it.');
    expect(await page.locator('.graph .wide').textContent()).toContain('and 53 more');
    await page.close();
  });

  test('names what each arrow is for, the same in both registries once, and leads to the wallets', async () => {
    const page = await visit(WALLET);
    const labels = page.locator('.graph .wide .scope');
    expect(await labels.allTextContents()).toContain('⚠ whole wallet');
    // Without a rule, SVG fills everything black.
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.graph .edge')).fill`)).toBe('none');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.graph .node')).fill`)).not.toBe(
      'rgb(0, 0, 0)',
    );
    await page.locator('.graph .wide a').first().press('Enter');
    await page.waitForURL((url) => url.searchParams.get('wallet')?.toLowerCase() !== OWNER);
    await page.close();
  });

  test('is above the table, has no empty half, and is left out for one other wallet', async () => {
    const page = await visit(WALLET);
    const boxOf = async (selector: string) => (await page.locator(selector).boundingBox()) ?? { x: 0, y: 0, width: 0 };
    expect((await boxOf('.graph')).y).toBeLessThan((await boxOf('.grants')).y);
    const whole = (await boxOf('.graph .wide')).width;
    // It has only granted.
    await page.goto(`${server.url}/?wallet=${BUSY}`);
    expect((await boxOf('.graph .wide')).width).toBeLessThan(0.7 * whole);
    const [self, edge] = [await boxOf('.graph .wide .self'), await boxOf('.graph .wide')];
    expect(self.x - edge.x).toBeLessThan(20);
    await page.goto(`${server.url}/?wallet=${FRIEND}`);
    expect([await page.locator('.grants').count(), await page.locator('.graph').count()]).toEqual([1, 0]);
    await page.close();
  });

  test('no letter is smaller than 12 pixels at any width', async () => {
    const page = await visit(WALLET);
    const smallest = `Math.min(...[...document.querySelectorAll('.graph text, .graph figcaption')].filter((one) => one.checkVisibility()).map((one) => parseFloat(getComputedStyle(one).fontSize) * (one.getCTM?.().a ?? 1)))`;
    for (const width of [320, 390, 600, 768, 895, 897, 1024, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, Number(await page.evaluate(smallest)) >= 12]).toEqual([width, true]);
      expect([width, await page.locator('.graph svg:visible').count()]).toEqual([width, 1]);
    }
    await page.close();
  });
});

test('filters, orders and pages work without script', async () => {
  const page = await visit(WALLET, 1280, false);
  const rows = page.locator('.grants tbody tr:not(.group)');
  expect(await rows.count()).toBe(11);
  await page.getByLabel('Direction').selectOption('it may act for');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/direction=incoming/);
  expect(await rows.count()).toBe(2);
  await page.getByLabel('Direction').selectOption('both directions');
  await page.getByLabel('Only without limit').check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/unlimited=yes/);
  expect(await rows.count()).toBe(2);

  await page.goto(`${server.url}/?wallet=${BUSY}`);
  expect(await rows.count()).toBe(50);
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.waitForURL(/page=2/);
  expect([await rows.count(), await page.getByText('51–60 of 60').count()]).toEqual([10, 1]);
  await page.close();
});

test('a narrow screen has a card for each grant, with a name for each value', async () => {
  const page = await visit(WALLET, 390);
  const labels = await page.evaluate(
    `[...document.querySelector('.grants tr:has(td)').querySelectorAll('[data-label]')].map((one) => getComputedStyle(one, '::before').content)`,
  );
  expect(labels).toEqual(['"Wallet"', '"What"', '"Rights"', '"Since"']);
  const [first, second] = await Promise.all([0, 1].map((at) => page.locator('.grants td').nth(at).boundingBox()));
  expect((second?.y ?? 0) > (first?.y ?? 0)).toBe(true);
  await page.close();
});

test('everything that can be pressed has 24 by 24 pixels', async () => {
  const small = `[...document.querySelectorAll('a, button, summary, select, input:not([type="hidden"])')]
    .filter((one) => one.checkVisibility() && !one.matches('.skip, svg *'))
    .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
    .filter(([, { width, height }]) => Math.min(width, height) < 23.9)
    .map(([text, { width, height }]) => text + ' ' + width + 'x' + height)`;
  for (const width of [390, 1280])
    for (const path of [
      WALLET,
      `${WALLET}&view=history`,
      `/revoke?wallet=${OWNER}&chain=1`,
      `/revoke?wallet=${OWNER}`,
      `/grant?wallet=${OWNER}`,
      '/',
      '/status',
    ]) {
      const page = await visit(path, width);
      expect([path, width, await page.evaluate(small)]).toEqual([path, width, []]);
      await page.close();
    }
});

test('the CSV is a download of every grant, and a page where a chain is away', async () => {
  const page = await visit(`${WALLET}&chain=1`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download as CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`delegations-${checksummed(OWNER)}.csv`);
  expect(readFileSync(await download.path(), 'utf8').split('\r\n')).toHaveLength(7);
  await page.goto(server.url + WALLET);
  await page.getByRole('link', { name: 'Download as CSV' }).click();
  await page.getByRole('heading', { name: 'No file was made' }).waitFor();
  expect(await page.locator('main').innerText()).toContain('Gnosis did not answer');
  await page.close();
});

test('printed, it has whole addresses, ids and times, the table, and nothing to press', async () => {
  const page = await visit(WALLET);
  await page.emulateMedia({ media: 'print' });
  const shown = (selector: string) => page.locator(`${selector}:visible`).count();
  expect([await shown('.grants'), await shown('form'), await shown('main button'), await shown('.action a')]).toEqual([
    1, 0, 0, 0,
  ]);
  const printed = (await page.evaluate(
    `[...document.querySelectorAll('.grants .short, .grants time')].map((one) => getComputedStyle(one, '::after').content)`,
  )) as string[];
  expect(printed).toContain(`"${LONG_ID}"`);
  expect(printed.join()).toContain('UTC, block 101');
  // Nothing of the short form is left in the text, where a copy of a PDF would join it to the whole one.
  const short = `[...document.querySelectorAll('.short')].map((one) => one.innerText + '|' + getComputedStyle(one, '::after').content)`;
  for (const path of [WALLET, `/revoke?wallet=${OWNER}&chain=1`, `/?to=${VOTER}&from=${OWNER}&type=all&chainId=1`]) {
    await page.goto(server.url + path);
    const texts = (await page.evaluate(short)) as string[];
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) expect([path, text]).toEqual([path, expect.stringMatching(/^\|"(0x)?[0-9a-f]{40,}"$/i)]);
  }
  await page.close();
});

test('with forced colors, the current tab and what is dangerous can still be seen', async () => {
  const page = await visit(WALLET);
  await page.emulateMedia({ forcedColors: 'active' });
  const lineOf = (tab: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('.tabs a${tab}')).borderBottomColor`);
  expect(await lineOf('[aria-current]')).not.toBe(await lineOf(':not([aria-current])'));
  const barOf = (row: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('.grants tr${row} td')).borderLeftWidth`);
  expect([await barOf('.dangerous'), await barOf(':not(.dangerous)')]).toEqual(['4px', '0px']);
  await page.close();
});

test('the keyboard alone leads from the address to a filter and to Revoke', async () => {
  const page = await visit(WALLET);
  const focused = () => page.evaluate(`document.activeElement.name || document.activeElement.textContent.trim()`);
  const tabTo = async (name: string) => {
    for (let left = 60; (await focused()) !== name && left > 0; left--) await page.keyboard.press('Tab');
    expect(await focused()).toBe(name);
  };
  await tabTo('History');
  await tabTo('unlimited');
  await page.keyboard.press('Space');
  await tabTo('Apply');
  await page.keyboard.press('Enter');
  await page.waitForURL(/unlimited=yes/);
  await tabTo('Revoke');
  await page.close();
});

test.each(
  Object.entries({
    grants: [WALLET, 1280],
    'grants-narrow': [WALLET, 390],
    history: [`${WALLET}&view=history`, 1280],
    'history-narrow': [`${WALLET}&view=history`, 390],
    'no-match': [`${WALLET}&kind=erc1155&chain=1`, 390],
    past: [`${WALLET}&chain=1&asOf=102`, 1280],
    empty: [`/?wallet=${address(0xdead)}&chain=1`, 1280],
    unknown: [`/?wallet=${address(0xdead)}`, 390],
    refused: [`${WALLET}&chain=${AWAY}`, 390],
    'not-an-address': ['/?wallet=0x12', 390],
  } as const),
)('%s: it fits and is accessible in both themes', async (name, [path, width]) => {
  const page = await visit(path, width);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  expect(await accessibilityFaults(page)).toEqual([]);
  const folder = process.env['SCREENSHOTS'];
  for (const colorScheme of folder ? (['light', 'dark'] as const) : []) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}/wallet-${name}-${colorScheme}.png`, fullPage: true });
  }
  await page.close();
});
