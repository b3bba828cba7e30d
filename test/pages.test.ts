// Every page in a real browser on the sandbox: width, requests, size, first paint and layout shift. With SCREENSHOTS=folder it also
// takes a picture of each. Accessibility is tested with each page.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { COLD, HOT, OTHER } from '../src/sandbox/wallets.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';

const used = useSandboxInBrowser();

const PAGES = [
  ['home', '/'],
  ['wallet', `/?wallet=${COLD.Ada}`],
  ['wallet-hot', `/?wallet=${HOT.Ada}`],
  ['wallet-past', `/?wallet=${COLD.Ada}&asOf=30`],
  ['wallet-nobody', '/?wallet=0x000000000000000000000000000000000000dEaD'],
  ['wallet-fault', '/?wallet=0x12'],
  ['wallet-history', `/?wallet=${COLD.Finn}&view=history`],
  ['check', '/?from=&to='],
  ['check-yes', `/?from=${COLD.Ada}&to=${HOT.Ada}&type=all&chainId=1&rights=vote`],
  ['check-no', `/?from=${COLD.Finn}&to=${OTHER['Old phone']}&type=all&chainId=1`],
  ['revoke', `/revoke?wallet=${COLD.Ada}&chain=1`],
  ['grant', `/grant?wallet=${COLD.Ada}`],
  ['status', '/status'],
  ['developers', '/developers'],
  ['docs', '/docs'],
  ['docs-any', '/docs/any'],
  ['docs-v1', '/docs/v1'],
  ['not-found', '/nothing'],
] as const;

/** Of a first view, everything that it loads, compressed. */
const MAX_BYTES = 60_000;

interface Visit {
  readonly page: Page;
  /** Errors in the browser's console, policy violations included. */
  readonly complaints: string[];
  readonly origins: Set<string>;
  readonly bytes: () => number;
  readonly requests: () => number;
}

/** With nothing in the cache. */
async function visit(path: string, width: number): Promise<Visit> {
  const page = await used.browser.newPage({ viewport: { width, height: 900 } });
  const complaints: string[] = [];
  const origins = new Set<string>();
  let [bytes, requests] = [0, 0];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests += 1;
  });
  await page.addInitScript(
    'window.shift = 0; new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shift += one.value; }).observe({ type: "layout-shift", buffered: true })',
  );
  await page.goto(used.url + path, { waitUntil: 'networkidle' });
  return { page, complaints, origins, bytes: () => bytes, requests: () => requests };
}

for (const width of [1280, 390]) {
  test(`every page fits ${width} pixels, is small and still, and loads only its own files`, async () => {
    const lines: string[] = [];
    for (const [name, path] of PAGES) {
      const { page, complaints, origins, bytes, requests } = await visit(path, width);
      const paint = await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime");
      const shift = Number(await page.evaluate('window.shift'));
      const size = bytes();
      lines.push(
        `${name} ${(size / 1000).toFixed(1)} kB, ${requests()} requests, first paint after ${Math.round(Number(paint))} ms, layout shift ${shift.toFixed(3)}`,
      );
      expect([name, size > MAX_BYTES, shift < 0.01]).toEqual([name, false, true]);
      expect([name, await page.locator('aside.sandbox').count()]).toEqual([name, 1]);
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width]);
      const folder = process.env['SCREENSHOTS'];
      for (const colorScheme of folder ? (['light', 'dark'] as const) : []) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(folder ?? '', `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
      // The browser reports the status of a page that does not exist.
      const serious = complaints.filter((one) => !one.includes('404'));
      expect([name, serious, [...origins]]).toEqual([name, [], [used.url]]);
      await page.close();
    }
    console.log(`pages at ${width} pixels, nothing cached:\n  ${lines.join('\n  ')}`);
  });
}
