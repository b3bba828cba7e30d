// /docs in a real browser on the sandbox: layout, languages, running requests, search, contents, with and without scripts.

import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { PROBLEMS } from '../src/api/problems.ts';
import { MAX_UINT256 } from '../src/registry/delegation.ts';
import { GUIDE } from '../src/web/docs/guide.ts';
import { eventually } from './support/eventually.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';

const AXE = readFileSync(join(import.meta.dir, '../node_modules/axe-core/axe.min.js'), 'utf8');
const used = useSandboxInBrowser();

/** A page of the reference, named by what follows /docs. */
async function open(path = '', width = 1280, options: BrowserContextOptions = {}) {
  const context = await used.browser.newContext({ viewport: { width, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${used.url}/docs${path}`);
  return { page, context, complaints };
}

const sectionOf = (page: Page, operation: string) => page.locator(`#operation-${operation}`);

/** Opens the form of an operation, without sending it. */
async function formOf(page: Page, operation: string) {
  const section = sectionOf(page, operation);
  await section.locator('.run > summary').click();
  return { section, form: section.locator('form'), result: section.locator('.result') };
}

const send = async (form: Locator, result: Locator) => {
  await form.getByRole('button', { name: 'Send' }).click();
  await result.locator('.badge').waitFor();
};

const boxOf = async (locator: Locator) => (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
const widthOf = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

describe('the layout', () => {
  test('has the code to the right of the text on a wide screen, and it stays in sight', async () => {
    const { page, context } = await open('/v2#operation-checkContractV2');
    const section = sectionOf(page, 'checkContractV2');
    const [text, code] = [await boxOf(section.locator('.text')), await boxOf(section.locator('.code'))];
    expect(code.x).toBeGreaterThanOrEqual(text.x + text.width);
    await page.mouse.wheel(0, 200);
    await eventually('the page is scrolled', async () => (await boxOf(section.locator('.text'))).y < 0);
    expect((await boxOf(section.locator('.code'))).y).toBeGreaterThan(0);
    await context.close();
  });

  test('has the code below the text on a phone', async () => {
    const { page, context } = await open('/v2', 390);
    const section = sectionOf(page, 'checkContractV2');
    const [text, code] = [await boxOf(section.locator('.text')), await boxOf(section.locator('.code'))];
    expect(code.y).toBeGreaterThanOrEqual(text.y + text.height);
    expect(await widthOf(page)).toBeLessThanOrEqual(0);
    await context.close();
  });

  test('keeps every anchor that the page ever had', async () => {
    const { page, context } = await open();
    const ids = (await page.evaluate("[...document.querySelectorAll('[id]')].map(({ id }) => id)")) as string[];
    const problems = Object.keys(PROBLEMS).map((type) => `problem-${type}`);
    for (const id of [...GUIDE.map(({ id }) => id), 'other', 'problems', 'parser', ...problems, 'operation-checkAllV2'])
      expect([id, ids.filter((one) => one === id).length]).toEqual([id, 1]);
    await context.close();
  });

  test('follows old links to operations, which lead to the index without a script', async () => {
    for (const [id, path] of [
      ['checkAllV2', '/docs/v2'],
      ['history', '/docs/any'],
      ['checkBatch', '/docs/batches'],
    ]) {
      const { page, context } = await open('/votes');
      await page.evaluate(`location.href = '/docs#operation-${id}'`);
      await page.waitForURL(`${used.url}${path}#operation-${id}`);
      expect(await page.locator('section:target .path').count()).toBe(1);
      await context.close();
    }
    const { page, context } = await open('#operation-checkAllV2', 1280, { javaScriptEnabled: false });
    await page.locator('.index :target').getByRole('link').click();
    await page.waitForURL(`${used.url}/docs/v2#operation-checkAllV2`);
    await context.close();
  });

  test('has a title for every entry of the contents, and no link that leads nowhere', async () => {
    const ids = new Map<string, readonly string[]>();
    const hrefs: string[] = [];
    for (const path of ['', '/any', '/batches', '/votes', '/v2', '/v1']) {
      const { page, context } = await open(path);
      ids.set(`/docs${path}`, await page.evaluate("[...document.querySelectorAll('[id]')].map(({ id }) => id)"));
      const contents = await page.locator('nav a').allInnerTexts();
      expect(contents.filter((text) => /[{}/]/.test(text))).toEqual([]);
      expect(await page.locator('nav [aria-current=page]').count()).toBe(1);
      const found = "[...document.querySelectorAll('nav a, main a')].map(({ pathname, hash }) => pathname + hash)";
      hrefs.push(...((await page.evaluate(found)) as string[]));
      await context.close();
    }
    const leadsNowhere = (href: string) => {
      const [path = '', id] = href.split('#');
      return id !== undefined && ids.get(path)?.includes(id) !== true;
    };
    expect(hrefs.filter(leadsNowhere)).toEqual([]);
  });

  test('starts with three steps, and no page is as long as the whole reference was', async () => {
    for (const path of ['', '/any', '/batches', '/votes', '/v2', '/v1']) {
      const { page, context } = await open(path);
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
      console.log(`/docs${path}: ${height} pixels`);
      expect([path, height < 15_000]).toEqual([path, true]);
      if (path === '') {
        expect(await page.locator('#steps li').count()).toBe(3);
        expect((await boxOf(page.locator('#steps'))).y).toBeLessThan(450);
        expect(await page.locator('#steps .sample pre:visible').innerText()).toStartWith('curl ');
      }
      await context.close();
    }
  });

  test('the first view takes at most 60 kB, and nothing moves while it loads', async () => {
    const context = await used.browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    // The language is remembered from the last visit.
    await page.goto(`${used.url}/docs`);
    await page.evaluate("localStorage.setItem('docs-language', 'ts')");
    const client = await context.newCDPSession(page);
    await client.send('Network.enable');
    await client.send('Network.setCacheDisabled', { cacheDisabled: true });
    let bytes = 0;
    client.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(`${used.url}/docs`, { waitUntil: 'networkidle' });
    const shift = await page.evaluate(
      `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true }) ?? setTimeout(resolve, 300, 0))`,
    );
    console.log(`/docs: ${bytes} bytes, layout shift ${shift}`);
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(60_000);
    expect(shift).toBeLessThan(0.01);
    await context.close();
  });
});

describe('the language of the examples', () => {
  const shown = (page: Page) =>
    sectionOf(page, 'checkContractV2').locator('.sample pre:visible').getAttribute('data-language');

  test('is chosen with the arrow keys, for all examples, and remembered', async () => {
    const { page, context } = await open('/v2');
    expect(await shown(page)).toBe('sh');
    await page.getByRole('radio', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await shown(page)).toBe('ts');
    expect(await page.locator('.sample pre[data-language=sh]:visible').count()).toBe(1); // what is refused has no other
    await page.reload();
    expect(await page.getByRole('radio', { name: 'TypeScript' }).isChecked()).toBe(true);
    expect(await shown(page)).toBe('ts');
    await context.close();
  });

  test('decides what is copied', async () => {
    const { page, context } = await open('/any', 1280, { permissions: ['clipboard-read', 'clipboard-write'] });
    for (const name of ['curl', 'Python']) {
      await page.getByRole('radio', { name }).check({ force: true });
      const sample = sectionOf(page, 'checkAllAny').locator('.sample');
      await sample.getByRole('button').click();
      const text = await sample.locator('pre:visible').innerText();
      expect(text).toContain(`${used.url}/registry/any/check/all?`);
      await eventually('it is copied', async () => (await page.evaluate('navigator.clipboard.readText()')) === text);
    }
    await context.close();
  });
});

describe('running a request', () => {
  test('shows status, time, headers and body beside the form, without leaving the page or a mouse', async () => {
    const { page, context, complaints } = await open('/v2');
    const section = sectionOf(page, 'checkContractV2');
    await section.locator('.run > summary').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.name')).toBe('to');
    await page.keyboard.press('Enter');
    const result = section.locator('.result');
    await result.locator('.badge.good').waitFor();
    expect(await result.getByRole('status').innerText()).toMatch(/^200 OK \d+ ms$/);
    const text = await result.innerText();
    expect(text).toMatch(/X-Block-Number\s+\d+/);
    for (const name of ['X-Block-Hash', 'X-Block-Timestamp', 'ETag', 'RateLimit']) expect(text).toContain(name);
    expect(await result.locator('pre').innerText()).toBe('true');
    expect(page.url()).toBe(`${used.url}/docs/v2`);
    // The form is below its sample, and the answer below both, in view.
    const [sample, form, answer] = await Promise.all(
      [section.locator('.sample'), section.locator('form'), result].map(boxOf),
    );
    expect([sample?.x, form?.x]).toEqual([answer?.x, answer?.x]);
    expect([(form?.y ?? 0) > (sample?.y ?? 0), (answer?.y ?? 0) > (form?.y ?? 0)]).toEqual([true, true]);
    expect((answer?.y ?? 0) + (answer?.height ?? 0)).toBeLessThanOrEqual(900);
    expect(await section.locator('.example > .answer:visible').count()).toBe(0);
    await result.getByRole('button', { name: 'Close' }).press('Enter');
    expect(await section.locator('.example > .answer:visible').count()).toBe(1);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Send');
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('takes more parameters, leaves out what is empty, and loses no digit', async () => {
    const { page, context } = await open('/any');
    const { form, result } = await formOf(page, 'checkErc1155Any');
    await form.locator('summary').click();
    await form.getByLabel('explain').selectOption('true');
    await form.getByLabel('block').fill('finalized');
    await send(form, result);
    expect(await result.locator('.path').innerText()).toMatch(/&chainId=1&block=finalized&explain=true$/);
    const body = await result.locator('pre').innerText();
    expect(body).toContain(`{\n  "result": ${MAX_UINT256},\n  "delegations": [\n    {\n      "type": "CONTRACT",`);
    await context.close();
  });

  test('puts a parameter of the path into the path', async () => {
    const { page, context } = await open('/any');
    const { form, result } = await formOf(page, 'vaults');
    const wallet = await form.getByLabel('wallet').inputValue();
    await form.locator('summary').click();
    await form.getByLabel('contract').fill('0x5FbDB2315678afecb367f032d93F642f64180aa3');
    await send(form, result);
    expect(await result.locator('.path').innerText()).toStartWith(
      `GET /registry/any/vaults/${wallet}?chainId=1&contract=`,
    );
    expect(await result.locator('pre').innerText()).toContain('"narrower": false');
    await context.close();
  });

  test('posts a batch', async () => {
    const { page, context } = await open('/batches');
    const { form, result } = await formOf(page, 'checkBatch');
    await send(form, result);
    expect(await result.locator('.path').innerText()).toBe('POST /registry/any/check');
    expect(await result.locator('pre').innerText()).toContain('"result": 250000000');
    await form.getByLabel('Body').fill('{"questions": [');
    await form.getByRole('button', { name: 'Send' }).click();
    await result.locator('.badge.bad').waitFor();
    expect(await result.locator('pre').innerText()).toContain('"status": 400');
    await context.close();
  });

  test('shows a problem as it is answered, with a link to what it means', async () => {
    const { page, context } = await open('/any');
    const { form, result } = await formOf(page, 'checkAllAny');
    await form.getByLabel('to', { exact: true }).fill('0x12');
    await send(form, result);
    expect(await result.locator('.badge.bad').innerText()).toBe('400 Bad Request');
    expect(await result.locator('pre').innerText()).toContain('"parameter": "to"');
    await result.getByRole('link', { name: 'What this problem means' }).click();
    expect(await page.locator('tr:target').innerText()).toContain('Invalid request');
    await context.close();
  });

  test('sends a key in its header only, and keeps it nowhere', async () => {
    const { page, context } = await open('/v2');
    const { form, result } = await formOf(page, 'checkAllV2');
    await form.locator('summary').click();
    await form.getByLabel('X-API-KEY').fill('dk_nobody');
    const sent = page.waitForRequest(/check\/all/);
    await send(form, result);
    expect((await (await sent).allHeaders())['x-api-key']).toBe('dk_nobody');
    expect((await sent).url()).not.toContain('dk_nobody');
    expect(await result.locator('.badge.bad').innerText()).toBe('401 Unauthorized');
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')).not.toContain('dk_');
    await page.reload();
    expect(await sectionOf(page, 'checkAllV2').locator('[data-key]').inputValue()).toBe('');
    await page.goto(`${used.url}/docs/v1`);
    expect(await sectionOf(page, 'checkAllV1').locator('[data-key]').count()).toBe(0);
    await context.close();
  });

  test('says that there is no answer if the service is away, and never shows an older answer for it', async () => {
    const { page, context } = await open('/any');
    const { form, result } = await formOf(page, 'checkContractAny');
    await send(form, result);
    await page.route('**/registry/**', (route) => route.abort());
    await form.getByRole('button', { name: 'Send' }).click();
    await result.getByText('No answer').waitFor();
    expect(await result.locator('pre').count()).toBe(0);
    await context.close();
  });

  test('shows the start of a very long answer, which does not widen the page', async () => {
    for (const width of [1280, 390]) {
      const { page, context } = await open('/v2', width);
      const row = `{"tokenId":${'9'.repeat(78)},"rights":"0x${'ab'.repeat(32)}","none":[],"text":"a \\"b\\" {c}: [d], e"}`;
      const body = `[${Array.from({ length: 1000 }, () => row).join(',')}]`;
      await page.route('**/registry/v2/0x*', (route) => route.fulfill({ body, contentType: 'application/json' }));
      const { form, result } = await formOf(page, 'listV2');
      await send(form, result);
      const text = await result.locator('pre').innerText();
      expect(text).toStartWith(
        `[\n  {\n    "tokenId": ${'9'.repeat(78)},\n    "rights": "0x${'ab'.repeat(32)}",\n    "none": [],\n    "text": "a \\"b\\" {c}: [d], e"\n  },\n  {\n`,
      );
      expect(await result.getByText('Only the first 50,000 characters are shown.').count()).toBe(1);
      expect(await widthOf(page)).toBeLessThanOrEqual(0);
      await context.close();
    }
  });
});

describe('the search', () => {
  test('is reached with "/", ranks what is found, announces it, and leads there by keyboard', async () => {
    const { page, context } = await open();
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('docs-search');
    await page.keyboard.type('chain-stale');
    const found = page.locator('#docs-found a');
    expect(await found.first().innerText()).toMatch(/^chain-stale\s+Problem$/);
    await page
      .getByRole('search')
      .getByRole('status')
      .filter({ hasText: /^\d+ results?$/ })
      .waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    await page.waitForURL(/#problem-chain-stale$/);
    expect(await page.locator('#docs-found').isVisible()).toBe(false);

    // A parameter, with the arrows. A slash within the field is a slash.
    await page.locator('#docs-search').fill('');
    await page.keyboard.type('narrower vaults/');
    expect(await found.first().innerText()).toMatch(/^narrower\s+GET \/registry\/any\/vaults/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/#operation-vaults$/);

    await page.keyboard.press('/');
    await page.keyboard.type('nothing has this name');
    await page.getByText('No results').waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    expect(await page.locator('#docs-search').inputValue()).toBe('');
    await context.close();
  });
});

describe('the contents', () => {
  test('mark what is read', async () => {
    const { page, context } = await open();
    const current = page.locator('nav li [aria-current]');
    for (const id of ['operations', 'limits', 'start', 'problems']) {
      await page.evaluate(`document.getElementById('${id}').scrollIntoView()`);
      await eventually(`${id} is marked`, async () => {
        const hrefs = "[...document.querySelectorAll('nav li [aria-current]')].map(({ hash }) => hash).join()";
        return (await page.evaluate(hrefs)) === `#${id}`;
      });
      expect((await boxOf(current)).y).toBeGreaterThanOrEqual(0);
      expect((await boxOf(current)).y).toBeLessThan(900);
    }
    await context.close();
  });

  test('fold on a phone, and close when a link is followed', async () => {
    const { page, context } = await open('', 390);
    const link = page.locator('nav').getByRole('link', { name: 'Long lists' });
    expect(await link.isVisible()).toBe(false);
    await page.locator('nav summary').press('Enter');
    await link.press('Enter');
    await page.waitForURL(/#lists$/);
    expect(await link.isVisible()).toBe(false);
    await context.close();
  });

  test('are open beside the text on a wide screen', async () => {
    const { page, context } = await open();
    expect(await page.locator('nav').getByRole('link', { name: 'Long lists' }).isVisible()).toBe(true);
    expect(await page.locator('nav summary').isVisible()).toBe(false);
    await context.close();
  });
});

test('without scripts, the page can be read, languages chosen, and plain requests sent', async () => {
  const { page, context } = await open('', 1280, { javaScriptEnabled: false });
  expect(await page.getByRole('searchbox').count()).toBe(0);
  expect(await page.locator('.copy:visible').count()).toBe(0);
  expect(await page.locator('nav').getByRole('link', { name: 'Long lists' }).isVisible()).toBe(true);
  await page.locator('nav').getByRole('link', { name: 'Both registries' }).click();
  await page.waitForURL(/any$/);
  expect(await sectionOf(page, 'vaults').locator('.run').isVisible()).toBe(false);
  await page.getByRole('radio', { name: 'Python' }).check({ force: true });
  expect(await sectionOf(page, 'vaults').locator('pre[data-language=python]').isVisible()).toBe(true);
  expect(await sectionOf(page, 'vaults').locator('pre[data-language=sh]').isVisible()).toBe(false);

  await page.goto(`${used.url}/docs/v2`);
  const section = sectionOf(page, 'checkContractV2');
  await section.locator('.run > summary').click();
  expect(await section.getByText('More parameters').first().isVisible()).toBe(false);
  await section.getByRole('button', { name: 'Send' }).click();
  await page.waitForURL(/check\/contract/);
  expect([...new URL(page.url()).searchParams.keys()]).toEqual(['to', 'from', 'contract', 'chainId']);
  expect(await page.locator('body').innerText()).toContain('true');
  await context.close();
});

/** What axe finds, but for minor findings. */
const axe = (page: Page, context: string, options: string) =>
  page.evaluate(
    `axe.run(${context}, ${options}).then(({ violations }) => violations.filter(({ impact }) => impact !== 'minor').map(({ id, nodes }) => id + ' ' + nodes.length + ' ' + nodes[0].html))`,
  );

/** One section of each kind: contrast is slow to compute, and all sections have the same colors. */
const COLORED =
  "['header', 'nav', '.tools', '#steps', '#operations', '#start', '#operation-delegates', '#operation-checkAllV1', '#problems', 'footer']";

/** Of each page, what is opened on it. */
const STATES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  '': async () => {},
  '/any': async (page) => {
    const { form, result } = await formOf(page, 'delegates');
    await form.locator('summary').click();
    await send(form, result);
  },
  '/v1': async (page) => {
    const { form, result } = await formOf(page, 'checkAllV1');
    await form.getByLabel('vault').fill('0x');
    await send(form, result);
  },
};

describe.each([
  [1280, 'dark'],
  [320, 'light'],
] as const)('at %i pixels', (width, colorScheme) => {
  test.each(Object.entries(STATES))(
    'there is nothing that accessibility checks find on /docs%s, with answers, problems and results of the search open',
    async (path, openState) => {
      const { page, context, complaints } = await open(path, width);
      await page.evaluate(AXE);
      await openState(page);
      await page.locator('#docs-search').fill('rights');
      await page.locator('#docs-found a').first().waitFor();
      // Of the whole page once: the sections are alike.
      const scope = width === 1280 ? "{ exclude: ['.sandbox'] }" : COLORED;
      // The banner is part of every page of the sandbox, and of none elsewhere.
      expect(
        await axe(page, scope, "{ resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } }"),
      ).toEqual([]);
      // Without motion, so that no color is between two themes.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      expect(await axe(page, COLORED, "{ resultTypes: ['violations'], runOnly: ['color-contrast'] }")).toEqual([]);
      expect(await widthOf(page)).toBeLessThanOrEqual(0);
      const folder = process.env['SCREENSHOTS'];
      if (folder)
        await page.screenshot({
          path: join(folder, `docs-results${path.replace('/', '-')}-${width}-${colorScheme}.png`),
        });
      // The browser itself reports a refused request.
      expect(complaints.filter((text) => !text.includes('400 (Bad Request)'))).toEqual([]);
      await context.close();
    },
  );
});
