// What a person sees who opens an address that has a problem, in a real browser on a real server, and what programs get there.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { createLimiter } from '../src/http/limits/limiter.ts';
import type { RunningServer } from '../src/http/server/listener.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { accessibilityFaults } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { temporaryPath } from './support/engines.ts';
import { timeOf } from './support/fixtures.ts';
import { rawClient } from './support/raw-http.ts';
import { admissionOf, serving } from './support/serving.ts';

const admission = admissionOf(10_000, { anonymous: createLimiter({ most: 1, seconds: 3600 }) });

let store: Store;
let server: RunningServer;
/** Answers one request for / an hour. */
let limited: RunningServer;
let browser: Browser;
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('error-pages.db')}`);
  server = serving(store, timeOf(100));
  limited = serving(store, timeOf(100), { admission });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await Promise.all([server.stop(), limited.stop()]);
  await store.close();
});

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const ask = (path: string, accept?: string, init: RequestInit = {}) =>
  fetch(server.url + path, {
    ...init,
    redirect: 'manual',
    ...(accept === undefined ? {} : { headers: { accept } }),
  });
const typeOf = async (response: Promise<Response>) => (await response).headers.get('content-type');
const HTML = 'text/html; charset=utf-8';
const JSON_PROBLEM = 'application/problem+json';

test('a person who mistypes a page is told so, and finds the right one', async () => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => complaints.push(message.text()));
  const response = await page.goto(`${server.url}/statsu?x=1`);
  expect(response?.status()).toBe(404);
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Page not found');
  const text = await page.locator('main').innerText();
  expect(text).toContain('There is no page at /statsu. Did you mean /status?');
  expect(text).toContain(response?.headers()['x-request-id'] ?? 'no id');
  // The browser itself reports the status.
  expect(complaints.filter((one) => !one.includes('404'))).toEqual([]);
  await page.getByRole('link', { name: 'not-found' }).click();
  await page.waitForURL(`${server.url}/docs#problem-not-found`);
  expect(await page.locator('#problem-not-found').count()).toBe(1);
  await page.goBack();
  await page.getByRole('link', { name: '/status', exact: true }).click();
  await page.waitForURL(`${server.url}/status`);
  await page.close();
});

test('a person who is rate limited is told when to come back', async () => {
  const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
  await page.goto(`${limited.url}/`);
  const response = await page.goto(`${limited.url}/?wallet=0x12`);
  expect(response?.status()).toBe(429);
  expect(Number(response?.headers()['retry-after'])).toBeGreaterThan(3400);
  expect(response?.headers()['ratelimit']).toContain('"anon";r=0');
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Too many requests');
  expect(await page.locator('main').innerText()).toMatch(/Wait (60|59) minutes, then try again\./);
  expect(await page.getByRole('link', { name: 'try again' }).getAttribute('href')).toBe('/?wallet=0x12');
  await page.close();
});

test('the page of a problem is accessible and fits both widths', async () => {
  for (const width of [1280, 390])
    for (const url of [`${server.url}/statsu`, `${server.url}/${'nothing/'.repeat(20)}`, `${limited.url}/`]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      const response = await page.goto(url);
      expect(response?.ok()).toBe(false);
      expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(width);
      expect([url, width, await accessibilityFaults(page)]).toEqual([url, width, []]);
      await page.close();
    }
});

test('programs get the problem as JSON, and what they get depends on Accept alone', async () => {
  for (const accept of [undefined, '*/*', 'application/json', 'application/json, text/plain, */*', 'text/html;q=0'])
    expect([accept, await typeOf(ask('/nothing', accept))]).toEqual([accept, JSON_PROBLEM]);
  expect(await typeOf(ask('/nothing', 'application/json, text/html'))).toBe(JSON_PROBLEM);
  for (const accept of [BROWSER, 'text/html', 'text/html, application/json;q=0.9'])
    expect([accept, await typeOf(ask('/nothing', accept))]).toEqual([accept, HTML]);
  for (const accept of ['*/*', BROWSER]) {
    const { status, headers } = await ask('/nothing', accept);
    expect([status, headers.get('vary'), headers.get('cache-control')]).toEqual([404, 'Accept', 'no-store']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  }
  const page = (await ask('/nothing', BROWSER)).headers;
  expect(page.get('content-security-policy')).toContain("default-src 'none'");
});

test('a HEAD has the headers of the page, and no body', async () => {
  const head = await ask('/nothing', BROWSER, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([404, HTML, '']);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(500);
});

test('a form sent to a page gets a page with the allowed methods', async () => {
  const response = await ask('/status', BROWSER, { method: 'POST' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  expect(await response.text()).toContain('This address only shows a page: <a href="/status">open it</a>.');
});

test('the API is JSON in a browser too', async () => {
  for (const path of [
    '/registry/v2/check/all?from=1',
    '/registry',
    '/registry/v3/check/all',
    '/developers/keys',
    '/mcp',
  ])
    expect([path, await typeOf(ask(path, BROWSER))]).toEqual([path, JSON_PROBLEM]);
});

test('nothing that a caller writes becomes part of the page', async () => {
  const text = await (await ask('/%3Cscript%3E"><b>\'', BROWSER)).text();
  expect(text).not.toContain('"><b>');
});

test('a page with a slash at its end is redirected to the page, with its query, and never to another site', async () => {
  for (const accept of ['*/*', BROWSER]) {
    for (const [path, location] of [
      ['/status/', '/status'],
      ['/docs/?q=1&b=/', '/docs?q=1&b=/'],
      ['/developers/', '/developers'],
    ] as const) {
      const { status, headers } = await ask(path, accept);
      expect([path, status, headers.get('location')]).toEqual([path, 308, location]);
    }
  }
  // HTTP libraries would send other paths.
  const client = rawClient(server.url);
  for (const path of ['//evil.example/', '/\\evil.example/', '//status/', '/status//', '/%2F%2Fevil.example/']) {
    const answer = await client.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${BROWSER}\r\n\r\n`);
    expect([path, answer?.status, answer?.headers.get('location')]).toEqual([path, 404, undefined]);
    expect(answer?.body).not.toMatch(/(href|src)="(\/\/|\/\\|http)/);
  }
  client.close();
  expect((await ask('/status/', '*/*', { method: 'HEAD' })).status).toBe(308);
});

test('a path of the API with a slash at its end is a problem that names the right path', async () => {
  const wallet = `0x${'12'.repeat(20)}`;
  for (const [path, right] of [
    ['/registry/v2/check/all/?from=1', '/registry/v2/check/all'],
    [`/registry/v2/${wallet}/`, '/registry/v2/{wallet}'],
    ['/networks/', '/networks'],
  ] as const) {
    const response = await ask(path);
    expect([path, response.status]).toEqual([path, 404]);
    expect(((await response.json()) as { detail: string }).detail).toContain(`There is ${right}, without the slash`);
  }
});
