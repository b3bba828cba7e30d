// The webhooks of the developer page in a real browser, on the sandbox and with a real receiver.

import { afterAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expectAccessible } from './support/axe.ts';
import { visitWithWallet } from './support/browser-wallet.ts';
import { eventually } from './support/eventually.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';

const used = useSandboxInBrowser();

const received: { headers: Record<string, string>; body: string }[] = [];
/** What the receiver answers. */
let status = 204;
let isEchoing = true;
const receiver = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body = await request.text();
    received.push({ headers: Object.fromEntries(request.headers), body });
    const { challenge } = JSON.parse(body).data;
    return challenge === undefined || !isEchoing ? new Response(null, { status }) : new Response(challenge);
  },
});
const target = `http://127.0.0.1:${receiver.port}/webhook`;
afterAll(() => receiver.stop(true));

const focused = (page: Page) => page.evaluate('document.activeElement.id || document.activeElement.ariaLabel');
const message = (page: Page) => page.locator('#messages');
/** A button does nothing while what it began before goes on, which a dialog does for a moment after it is closed. */
const READY = { disabled: false };
const press = (page: Page, name: string) =>
  page.getByRole('button', { name: `${name}: ${target}`, ...READY }).press('Enter');
const answer = (page: Page, name: string) => page.getByRole('button', { name, exact: true, ...READY }).press('Enter');

/** Signs in with a new wallet. */
async function visit() {
  const account = privateKeyToAccount(generatePrivateKey());
  const visited = await visitWithWallet(used.browser, `${used.url}/developers`, account);
  await visited.page.getByRole('button', { name: 'Sign in with Test Wallet' }).click();
  await visited.page.getByText('You have no webhooks yet.').waitFor();
  return visited;
}

async function createKey(page: Page) {
  await page.getByLabel('Label').fill('mint site');
  await page.getByRole('button', { name: 'Create a key' }).press('Enter');
  await page.locator('#new-key-text').filter({ hasText: 'dk_' }).waitFor();
}

async function createWebhook(page: Page) {
  await page.getByLabel('URL').fill(target);
  await answer(page, 'Create a webhook');
  await page.locator('#new-secret-text').filter({ hasText: 'whsec_' }).waitFor();
  return page.locator('#new-secret-text').innerText();
}

test('a webhook: create, test, replay, pause, rotate and remove it, with the keyboard', async () => {
  status = 204;
  const { page, complaints } = await visit();
  await page.getByLabel('URL').fill(target);
  await answer(page, 'Create a webhook');
  await message(page).getByText('Create a key first.').waitFor();
  expect(await page.getByLabel('URL').inputValue()).toBe(target);
  await createKey(page);
  const secret = await createWebhook(page);
  expect(await focused(page)).toBe('copy-secret');
  expect(await page.locator('#copy-secret').getAttribute('data-copy')).toBe(secret);
  await expectAccessible(page, 'webhooks-secret');
  await answer(page, 'Done with the secret');
  expect(await page.content()).not.toContain(secret);
  expect(await focused(page)).toBe('webhooks-heading');

  const card = page.locator('#webhooks > .card');
  expect(await card.innerText()).toMatch(/\/webhook not confirmed\s+Not confirmed: give the secret to your server/);
  await expectAccessible(page, 'webhooks-unconfirmed');
  isEchoing = false;
  await press(page, 'Confirm');
  await message(page).getByText('Challenge: the answer is not the challenge, HTTP 204.').waitFor();
  const failed = card.locator('[data-field=failed]');
  await failed.getByText('The last challenge failed: the answer is not the challenge, HTTP 204').waitFor();
  expect(await failed.locator('pre').innerText()).toMatch(/"type":"webhook.challenge",.+"challenge":"…"\}\}$/);
  isEchoing = true;
  await press(page, 'Confirm');
  await message(page).getByText('Confirmed: ').waitFor();
  received.length = 0;
  expect(await card.innerText()).toMatch(/\/webhook active\s+Delivers\s+all chains · when a block is final/);
  // A test can have been sent before the service answers the request for it.
  await page.route('**/developers/webhooks/test', async (route) => {
    const response = await route.fetch();
    await Bun.sleep(1500);
    const { webhook, ...rest } = (await response.json()) as { webhook: object };
    await route.fulfill({ response, json: { ...rest, webhook: { ...webhook, testRequestedAt: null } } });
  });
  await press(page, 'Send a test');
  await message(page).getByText('Test: delivered, HTTP 204.').waitFor();
  expect(await failed.isVisible()).toBe(false);
  await card.getByText('delivered, HTTP 204').first().waitFor();
  expect(await focused(page)).toBe(`Send a test: ${target}`);
  // The sandbox goes on by itself, so changes may have been delivered before.
  const sent = received.find(({ body }) => body.includes('"webhook.test"'));
  expect(new Webhook(secret).verify(sent?.body ?? '', sent?.headers ?? {})).toMatchObject({ type: 'webhook.test' });

  await press(page, 'Replay');
  await page.getByLabel('All history of every chain').check();
  await expectAccessible(page, 'webhooks-replay');
  await answer(page, 'Start the replay');
  await message(page).getByText('The replay has started').waitFor();
  await eventually('replayed', async () => received.some(({ body }) => body.includes('"type":"began"')));
  for (const { body, headers } of received) new Webhook(secret).verify(body, headers);

  await press(page, 'Pause');
  await card.getByText('Paused by you or by the operator.').waitFor();
  await message(page).getByText('Paused: ').waitFor();
  expect(await focused(page)).toBe(`Resume: ${target}`);
  await expectAccessible(page, 'webhooks-paused');
  await press(page, 'Resume');
  await message(page).getByText('Resumed: ').waitFor();
  expect(await focused(page)).toBe(`Pause: ${target}`);

  await press(page, 'Rotate secret');
  await page.getByRole('dialog').getByText('For 24 hours, deliveries are signed with both secrets').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(await focused(page)).toBe(`Rotate secret: ${target}`);
  await press(page, 'Rotate secret');
  await answer(page, 'Rotate the secret');
  await page.locator('#new-secret-text').filter({ hasText: 'whsec_' }).waitFor();
  expect(await page.locator('#new-secret-text').innerText()).not.toBe(secret);
  await card.getByText(/signs too until \d+ \w+ \d{4}, \d\d:\d\d UTC/).waitFor();

  await press(page, 'Remove');
  await page.getByRole('dialog').getByText(target).waitFor();
  await expectAccessible(page, 'webhooks-remove');
  await answer(page, 'Remove the webhook');
  await message(page).getByText('Removed: ').waitFor();
  await page.getByText('You have no webhooks yet.').waitFor();
  expect(await focused(page)).toBe('webhooks-heading');
  expect(await page.locator('#new-secret').isVisible()).toBe(false);
  // The browser itself reports the response of 409, and of 404 if it was reading the deliveries while the webhook was removed.
  expect(complaints.filter((one) => !/ 409 .*\/webhooks$| 404 .*\/webhooks\/attempts\?/.test(one))).toEqual([]);
  await page.close();
});

