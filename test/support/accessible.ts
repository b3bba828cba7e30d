// Checks the state that a page is in: it fits, and axe has nothing to report, at two widths and in both themes.

import { expect } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from './axe.ts';

const WIDTHS = [390, 1280];

/** With SCREENSHOTS, a folder, the state is saved there under its name. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const found = [await page.evaluate('document.documentElement.scrollWidth'), await accessibilityFaults(page)];
    expect([name, ...found]).toEqual([name, width, []]);
    for (const colorScheme of folder ? (['light', 'dark'] as const) : []) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(folder ?? '', `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}
