// Checks the state that a page is in: it fits, and axe finds nothing moderate or worse, at two widths and in both themes.

import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8');
const WIDTHS = [390, 1280];
const FINDINGS = `violations.filter(({ impact }) => impact !== 'minor').map(({ id, nodes }) => id + ' ' + nodes[0].html)`;

/** The banner of the sandbox is no part of the page. With SCREENSHOTS, a folder, the state is saved there under its name. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const folder = process.env['SCREENSHOTS'];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    expect([name, width, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width, width]);
    // The themes differ in colors alone.
    for (const [colorScheme, options] of [
      ['dark', '{ runOnly: ["color-contrast"] }'],
      ['light', '{}'],
    ] as const) {
      // Colors must not be on their way from one theme to the other.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const found = await page.evaluate(
        `axe.run({ exclude: ['.sandbox'] }, ${options}).then(({ violations }) => ${FINDINGS})`,
      );
      expect([name, width, colorScheme, found]).toEqual([name, width, colorScheme, []]);
      if (folder) await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}
