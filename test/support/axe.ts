// Finds what axe reports of a page, minor findings aside.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8');

/** In both themes, which differ in colors alone. Empty if there is nothing to report. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const faults: string[] = [];
  for (const [colorScheme, options] of [
    ['light', '{ resultTypes: ["violations"] }'],
    ['dark', '{ resultTypes: ["violations"], runOnly: ["color-contrast"] }'],
  ] as const) {
    // A color on its way to another one is not a fault.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const found = (await page.evaluate(
      `axe.run(document, ${options}).then(({ violations }) => violations.filter(({ impact }) => impact !== 'minor').map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
    )) as string[];
    faults.push(...found.map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}
