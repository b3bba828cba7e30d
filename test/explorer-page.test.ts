// The explorer in a real browser on the sandbox: home, checks, and refreshing in place.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { version } from '../package.json' with { type: 'json' };
import { EXAMPLE_DELEGATIONS } from '../src/api/examples.ts';
import { ADDRESSES } from '../src/registry/addresses.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { type Address, type Delegation, MAX_UINT256, NO_RIGHTS } from '../src/registry/delegation.ts';
import { COLD, CONTRACTS, HOT, OTHER, SMART } from '../src/sandbox/wallets.ts';
import { openStore } from '../src/store/open.ts';
import { accessibilityFaults } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { openWithWallet } from './support/browser-wallet.ts';
import { temporaryPath } from './support/engines.ts';
import { block, timeOf } from './support/fixtures.ts';
import { makeGrants, revokeGrants } from './support/sandbox-grants.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';
import { serving } from './support/serving.ts';

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

  test('says on the first screen which service this is, what it reads, and what it never does', async () => {
    const page = await visit('/');
    const about = page.getByRole('region', { name: 'About this service' });
    const { y = 0, height = 0 } = (await about.boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(900);
    const text = await about.innerText();
    const addresses = Object.values(ADDRESSES).map((one) => checksummed(one));
    const parts = [sandbox.url, `version ${version}`, ...addresses, 'on Ethereum', 'never asks for a seed phrase'];
    for (const part of parts) expect(text).toContain(part);
    // The chain of a sandbox has no block explorer.
    expect(await about.getByRole('link').count()).toBe(0);
    await page.close();
  });

  test('warns if chains are behind, links to their state, and to the registries in each block explorer', async () => {
    const store = await openStore(`sqlite:${temporaryPath('behind.db')}`);
    for (const chainId of [1, 10]) {
      const { epoch } = await store.claim(chainId, 100);
      await store.apply({ chainId, epoch, after: null, blocks: [block(100)], head: block(100) });
    }
    const publicUrl = 'https://delegations.example';
    const server = serving(store, timeOf(100) + 1000, { chainIds: new Set([1, 10, 8453]), publicUrl });
    const page = await browser.newPage();
    await page.goto(server.url);
    expect(await page.locator('.following.notice').innerText()).toBe('0 of 3 chains are up to date. Status');
    const about = page.getByRole('region', { name: 'About this service' });
    expect(await about.innerText()).toContain(publicUrl);
    const links = await about.getByRole('link').all();
    const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
    const [v1, v2] = [checksummed(ADDRESSES[1]), checksummed(ADDRESSES[2])];
    const hosts = ['etherscan.io', 'optimistic.etherscan.io', 'basescan.org'];
    expect(hrefs).toEqual([
      ...hosts.map((host) => `https://${host}/address/${v2}`),
      ...hosts.slice(0, 2).map((host) => `https://${host}/address/${v1}`),
    ]);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([width, width]);
      expect([width, await accessibilityFaults(page)]).toEqual([width, []]);
    }
    await page.locator('.following').getByRole('link').click();
    await page.waitForURL(`${server.url}/status`);
    await page.close();
    await server.stop();
    await store.close();
  });

  test("looks up the address of the browser's wallet, which is asked for nothing else", async () => {
    const asked: string[] = [];
    const answer = (method: string) => {
      asked.push(method);
      return undefined;
    };
    const open = (setup: string) => openWithWallet(browser, sandbox.url, { account: COLD.Ada, answer, setup });
    const ask = (page: Page) => page.getByRole('button', { name: "Use my wallet's address" }).press('Enter');
    const one = await open(`announce('Test Wallet', provider)`);
    await ask(one.page);
    await one.page.waitForURL(new RegExp(COLD.Ada));
    expect([asked, one.complaints]).toEqual([['eth_requestAccounts'], []]);

    const two = await open(`announce('Test Wallet', provider); announce('Other', { ...provider })`);
    await ask(two.page);
    await two.page.getByRole('button', { name: 'Test Wallet' }).waitFor();
    expect(await two.page.evaluate('document.activeElement.textContent')).toBe('Test Wallet');
    expect(await accessibilityFaults(two.page)).toEqual([]);
    await two.page.keyboard.press('Enter');
    await two.page.waitForURL(new RegExp(COLD.Ada));

    const none = await open('');
    await ask(none.page);
    await none.page.locator('#own-wallets').getByText('No wallet was found in this browser.').waitFor();
    expect(await accessibilityFaults(none.page)).toEqual([]);
    await Promise.all([one, two, none].map(({ page }) => page.close()));
  });

  test('has the focus in its field, and only where there is nothing to read yet', async () => {
    const focused = (page: Page) => page.evaluate('document.activeElement.name');
    for (const javaScriptEnabled of [true, false]) {
      const page = await visit('/', { javaScriptEnabled });
      await page.locator('[name=wallet]:focus').waitFor();
      await page.keyboard.type(COLD.Ada);
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(COLD.Ada));
      if (javaScriptEnabled) expect(await focused(page)).toBeUndefined();
      await page.close();
    }
  });

  test('lists the last five wallets, in this browser only, until they are cleared', async () => {
    const page = await visit('/');
    const recent = page.locator('#recent');
    expect(await recent.isVisible()).toBe(false);
    const wallets = Object.values(COLD).slice(0, 6);
    for (const wallet of [...wallets, wallets[1]]) await page.goto(`${sandbox.url}/?wallet=${wallet}`);
    await page.goto(`${sandbox.url}/?wallet=0x12`);
    await page.goto(sandbox.url);
    const titles = async () => Promise.all((await recent.locator('a').all()).map((link) => link.getAttribute('title')));
    const kept = [1, 5, 4, 3, 2].map((at) => checksummed(wallets[at] as Address));
    expect(await titles()).toEqual(kept);
    expect([await page.context().cookies(), await accessibilityFaults(page)]).toEqual([[], []]);
    await recent.locator('a').first().click();
    await page.waitForURL((url) => url.searchParams.get('wallet') === kept[0]);
    await page.goBack();
    await recent.getByRole('button', { name: 'Clear' }).click();
    expect([await recent.isVisible(), await page.evaluate('localStorage.length')]).toEqual([false, 0]);
    expect(await page.evaluate('document.activeElement.name')).toBe('wallet');
    await page.reload();
    expect(await recent.isVisible()).toBe(false);
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

describe('a point in time', () => {
  const PICKED = '2020-01-01T10:30';

  test('is picked as a date and time in UTC, with or without a script', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const page = await visit(`/?wallet=${COLD.Ada}&asOf=30`, { javaScriptEnabled });
      await page.getByLabel('Or a date and time in UTC').fill(PICKED);
      await page.getByRole('button', { name: 'Look up' }).click();
      await page.waitForURL(/asOfUtc=2020/);
      // It was entered after the block.
      expect(await page.getByLabel('As of').inputValue()).toBe('2020-01-01 10:30 UTC');
      expect(await page.getByLabel('Or a date and time in UTC').inputValue()).toBe('');
      await page.close();
    }
  });

  test('that is picked shows the wallet, or answers the check, as it was then', async () => {
    const [network] = (await (await fetch(`${sandbox.url}/networks`)).json()) as { head: { timestamp: number } }[];
    const timestamp = network?.head.timestamp ?? 0;
    const minute = new Date(timestamp * 1000).toISOString().slice(0, 16);
    const page = await visit(`/?wallet=${COLD.Ada}&asOfUtc=${minute}`);
    await page.getByText(`This is how it was at ${minute.replace('T', ' ')} UTC.`).waitFor();
    await page.goto(`${sandbox.url}/?from=${COLD.Ada}&to=${HOT.Ada}&type=all&chainId=1&atUtc=${minute}`);
    expect(await page.locator('.said').innerText()).toMatch(/^Yes\. .+ could act for /);
    await page.goto(`${sandbox.url}/?from=${COLD.Ada}&to=${HOT.Ada}&type=all&chainId=1&atUtc=then`);
    expect(await page.locator('.notice').innerText()).toContain('is not a point in time that this page knows');
    await page.close();
  });

  test('of each entry of a history leads to the wallet as of then', async () => {
    const page = await visit(`/?wallet=${COLD.Finn}&view=history&direction=outgoing`);
    const ended = page.locator('.event.ended').first();
    const block = /block (\d+)/.exec(await ended.innerText())?.[1];
    await ended.getByRole('link', { name: 'this wallet then' }).click();
    await page.waitForURL(new RegExp(`chain=1&asOf=${block}$`));
    await page.getByText(`This is how it was at block ${block}.`).waitFor();
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
