// Every page in a real browser on the sandbox: layout, network requests and accessibility.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { COLD, CONTRACTS, HOT, OTHER, SMART } from '../src/sandbox/wallets.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';

const AXE = readFileSync(join(import.meta.dir, '../node_modules/axe-core/axe.min.js'), 'utf8');
const used = useSandboxInBrowser();

interface Visit {
  readonly page: Page;
  /** Errors in the browser's console, policy violations included. */
  readonly complaints: string[];
  readonly asked: Set<string>;
}

async function visit(path: string, width = 1280): Promise<Visit> {
  const page = await used.browser.newPage({ viewport: { width, height: 900 } });
  const complaints: string[] = [];
  const asked = new Set<string>();
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  await page.goto(used.url + path);
  return { page, complaints, asked };
}

const CHECK = `from=${COLD.Finn}&to=${OTHER['Old phone']}&type=all&chainId=1`;
const PAGES = [
  ['explorer-empty', '/'],
  ['explorer-wallet', `/?wallet=${COLD.Ada}`],
  ['explorer-nobody', '/?wallet=0x000000000000000000000000000000000000dEaD'],
  ['explorer-fault', '/?wallet=0x12'],
  ['explorer-yes', `/?from=${COLD.Ada}&to=${HOT.Ada}&type=all&chainId=1&rights=vote`],
  ['explorer-no', `/?${CHECK}`],
  ['status', '/status'],
  ['developers', '/developers'],
  ['docs', '/docs'],
] as const;

describe('every page', () => {
  for (const width of [1280, 390]) {
    test(`fits ${width} pixels, makes no external request, and has no serious accessibility violation in either theme`, async () => {
      for (const [name, path] of PAGES) {
        const { page, complaints, asked } = await visit(path, width);
        expect(await page.locator('p.sandbox').count()).toBe(1);
        await page.evaluate(AXE);
        // The themes differ in colors alone.
        for (const [colorScheme, options] of [
          ['light', '{}'],
          ['dark', '{ runOnly: ["color-contrast"] }'],
        ] as const) {
          await page.emulateMedia({ colorScheme });
          expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width]);
          const faults = (await page.evaluate(
            `axe.run(document, ${options}).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
          )) as string[];
          expect([name, colorScheme, faults]).toEqual([name, colorScheme, []]);
          const folder = process.env['SCREENSHOTS'];
          if (folder)
            await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        }
        expect([name, complaints, [...asked]]).toEqual([name, [], [used.url]]);
        await page.close();
      }
    });
  }
});

describe('the explorer', () => {
  test('shows the delegations of a wallet as tables and as a graph with links', async () => {
    const { page } = await visit('/');
    await page.getByLabel('Wallet', { exact: true }).fill(COLD.Ada);
    await page.getByRole('button', { name: 'Show' }).press('Enter');
    await page.waitForURL(/wallet=0x/);
    const table = page.getByRole('table', { name: 'May act for it' }).first();
    expect(await table.innerText()).toContain('Whole wallet');
    expect(await table.innerText()).toContain('only “play”');
    expect(await page.locator('.graph a').count()).toBe(2);
    await page.locator('.graph a').first().click();
    await page.waitForURL((next) => next.searchParams.get('wallet')?.toLowerCase() === HOT.Ada);
    expect(await page.getByRole('table', { name: 'It may act for' }).count()).toBeGreaterThan(0);
    await page.close();
  });

  test('answers a check with reason, time and a curl command', async () => {
    const { page } = await visit('/');
    await page.getByLabel('Hot wallet').fill(HOT.Finn);
    await page.getByLabel('Cold wallet').fill(COLD.Finn);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.waitForURL(/from=/);
    const answer = page.locator('[data-part="answer"]');
    expect(await answer.innerText()).toMatch(/^Yes, at block \d+, .*\n+Whole wallet, since /);
    const line = /curl '([^']+)'/.exec(await answer.innerText())?.[1] ?? '';
    expect(await (await fetch(line)).text()).toBe('true');

    // A date before the delegation, and rights that were never granted.
    await page.getByText('Contract, token, rights, point in time').click();
    await page
      .getByLabel('As of')
      .last()
      .fill(new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10));
    await page.getByRole('button', { name: 'Check' }).click();
    await page.waitForURL(/at=\d/);
    expect(await answer.innerText()).toMatch(/^No, at block/);
    await page.close();
  });

  test('a chain that is not followed and a misspelt parameter are reported', async () => {
    const { page } = await visit(`/?wallet=${COLD.Ada}&chain=99999&asof=5`);
    const text = await page.locator('main').innerText();
    expect(text).toContain('This service does not follow chain 99999.');
    expect(text).toContain('asof is not a known parameter; did you mean asOf?');
    await page.close();
  });

  test('shows what only registry v1 grants, and unlimited amounts', async () => {
    const treasury = `/?from=${SMART['Guild treasury']}&to=${HOT.Ben}&type=contract&contract=${CONTRACTS['Tidal Cards']}&chainId=1`;
    const old = await visit(treasury);
    expect(await old.page.locator('[data-part="answer"]').innerText()).toMatch(/^Yes.*Granted in registry v1/s);
    const any = await visit(`/?from=${COLD.Ada}&to=${HOT.Ada}&type=erc20&contract=${CONTRACTS.Lantern}&chainId=1`);
    expect(await any.page.locator('[data-part="answer"]').innerText()).toMatch(/^Yes, any amount/);
    await Promise.all([old.page.close(), any.page.close()]);
  });

  test('reports invalid input and keeps it in the form', async () => {
    const { page } = await visit(`/?wallet=0x12&from=0x34&to=${HOT.Ada}&type=erc721&contract=&tokenId=7&chainId=1`);
    const text = await page.locator('main').innerText();
    expect(text).toContain('The wallet must be an address');
    expect(text).toMatch(/from must be an address.*contract must be an address/s);
    expect(await page.getByLabel('Wallet', { exact: true }).inputValue()).toBe('0x12');
    expect(await page.getByLabel('Token id').inputValue()).toBe('7');
    await page.close();
  });

  test('escapes everything from the URL', async () => {
    const { page, complaints } = await visit(
      `/?wallet=${encodeURIComponent('"><script>alert(1)</script>')}&rights=${encodeURIComponent('\'"><img src=x onerror=alert(1)>')}&from=a&to=b`,
    );
    expect(await page.locator('main script, main img').count()).toBe(0);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('refreshes as blocks arrive, but not while the user types', async () => {
    const { page } = await visit(`/?wallet=${COLD.Ada}`);
    const heading = page.locator('[data-part="lists"] h3').first();
    const before = await heading.innerText();
    await page.getByLabel('Hot wallet').fill('0xabc');
    await page.locator('body').click({ position: { x: 5, y: 400 } });
    for (let left = 150; (await heading.innerText()) === before && left > 0; left--) await Bun.sleep(200);
    expect(await heading.innerText()).not.toBe(before);
    expect(await page.getByLabel('Hot wallet').inputValue()).toBe('0xabc');
    await page.close();
  });
});

test('the status page shows the progress of each chain, its providers without their URLs, and the audit', async () => {
  const { page } = await visit('/status');
  const card = await page.locator('.card').innerText();
  expect(card).toMatch(/Ethereum 1\s+ready/);
  for (const part of ['Backfill', 'Indexed block', 'Finalized block', 'Lag', '1/1 healthy', 'compared since start'])
    expect(card).toContain(part);
  expect(await page.content()).not.toMatch(/127\.0\.0\.1:\d+(?!\/)/);
  await page.close();
});
