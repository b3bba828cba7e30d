// Looks up, filters, checks and proves with the keyboard alone, on a phone's width, where the order of what has the focus is the hardest. Every stop of the Tab key must be visible.

import { expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { COLD, HOT } from '../src/sandbox/wallets.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';

const used = useSandboxInBrowser();

/** More than any page has before its first result. */
const MAX_STOPS = 80;

const FOCUS = `(() => {
  const { tagName, textContent } = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  const { width, height } = document.activeElement.getBoundingClientRect();
  return { name: tagName + ' ' + textContent.trim().slice(0, 30), isSeen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && width > 0 && height > 0 };
})()`;

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let left = MAX_STOPS; left > 0; left--) {
    await page.keyboard.press('Tab');
    const { name, isSeen } = (await page.evaluate(FOCUS)) as { name: string; isSeen: boolean };
    if (!name.startsWith('BODY')) expect([name, isSeen]).toEqual([name, true]);
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
  }
  throw new Error(`Tab does not reach ${target}`);
}

test('look-up, filter, history, check, proof and status work by keyboard alone', async () => {
  const page = await used.browser.newPage({ viewport: { width: 390, height: 900 } });
  await page.goto(`${used.url}/?from=&to=`);
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
  await page.keyboard.press('Enter');

  await page.goto(used.url);
  await page.getByLabel('Wallet address').and(page.locator(':focus')).waitFor();
  await page.keyboard.type(COLD.Ada);
  await page.keyboard.press('Enter');
  await page.waitForURL(/wallet=0x/);

  await tabTo(page, page.getByLabel('Kind'));
  await page.keyboard.type('whole');
  await tabTo(page, page.getByRole('button', { name: 'Apply' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(/kind=/);
  expect(await page.locator('main table').innerText()).not.toContain('only “play”');

  await tabTo(page, page.getByRole('link', { name: 'History' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(/view=history/);

  await page.goto(used.url);
  await tabTo(page, page.getByRole('link', { name: 'Check two wallets' }));
  await page.keyboard.press('Enter');
  await page.waitForURL(/from=/);
  await tabTo(page, page.getByLabel('Hot wallet'));
  await page.keyboard.type(HOT.Ada);
  await tabTo(page, page.getByLabel('Cold wallet'));
  await page.keyboard.type(COLD.Ada);
  await page.keyboard.press('Enter');
  await page.locator('.verdict').waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Copy link' }));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /Copied|Not allowed/ }).waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Prove this answer' }));
  await page.keyboard.press('Enter');
  await page.locator('#proof', { hasText: 'Proven in your browser' }).waitFor();
  await tabTo(page, page.getByRole('link', { name: 'Download answer.json' }));

  await page.goto(`${used.url}/status`);
  await tabTo(page, page.locator('main summary').first());
  await page.keyboard.press('Enter');
  expect(await page.locator('main details').first().getAttribute('open')).not.toBeNull();
  await page.close();
});
