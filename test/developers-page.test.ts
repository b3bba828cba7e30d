// The developer page in a real browser on the sandbox: signing in with every kind of wallet, and the keys of a wallet.

import { afterAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { TEST_ACCOUNTS } from '../src/sandbox/test-accounts.ts';
import { COLD, HOT } from '../src/sandbox/wallets.ts';
import { expectAccessible } from './support/axe.ts';
import { visitWithWallet } from './support/browser-wallet.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';
import { removeServed, startServe } from './support/serve-process.ts';

const used = useSandboxInBrowser();
afterAll(removeServed);

/** Every test has a wallet of its own, and so keys of its own. */
const newAccount = () => privateKeyToAccount(generatePrivateKey());
const visit = (account: PrivateKeyAccount, setup?: string) =>
  visitWithWallet(used.browser, `${used.url}/developers`, account, setup);
const NO_WALLET = '';

const focused = (page: Page) => page.evaluate('document.activeElement.id || document.activeElement.ariaLabel');
const message = (page: Page) => page.locator('#messages');
const buttons = (page: Page) => page.locator('#wallets button').allInnerTexts();

async function signedIn(account = newAccount()) {
  const visited = await visit(account);
  await visited.page.getByRole('button', { name: 'Sign in with Test Wallet' }).click();
  await visited.page.locator('#wallet').getByText(account.address).waitFor();
  return visited;
}

/** Creates a key and returns it. */
async function createKey(page: Page, label: string): Promise<string> {
  await page.getByLabel('Label').fill(label);
  await page.getByRole('button', { name: 'Create a key' }).click();
  return shownKey(page, label);
}

/** The key that the page shows once. */
async function shownKey(page: Page, label: string): Promise<string> {
  await page.locator('#new-key-heading').getByText(`“${label}”`).waitFor();
  return page.locator('#new-key-text').innerText();
}

const statusOf = async (key: string) => {
  const url = `${used.url}/registry/v2/check/all?from=${COLD.Ada}&to=${HOT.Ada}`;
  return (await fetch(url, { headers: { 'x-api-key': key } })).status;
};
/** As buttons name a key: by its label and first characters. */
const nameOf = (label: string, key: string) => `“${label}” (${key.slice(0, 8)}…)`;

describe('signing in', () => {
  test('with a wallet that is only window.ethereum shows its checksummed address and moves the focus to the keys', async () => {
    const account = newAccount();
    const { page, complaints } = await visit(account, 'window.ethereum = provider');
    await page.getByRole('button', { name: 'Sign in with your browser wallet' }).press('Enter');
    await page.locator('#wallet').getByText(account.address, { exact: true }).waitFor();
    expect(await focused(page)).toBe('keys-heading');
    const [session] = (await page.context().cookies()).filter(({ name }) => name === 'delegations_session');
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/developers' });
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('offers each wallet once, also one that is announced late', async () => {
    const { page } = await visit(
      newAccount(),
      `window.ethereum = provider; announce('First', provider); announce('Second', rejecting);
       window.later = () => announce('Third', { request: async () => [] });`,
    );
    expect(await buttons(page)).toEqual(['Sign in with First', 'Sign in with Second']);
    await page.getByRole('button', { name: 'Second' }).focus();
    await page.evaluate('window.later()');
    expect(await buttons(page)).toEqual(['Sign in with First', 'Sign in with Second', 'Sign in with Third']);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in with Second');
    await page.close();
  });

  test('a rejection in the wallet is said, and can be tried again', async () => {
    const { page, complaints } = await visit(newAccount(), `announce('Test Wallet', rejecting)`);
    const button = page.getByRole('button', { name: 'Sign in with Test Wallet' });
    for (let turn = 0; turn < 2; turn++) {
      await button.press('Enter');
      await message(page).getByText('You rejected the request in your wallet.').waitFor();
    }
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign in with Test Wallet');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('without a wallet, by pasting a signature; a wrong one can be replaced by the right one', async () => {
    const account = newAccount();
    const { page } = await visit(account, NO_WALLET);
    await page.getByText('No wallet found in this browser.').waitFor();
    await expectAccessible(page, 'developers-signed-out');
    await page.getByText('Sign the message elsewhere', { exact: true }).press('Enter');
    await page.getByLabel('Address').fill(` ${account.address.toLowerCase()} `);
    await page.getByLabel('Address').press('Enter');
    await page.getByLabel('Signature').waitFor();
    expect(await focused(page)).toBe('paste-intro');
    const text = await page.locator('#message-text').innerText();
    expect(text).toContain(
      `${new URL(used.url).host} wants you to sign in with your Ethereum account:\n${account.address}`,
    );
    expect(await page.locator('#copy-message').getAttribute('data-copy')).toBe(text);
    expect(await page.locator('#copy-cast').getAttribute('data-copy')).toBe(`cast wallet sign --interactive '${text}'`);
    await expectAccessible(page, 'developers-paste');

    const paste = async (signature: string) => {
      await page.getByLabel('Signature').fill(signature);
      await page.getByRole('button', { name: 'Sign in', exact: true }).press('Enter');
    };
    await paste(await newAccount().signMessage({ message: text }));
    await message(page).getByText('The signature is not from the wallet in the message.').waitFor();
    await paste(`${await account.signMessage({ message: text })}\n`);
    await page.locator('#wallet').getByText(account.address, { exact: true }).waitFor();
    expect(await focused(page)).toBe('keys-heading');
    await page.close();
  });

  test('an address that is none is named, and nothing that was typed is lost', async () => {
    const { page } = await visit(newAccount(), NO_WALLET);
    await page.getByText('Sign the message elsewhere', { exact: true }).click();
    await page.getByLabel('Address').fill('vitalik.eth');
    await page.getByRole('button', { name: 'Show the message' }).click();
    await message(page).getByText('wallet must be an address').waitFor();
    expect(await page.getByLabel('Address').inputValue()).toBe('vitalik.eth');
    await page.close();
  });

  test('with the test wallet of the sandbox, which really signs', async () => {
    const { page, complaints } = await visit(newAccount(), NO_WALLET);
    await page.getByRole('button', { name: 'Use the sandbox’s test wallet' }).press('Enter');
    await page
      .locator('#wallet')
      .getByText(TEST_ACCOUNTS[0]?.address ?? '', { exact: true })
      .waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a service that is no sandbox has no test wallet', async () => {
    const served = await startServe(`sqlite:${temporaryPath('no-test-wallet.db')}`);
    const text = await (await fetch(`${served.url}/developers`)).text();
    expect(text).toContain('Sign the message elsewhere');
    expect(text).not.toContain('test-wallet');
    const ask = (path: string) =>
      fetch(served.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: served.url },
        body: JSON.stringify({ bytes: '0x' }),
      });
    const [known, wallet] = [await ask('/developers/nonce'), await ask('/developers/test-wallet')];
    expect([known.status, wallet.status]).toEqual([400, 404]);
    await served.stop();
  });

  test('lasts over a reload, which shows no sign-in first and moves nothing', async () => {
    const account = newAccount();
    const { page } = await signedIn(account);
    await createKey(page, 'first');
    const html = await page.evaluate("fetch('/developers').then((response) => response.text())");
    expect(html).toMatch(/id="signed-out" hidden/);
    expect(html).toContain(`<code id="wallet">${account.address}</code>`);
    await page.addInitScript(
      "new PerformanceObserver((list) => (window.shifts = list.getEntries().length)).observe({ type: 'layout-shift' })",
    );
    await page.reload();
    await page.getByRole('button', { name: /^Rotate “first”/ }).waitFor();
    await page.getByText('You have no webhooks yet.').waitFor();
    expect(await page.evaluate('window.shifts')).toBeUndefined();
    await page.getByRole('button', { name: 'Sign out' }).press('Enter');
    await page.getByRole('button', { name: 'Sign in with Test Wallet' }).waitFor();
    expect(await focused(page)).toBe('sign-in-heading');
    await page.close();
  });

  test('a session that ends while the page is open can be renewed, and nothing typed and no new key is lost', async () => {
    const { page } = await signedIn();
    const key = await createKey(page, 'first');
    await page.getByLabel('Label').fill('second');
    await page.context().clearCookies();
    await message(page).getByText('Your session has ended. Sign in again').waitFor();
    expect(await focused(page)).toBe('sign-in-heading');
    expect(await shownKey(page, 'first')).toBe(key);
    await expectAccessible(page, 'developers-session-ended');
    await page.getByRole('button', { name: 'Sign in with Test Wallet' }).press('Enter');
    await page.getByText('1 of 5 active').waitFor();
    expect(await page.getByLabel('Label').inputValue()).toBe('second');
    expect(await shownKey(page, 'first')).toBe(key);
    await page.close();
  });
});

describe('keys', () => {
  test('a new key is shown once, with a command that works, and its use is seen at once', async () => {
    const account = newAccount();
    const { page, complaints } = await signedIn(account);
    await page.getByText('You have no keys yet.').waitFor();
    await expectAccessible(page, 'developers-no-keys');
    const key = await createKey(page, 'mint site');
    expect(key).toMatch(/^dk_[0-9A-Za-z]{36}$/);
    expect(await focused(page)).toBe('copy-key');
    expect(await page.locator('#copy-key').getAttribute('data-copy')).toBe(key);
    await page.getByText('not used yet').waitFor();
    expect(await page.locator('figure.uses').isVisible()).toBe(false);
    await expectAccessible(page, 'developers-new-key');

    const command = await page.locator('#new-key-curl').innerText();
    expect(await page.locator('#copy-curl').getAttribute('data-copy')).toBe(command);
    const [, sent = '', url = ''] = /^curl -H 'X-API-KEY: (.+)' '(.+)'$/.exec(command) ?? [];
    expect([sent, url]).toEqual([key, `${used.url}/registry/any/${account.address}`]);
    const answer = await fetch(url, { headers: { 'x-api-key': sent } });
    expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([200, null]);

    // More than the limit without a key.
    const statuses = await Promise.all(Array.from({ length: 59 }, () => statusOf(key)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await page.getByText('last used less than a minute ago · 60 requests in 30 days').waitFor();
    await page.getByRole('img', { name: '60 requests in 30 days' }).waitFor();

    await page.getByRole('button', { name: 'Done', exact: true }).press('Enter');
    expect(await page.content()).not.toContain(key.slice(8));
    expect(await focused(page)).toBe('keys-heading');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a rotation asks first, says how long the old key works, and shows both keys in one card', async () => {
    const { page, complaints } = await signedIn();
    const old = await createKey(page, 'mint site');
    // It does nothing until the dialog that it opened has ended.
    const rotate = page.getByRole('button', { name: `Rotate ${nameOf('mint site', old)}`, disabled: false });
    await rotate.press('Enter');
    const dialog = page.getByRole('dialog', { name: `Rotate ${nameOf('mint site', old)}?` });
    await dialog.getByText(/It works for another 24 hours, until \d+ \w+ \d{4}, \d\d:\d\d UTC/).waitFor();
    await dialog.getByText('It ends at once').waitFor();
    await expectAccessible(page, 'developers-rotate');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await focused(page)).toBe(`Rotate ${nameOf('mint site', old)}`);
    expect(await shownKey(page, 'mint site')).toBe(old);

    await rotate.press('Enter');
    await dialog.getByRole('button', { name: 'Rotate the key' }).press('Enter');
    await page.getByText(/^old key, works until \d/).waitFor();
    const next = await shownKey(page, 'mint site');
    expect(next).not.toBe(old);
    expect(await focused(page)).toBe('copy-key');
    expect([await statusOf(old), await statusOf(next)]).toEqual([200, 200]);
    const card = page.locator('#keys > .card');
    expect(await card.count()).toBe(1);
    const names = await Promise.all(
      (await card.getByRole('button').all()).map((one) => one.getAttribute('aria-label')),
    );
    // A key is replaced only once.
    expect(names).toEqual([
      `Rotate ${nameOf('mint site', next)}`,
      `Revoke ${nameOf('mint site', next)}`,
      `Revoke ${nameOf('mint site', old)}`,
    ]);
    await expectAccessible(page, 'developers-rotated');

    // Exactly the key that the button names ends, and the new one stays to be copied.
    await page.getByRole('button', { name: `Revoke ${nameOf('mint site', old)}` }).press('Enter');
    const question = page.getByRole('dialog', { name: `Revoke ${nameOf('mint site', old)}?` });
    await question.getByText(`The new key, ${nameOf('mint site', next)}, keeps working.`).waitFor();
    await question.getByRole('button', { name: 'Revoke the key' }).press('Enter');
    await message(page)
      .getByText(`Revoked ${nameOf('mint site', old)}.`)
      .waitFor();
    expect(await focused(page)).toBe('keys-heading');
    await eventually('refused', async () => (await statusOf(old)) === 401);
    expect(await statusOf(next)).toBe(200);
    expect(await shownKey(page, 'mint site')).toBe(next);

    // With the new key, “copy it now” goes too.
    await page.getByRole('button', { name: `Revoke ${nameOf('mint site', next)}` }).press('Enter');
    await expectAccessible(page, 'developers-revoke');
    await page.getByRole('button', { name: 'Revoke the key' }).press('Enter');
    await page.getByText('You have no keys yet.').waitFor();
    expect(await page.getByText('Copy it now').filter({ visible: true }).count()).toBe(0);
    expect(await page.content()).not.toContain(next.slice(8));
    await page.getByText('Keys that have ended').first().press('Enter');
    expect(await page.locator('#ended-keys tr').count()).toBe(2);
    await expectAccessible(page, 'developers-ended');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a rotation can end the old key at once', async () => {
    const { page } = await signedIn();
    const old = await createKey(page, 'bot');
    await page.getByRole('button', { name: /^Rotate “bot”/ }).click();
    await page.getByLabel('It ends at once').check();
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await page.getByText('1 of 5 active').waitFor();
    await eventually('refused', async () => (await statusOf(old)) === 401);
    await eventually('shown', async () => (await shownKey(page, 'bot')) !== old);
    expect(await statusOf(await shownKey(page, 'bot'))).toBe(200);
    await page.close();
  });

  test('with as many keys as the quota allows, a rotation can only end the old key at once', async () => {
    const { page, complaints } = await signedIn();
    for (let turn = 0; turn < 5; turn++) await createKey(page, `site ${turn}`);
    await page.getByLabel('Label').fill('one more');
    await page.getByRole('button', { name: 'Create a key' }).click();
    await message(page).getByText('A wallet can have 5 active keys').waitFor();
    expect(await page.getByLabel('Label').inputValue()).toBe('one more');
    await page.getByRole('button', { name: /^Rotate “site 0”/ }).click();
    await page.getByText('there is no room for both').waitFor();
    expect(await page.getByLabel('It works for another 24 hours').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Rotate the key' }).click();
    await shownKey(page, 'site 0');
    // The browser itself reports responses of 409.
    expect(complaints.filter((one) => !one.includes('409'))).toEqual([]);
    await page.close();
  });

  test('are managed with the keyboard alone, and no request of the page counts as one to the API', async () => {
    const { page } = await visit(newAccount());
    const policies = new Set<string>();
    page.on('response', (response) => policies.add(response.headers()['ratelimit-policy'] ?? ''));
    const tabTo = async (name: string) => {
      for (let left = 60; left > 0; left--) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(
          'document.activeElement.ariaLabel || document.activeElement.name || document.activeElement.textContent',
        );
        if (String(at).startsWith(name)) return;
      }
      throw new Error(`${name} is not reached`);
    };
    await tabTo('Sign in with Test Wallet');
    await page.keyboard.press('Enter');
    await page.getByText('You have no keys yet.').waitFor();
    await tabTo('label');
    await page.keyboard.type('cli');
    await page.keyboard.press('Enter');
    const key = await shownKey(page, 'cli');
    await tabTo('Done');
    await page.keyboard.press('Enter');
    await tabTo(`Rotate ${nameOf('cli', key)}`);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('ArrowDown');
    await tabTo('Rotate the key');
    await page.keyboard.press('Enter');
    await eventually('rotated', async () => (await shownKey(page, 'cli')) !== key);
    await tabTo('Revoke “cli”');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo('Revoke the key');
    await page.keyboard.press('Enter');
    await page.getByText('You have no keys yet.').waitFor();
    await eventually('refused', async () => (await statusOf(key)) === 401);
    expect([...policies].filter((one) => /anon/.test(one))).toEqual([]);
    expect(policies.size).toBeGreaterThan(1);
    await page.close();
  });
});

test('other origins, missing sessions and malformed requests are refused', async () => {
  const wallet = newAccount().address;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${used.url}/developers/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.1', origin: used.url, ...headers },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  expect(await post('nonce', { wallet }, { origin: 'https://evil.example' })).toBe(403);
  expect(await post('nonce', { wallet }, { 'content-type': 'text/plain' })).toBe(403);
  expect(await post('test-wallet', { bytes: '0x12' }, { origin: 'https://evil.example' })).toBe(403);
  expect(await post('test-wallet', { bytes: '0x123' })).toBe(400);
  expect(await post('nonce', { wallet: 'nobody' })).toBe(400);
  expect(await post('nonce', [])).toBe(400);
  expect(await post('session', { message: 'hello', signature: '0x12' })).toBe(401);
  expect(await post('keys', { label: 'x' })).toBe(401);
  expect(await post('keys/revoke', { id: 1 })).toBe(401);
  const get = (path: string) =>
    fetch(`${used.url}/developers/${path}`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
  expect([(await get('keys')).status, (await get('nonce')).status]).toEqual([401, 405]);
  expect(await (await get('session')).json()).toEqual({ wallet: null, chainId: null });
});
