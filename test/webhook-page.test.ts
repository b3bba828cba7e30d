// The webhooks of the developer page in a real browser, on the sandbox and with a real receiver.

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { privateKeyToAccount } from 'viem/accounts';
import { visitWithWallet } from './support/browser-wallet.ts';
import { eventually } from './support/live-chain.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';

const AXE = readFileSync(join(import.meta.dir, '../node_modules/axe-core/axe.min.js'), 'utf8');
const used = useSandboxInBrowser();

test('a webhook: create, test, replay, pause, rotate and remove it', async () => {
  const received: { headers: Record<string, string>; body: string }[] = [];
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      received.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
      return new Response(null, { status: 204 });
    },
  });
  const target = `http://127.0.0.1:${receiver.port}/webhook`;
  const { page, complaints } = await visitWithWallet(
    used.browser,
    `${used.url}/developers`,
    privateKeyToAccount(`0x${'44'.repeat(32)}`),
  );
  await page.getByRole('button', { name: 'Sign in with Test Wallet' }).click();
  await page.getByText('You have no webhooks yet.').waitFor();

  await page.getByLabel('URL').fill(target);
  await page.getByRole('button', { name: 'Create a webhook' }).press('Enter');
  await page.getByText('Create a key first.').waitFor();
  await page.getByLabel('Label').fill('mint site');
  await page.getByRole('button', { name: 'Create a key' }).press('Enter');
  await page.locator('#new-key-text').filter({ hasText: 'dk_' }).waitFor();

  await page.getByRole('button', { name: 'Create a webhook' }).press('Enter');
  const shown = page.locator('#new-secret-text');
  await shown.filter({ hasText: 'whsec_' }).waitFor();
  const secret = await shown.innerText();
  await page.getByRole('button', { name: 'Done with the secret' }).click();
  expect(await page.content()).not.toContain(secret);

  const card = page.locator('[data-webhook]');
  expect(await card.innerText()).toMatch(/\/webhook active\s+Delivers\s+all chains, when final/);
  await page.getByRole('button', { name: `Send a test ${target}` }).press('Enter');
  await card.getByText('delivered 204').waitFor();
  const [sent] = received;
  expect(new Webhook(secret).verify(sent?.body ?? '', sent?.headers ?? {})).toMatchObject({ type: 'webhook.test' });

  page.on('dialog', (dialog) => void dialog.accept());
  await card.getByText('Replay', { exact: true }).first().press('Enter');
  await card.getByRole('button', { name: 'Replay' }).press('Enter');
  await page.getByText('The replay has started.').waitFor();
  await eventually('replayed', async () => received.some(({ body }) => body.includes('"type":"began"')));
  for (const { body, headers } of received) new Webhook(secret).verify(body, headers);

  await page.getByRole('button', { name: `Pause ${target}` }).press('Enter');
  await card.getByText('Paused by you or by the operator.').waitFor();
  await page.evaluate(AXE);
  const faults = await page.evaluate(
    `axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
  );
  expect(faults).toEqual([]);
  const folder = process.env['SCREENSHOTS'];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    if (folder) await page.screenshot({ path: join(folder, `developers-webhooks-${width}.png`), fullPage: true });
  }
  await page.getByRole('button', { name: `Resume ${target}` }).press('Enter');
  await page.getByRole('button', { name: `Pause ${target}` }).waitFor();

  await page.getByRole('button', { name: `Rotate secret ${target}` }).press('Enter');
  await shown.filter({ hasText: 'whsec_' }).waitFor();
  expect(await shown.innerText()).not.toBe(secret);
  await page.getByRole('button', { name: `Remove ${target}` }).press('Enter');
  await page.getByText('You have no webhooks yet.').waitFor();
  // The browser itself reports the response of 409.
  expect(complaints.filter((one) => !one.includes('409'))).toEqual([]);
  await page.close();
  await receiver.stop(true);
});
