// The explorer in a real browser on the sandbox: home, checks, and refreshing in place.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { EXAMPLE_DELEGATIONS } from '../src/api/examples.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { type Address, type Delegation, MAX_UINT256, NO_RIGHTS } from '../src/registry/delegation.ts';
import { COLD, CONTRACTS, HOT, OTHER, SMART } from '../src/sandbox/wallets.ts';
import { accessibilityFaults } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { makeGrants, revokeGrants } from './support/sandbox-grants.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';

let sandbox: QuietSandbox;
let browser: Browser;
beforeAll(async () => {
  // Nothing but this test writes to the chain.
  sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' }, '--interval', '0');
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await sandbox.stop();
});

async function visit(path: string, options: { width?: number; javaScriptEnabled?: boolean } = {}): Promise<Page> {
  const { width = 1280, javaScriptEnabled = true } = options;
  const page = await browser.newPage({ viewport: { width, height: 900 }, javaScriptEnabled });
  await page.goto(sandbox.url + path);
  return page;
}

const address = (name: string): Address => `0x${Buffer.from(name).toString('hex').padStart(40, '2')}`;
const grantOf = (from: Address, to: Address): Delegation => ({
  ...{ version: 2, kind: 'ALL', from, to, contract: null, tokenId: null, rights: NO_RIGHTS, amount: null },
});

describe('home', () => {
  test('looks up a wallet, and its examples have delegations', async () => {
    const page = await visit('/');
    await page.getByRole('link', { name: /a cold wallet/ }).click();
    await page.waitForURL(/wallet=0x/);
    expect(await page.locator('main').innerText()).toContain('Contract');
    await page.goto(sandbox.url);
    await page.getByLabel('Wallet address').fill(COLD.Ada);
    await page.getByLabel('Wallet address').press('Enter');
    await page.waitForURL(new RegExp(COLD.Ada));
    expect(await page.locator('h1').innerText()).toContain(checksummed(COLD.Ada));
    await page.close();
  });

  test('leads to a check of two wallets, which asks only for what the question needs', async () => {
    const page = await visit('/');
    await page.getByRole('link', { name: 'Check two wallets' }).click();
    await page.waitForURL(/from=/);
    expect(await page.locator('.verdict, .notice').count()).toBe(0);
    const shown = async () => [
      await page.getByLabel('Contract', { exact: true }).isVisible(),
      await page.getByLabel('Token id').isVisible(),
    ];
    expect(await shown()).toEqual([false, false]);
    await page.locator('[name=type]').selectOption('erc721');
    expect(await shown()).toEqual([true, true]);
    await page.locator('[name=type]').selectOption('erc20');
    expect(await shown()).toEqual([true, false]);
    await page.close();
  });

  test('says what is followed now', async () => {
    const page = await visit('/');
    expect(await page.locator('.following').innerText()).toMatch(/^Ethereum is up to date, at block \d+\. Status$/);
    await page.close();
  });
});

/** What the page says, and what its command answers. */
async function verdict(path: string): Promise<{ said: string; why: string; answered: string; page: Page }> {
  const page = await visit(path);
  const why = await page.locator('.verdict').innerText();
  const command = await page.locator('.copied code').innerText();
  const answered = await (await fetch(/^curl '(.+)'$/.exec(command)?.[1] ?? '')).text();
  return { said: await page.locator('.said').innerText(), why, answered, page };
}