/** The page of a wallet with a key and a webhook that its receiver has confirmed. */
async function confirmedWebhook() {
  const { page } = await visit();
  await createKey(page);
  await createWebhook(page);
  const card = page.locator('#webhooks > .card');
  await press(page, 'Confirm');
  await message(page).getByText('Confirmed: ').waitFor();
  return { page, card };
}

test('a receiver that fails: the page says so without a reload, and when the next attempt is', async () => {
  status = 500;
  const { page, card } = await confirmedWebhook();
  await press(page, 'Replay');
  // Empty fields are not sent.
  await answer(page, 'Start the replay');
  expect(await page.getByRole('dialog').isVisible()).toBe(true);
  await page.getByLabel('Chain id', { exact: true }).fill('1');
  await page.getByLabel('First block').fill('1');
  await answer(page, 'Start the replay');
  await card.getByText('retrying').waitFor();
  await card.getByText(/a delivery of \d+ changes?, \d+ failed attempts?, next attempt in/).waitFor();
  await card.getByText('refused, HTTP 500').first().waitFor();
  await expectAccessible(page, 'webhooks-retrying');

  // A webhook that is resumed does not wait for the next attempt.
  status = 204;
  await press(page, 'Pause');
  await press(page, 'Resume');
  await card.getByText('delivered, HTTP 204').first().waitFor();
  await card.locator('.badge').getByText('active', { exact: true }).waitFor();
  await page.close();
});

test('a test that fails opens the list of deliveries with its payload and the response', async () => {
  status = 204;
  const { page, card } = await confirmedWebhook();
  await card.getByText('Last deliveries').click();
  status = 503;
  received.length = 0;
  await press(page, 'Send a test');
  await message(page).getByText('Test: refused, HTTP 503.').waitFor();
  expect(await card.locator('details').last().getAttribute('open')).not.toBeNull();
  const failed = card.locator('[data-field=failed]');
  await failed.getByText('The last test failed: refused, HTTP 503').waitFor();
  const sent = received.find(({ body }) => body.includes('"webhook.test"'));
  expect(await failed.locator('pre').innerText()).toBe(
    `POST ${target}\nwebhook-id: ${sent?.headers['webhook-id']}\nwebhook-timestamp: ${sent?.headers['webhook-timestamp']}\n\n${sent?.body}`,
  );
  expect(await failed.locator('p').innerText()).toMatch(/^HTTP 503 after \d+ ms\. Its body is not kept\.$/);
  await expectAccessible(page, 'webhooks-failed-test');
  status = 204;
  await page.close();
});
