// Finds what axe reports of a page, minor findings aside, and whether a state of it fits and has nothing to report.

import { expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8');

const THEMES = [
  ['light', '{ resultTypes: ["violations"] }'],
  ['dark', '{ resultTypes: ["violations"], runOnly: ["color-contrast"] }'],
] as const;

/** In both themes, which differ in colors alone, or in the first. Empty if there is nothing to report. */
export async function accessibilityFaults(page: Page, isDarkToo = true): Promise<string[]> {
  await page.evaluate(AXE);
  const faults: string[] = [];
  for (const [colorScheme, options] of isDarkToo ? THEMES : THEMES.slice(0, 1)) {
    // A color on its way to another one is not a fault.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = (await page.evaluate(
      `axe.run(document, ${options}).then(({ violations }) => violations.filter(({ impact }) => impact !== 'minor').map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
    )) as string[];
    faults.push(...found.map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

const WIDTHS = [320, 390, 768, 1280, 1440];
/** Between them, only sizes change. */
const ENDS: ReadonlySet<number | undefined> = new Set([WIDTHS[0], WIDTHS.at(-1)]);

/** With SCREENSHOTS, a folder, the state is saved there under its name. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const faults = ENDS.has(width) ? await accessibilityFaults(page, width === WIDTHS.at(-1)) : [];
    expect([name, await page.evaluate('document.documentElement.scrollWidth'), faults]).toEqual([name, width, []]);
    for (const colorScheme of folder ? (['light', 'dark'] as const) : []) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(folder ?? '', `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
}
