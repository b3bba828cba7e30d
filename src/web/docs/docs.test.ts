// The API reference in a real browser, without a network.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../../test/support/browser.ts';
import { temporaryPath } from '../../../test/support/engines.ts';
import { block, timeOf } from '../../../test/support/fixtures.ts';
import { serving } from '../../../test/support/serving.ts';
import { EXAMPLE_DELEGATIONS } from '../../api/examples.ts';
import { OPERATIONS } from '../../api/operations.ts';
import { PROBLEMS, problemUri } from '../../api/problems.ts';
import { REGISTRY_SEGMENTS } from '../../api/registries.ts';
import type { RunningServer } from '../../http/server/listener.ts';
import { openStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { html, prose } from '../html.ts';

let store: Store;
let server: RunningServer;
let browser: Browser;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('docs.db')}`);
  const { epoch } = await store.claim(1, 100);
  const events = EXAMPLE_DELEGATIONS.map((delegation) => ({ type: 'granted', delegation }) as const);
  const head = block(100, events);
  await store.apply({ chainId: 1, epoch, after: null, blocks: [head], head });
  server = serving(store, timeOf(100));
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  await store.close();
});

/** The page at a width, with what it complained about and whom it asked. */
async function open(path: string, width: number, colorScheme: 'light' | 'dark' = 'light') {
  const page: Page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const complaints: string[] = [];
  const asked = new Set<string>();
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  await page.goto(server.url + path);
  return { page, complaints, asked };
}

describe('/docs', () => {
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    test(`renders at ${width} pixels, ${colorScheme}, asks nobody else, and fits`, async () => {
      const { page, complaints, asked } = await open('/docs', width, colorScheme);
      expect(await page.title()).toBe('API reference · delegations');
      const paths = await page.locator('.index .path').allTextContents();
      const segments: readonly string[] = REGISTRY_SEGMENTS;
      const operations = OPERATIONS.filter(({ tag }) => segments.includes(tag));
      expect(paths.sort()).toEqual(operations.map(({ method, path }) => method + path).sort());
      const rows = "[...document.querySelectorAll('tr[id^=problem-]')].map(({ id }) => id)";
      expect(await page.evaluate(rows)).toEqual(Object.keys(PROBLEMS).map((type) => `problem-${type}`));
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      expect(wide).toBeLessThanOrEqual(width);
      // Styled: a page without its sheet has the browser's own white or black.
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
        colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(15, 17, 24)',
      );
      expect(complaints).toEqual([]);
      expect([...asked]).toEqual([server.url]);
      const folder = process.env['SCREENSHOTS'];
      if (folder) await page.screenshot({ path: `${folder}/docs-${width}.png`, fullPage: true });
      await page.close();
    });
  }

  test('the first Tab leads past the navigation', async () => {
    const { page } = await open('/docs', 1280);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.close();
  });

  test('explains each problem where its type points', async () => {
    const { page } = await open(problemUri('chain-stale'), 1280);
    expect(await page.locator('tr:target').innerText()).toContain('Chain stale');
    await page.close();
  });

  test('goes out under a policy that lets only our own scripts run', async () => {
    const policy = (await fetch(`${server.url}/docs`)).headers.get('content-security-policy');
    expect(policy).toStartWith("default-src 'none'; style-src 'self'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
  });
});

describe('html', () => {
  test('escapes whatever is put in, in text and attributes', () => {
    const hostile = `"><script>alert('x')</script>&`;
    const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;';
    expect(html`<a title="${hostile}">${hostile}</a>`.text).toBe(`<a title="${escaped}">${escaped}</a>`);
    expect(prose(`${hostile} \`<b>\``).text).toBe(`${escaped} <code>&lt;b&gt;</code>`);
    expect(html`${[html`<i>${1}</i>`, html`<i>${2}</i>`]}`.text).toBe('<i>1</i><i>2</i>');
  });
});