describe('a check', () => {
  const { Ada, Ben, Cleo, Dan, Ella, Finn } = COLD;
  const treasury = `from=${SMART['Guild treasury']}&to=${HOT.Ben}`;
  const lights = CONTRACTS['Harbour Lights'];
  const QUESTIONS = [
    [`from=${Ada}&to=${HOT.Ada}&type=all`, 'true'],
    [`from=${Finn}&to=${OTHER['Old phone']}&type=all`, 'false'],
    [`from=${Ben}&to=${HOT.Ben}&type=contract&contract=${lights}`, 'true'],
    [`from=${Cleo}&to=${HOT.Cleo}&type=erc721&contract=${lights}&tokenId=42`, 'true'],
    [`from=${Cleo}&to=${HOT.Cleo}&type=erc721&contract=${lights}&tokenId=43`, 'false'],
    [`from=${Dan}&to=${HOT.Dan}&type=erc20&contract=${CONTRACTS.Lantern}`, /^[1-9]\d*$/],
    [`from=${Ella}&to=${HOT.Ella}&type=erc1155&contract=${CONTRACTS['Tidal Cards']}&tokenId=7`, '3'],
    [`from=${Ada}&to=${HOT.Ada}&type=erc20&contract=${CONTRACTS.Lantern}`, String(MAX_UINT256)],
    // Only registry v1 grants this.
    [`${treasury}&type=contract&contract=${CONTRACTS['Tidal Cards']}`, 'true'],
    [`from=${Ada}&to=${HOT.Ada}&type=all&rights=vote`, 'true'],
  ] as const;

  test('says what the command below it answers', async () => {
    for (const [query, expected] of QUESTIONS) {
      const { said, answered, page } = await verdict(`/?${query}&chainId=1`);
      if (typeof expected === 'string') expect([query, answered]).toEqual([query, expected]);
      else expect(answered).toMatch(expected);
      expect([query, said]).toEqual([query, expect.stringMatching(answered === 'false' ? /^No\./ : /^Yes\./)]);
      await page.close();
    }
  });

  test('names the grants, the registry and the amount', async () => {
    const old = await verdict(`/?${treasury}&type=contract&contract=${CONTRACTS['Tidal Cards']}&chainId=1`);
    expect(old.why).toMatch(/v1, granted on .+Contracts that ask only registry v2 do not see it/s);
    const any = await verdict(`/?from=${Ada}&to=${HOT.Ada}&type=erc20&contract=${CONTRACTS.Lantern}&chainId=1`);
    expect(any.said).toContain('with any amount of contract');
    const some = await verdict(
      `/?from=${Ella}&to=${HOT.Ella}&type=erc1155&contract=${CONTRACTS['Tidal Cards']}&tokenId=7&chainId=1`,
    );
    expect(some.said).toContain('with up to 3 of token 7 of contract');
    await Promise.all([old, any, some].map(({ page }) => page.close()));
  });

  test('after a no, says until when it was yes and what is granted instead', async () => {
    const ended = await verdict(`/?from=${Finn}&to=${OTHER['Old phone']}&type=all&chainId=1`);
    expect(ended.why).toMatch(/It was “yes” until \d{4}-\d\d-\d\d \d\d:\d\d UTC \(block \d+\)/);
    const block = Number(/until .+\(block (\d+)\)/.exec(ended.why)?.[1]);
    const before = await verdict(`/?from=${Finn}&to=${OTHER['Old phone']}&type=all&chainId=1&at=${block - 1}`);
    expect(before.said).toMatch(/^Yes\. .+ could act for /);
    const at = await verdict(`/?from=${Finn}&to=${OTHER['Old phone']}&type=all&chainId=1&at=${block}`);
    expect(at.said).toMatch(/^No\. .+ could not act for /);
    const narrower = await verdict(`/?from=${Ben}&to=${HOT.Ben}&type=all&chainId=1`);
    expect(narrower.why).toMatch(/It is granted only:\s+everything in contract /);
    await Promise.all([ended, before, at, narrower].map(({ page }) => page.close()));
  });

  test('has a link to the answer as of its block, and from the past to now', async () => {
    const now = await verdict(`/?from=${Ada}&to=${HOT.Ada}&type=all&chainId=1`);
    await now.page.getByRole('link', { name: 'Link to this answer' }).click();
    await now.page.waitForURL(/at=\d+/);
    expect(await now.page.locator('.said').innerText()).toMatch(/^Yes\. .+ could act for /);
    await now.page.getByRole('link', { name: 'Ask about now' }).click();
    await now.page.waitForURL((url) => !url.searchParams.has('at'));
    expect(await now.page.locator('.said').innerText()).toMatch(/^Yes\. .+ may act for /);
    await now.page.close();
  });

  test('answers only the question that was asked', async () => {
    const base = `from=${Ada}&to=${HOT.Ada}`;
    for (const [query, text] of [
      [`${base}&type=everything`, 'type must be one of all, contract, erc721, erc20, erc1155'],
      [`${base}&type=all&chainId=one`, 'chainId'],
      [`${base}&type=all&chainId=99999`, 'chain'],
      [`${base}&type=all&chainid=10`, 'chainid is not a known parameter; did you mean chainId?'],
      [`from=${Ada}&to=0x34&type=erc721&contract=&tokenId=7`, 'Contract: Enter an address.'],
    ] as const) {
      const page = await visit(`/?${query}`);
      expect([query, await page.locator('.verdict').count()]).toEqual([query, 0]);
      expect([query, await page.locator('main').innerText()]).toEqual([query, expect.stringContaining(text)]);
      await page.close();
    }
    const page = await visit(`/?from=${Ada}&to=0x34&type=erc721&contract=&tokenId=7`);
    expect(await page.getByLabel('Token id').inputValue()).toBe('7');
    await page.close();
  });

  test('escapes everything from the URL', async () => {
    const page = await visit(`/?rights=${encodeURIComponent('\'"><img src=x onerror=alert(1)>')}&from=a&to=b`);
    expect(await page.locator('main script, main img').count()).toBe(0);
    expect(await page.locator('.notice').first().innerText()).toContain('Hot wallet: An address begins with 0x.');
    await page.close();
  });

  test('can be read without a script', async () => {
    const page = await visit(`/?from=${Ada}&to=${HOT.Ada}&type=all&chainId=1`, { javaScriptEnabled: false });
    expect(await page.locator('.said').innerText()).toMatch(/^Yes\./);
    expect(await page.locator('button.copy').first().isVisible()).toBe(false);
    await page.close();
  });
});

describe('a refresh', () => {
  test('shows a new answer in place and announces it, while typed text stays', async () => {
    const [cold, hot] = [address('refresh cold'), address('refresh hot')];
    const page = await visit(`/?from=${cold}&to=${hot}&type=all&chainId=1`);
    expect(await page.locator('.said').innerText()).toMatch(/^No\./);
    await page.getByLabel('Hot wallet').fill('0xabc');
    await page.evaluate("document.querySelector('.said').marked = true");
    await makeGrants(sandbox, grantOf(cold, hot));
    await page.locator('.said', { hasText: 'Yes.' }).waitFor();
    expect(await page.evaluate("document.querySelector('.said').marked")).toBe(true);
    expect(await page.getByLabel('Hot wallet').inputValue()).toBe('0xabc');
    expect(await page.locator('#announcements').innerText()).toMatch(/^Updated\. Yes\. .+ may act for /);
    await page.close();
  });

  test('leaves focus and selection alone, and keeps every node of a wallet that did not change', async () => {
    const cold = address('kept cold');
    const [first, second, third] = [
      grantOf(cold, address('a')),
      grantOf(cold, address('b')),
      grantOf(cold, address('c')),
    ];
    await makeGrants(sandbox, first, second);
    const page = await visit(`/?wallet=${cold}`);
    const linkTo = (to: Address) => `main table a.address[href*="${checksummed(to)}"]`;
    await page.locator(linkTo(first.to)).focus();
    await page.evaluate(`for (const node of document.querySelectorAll('main tr')) node.marked = true`);
    await makeGrants(sandbox, third);
    await page.locator(linkTo(third.to)).waitFor();
    const hasFocus = () =>
      page.evaluate(
        `document.activeElement === document.querySelector('${linkTo(first.to)}') && document.activeElement.closest('tr').marked`,
      );
    expect(await hasFocus()).toBe(true);

    // A selected address, of a grant that ends.
    await page.evaluate(
      `document.activeElement.blur(); getSelection().selectAllChildren(document.querySelector('${linkTo(second.to)}'))`,
    );
    const selected = await page.evaluate('String(getSelection())');
    expect(selected).not.toBe('');
    await revokeGrants(sandbox, second);
    await page.locator('main [data-gone]').first().waitFor();
    expect(await page.evaluate('String(getSelection())')).toBe(selected);
    await page.evaluate('getSelection().removeAllRanges()');
    await page.locator(linkTo(second.to)).waitFor({ state: 'detached' });
    expect(await page.locator(linkTo(first.to)).count()).toBe(1);
    await page.close();
  });

  test('says since when it could not be made, until it can', async () => {
    const page = await visit(`/?wallet=${COLD.Ada}`);
    await page.context().setOffline(true);
    await page.getByText(/^Not updated since \d/).waitFor();
    await page.context().setOffline(false);
    await page.getByText(/^Not updated since/).waitFor({ state: 'hidden' });
    await page.close();
  });
});

test('every view fits both widths and is accessible in both themes', async () => {
  const { from, to, contract } = EXAMPLE_DELEGATIONS[0] as Delegation;
  const long = '9'.repeat(78);
  for (const width of [1280, 390])
    for (const path of [
      '/',
      '/?from=&to=',
      `/?from=${from}&to=${to}&type=contract&contract=${contract}&chainId=1`,
      `/?from=${from}&to=${to}&type=erc1155&contract=${contract}&tokenId=${long}&chainId=1`,
      `/?from=${from}&to=${to}&type=all&chainId=1`,
      `/?from=12&to=${to}&type=all&chainId=1`,
    ]) {
      const page = await visit(path, { width });
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width]);
      expect([path, await accessibilityFaults(page)]).toEqual([path, []]);
      await page.close();
    }
});
