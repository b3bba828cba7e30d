// The hooks of the packed client and the vault picker, in a real browser.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../test/support/browser.ts';
import { linkPackages, packClient } from '../../test/support/packed-client.ts';
import { type FaultyServer, startFaultyServer } from './faulty-server.ts';
import { ADA } from './suite/world.ts';

const AXE = readFileSync(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js'), 'utf8');

let server: FaultyServer;
let browser: Browser;
let script: string;
beforeAll(async () => {
  const { project } = packClient();
  linkPackages(project, 'react', 'react-dom', 'scheduler', '@tanstack/react-query', '@tanstack/query-core');
  for (const file of ['test/react-app.tsx', 'examples/vault-picker.tsx'])
    cpSync(join(import.meta.dir, '..', file), join(project, file));
  const { outputs } = await Bun.build({
    entrypoints: [join(project, 'test/react-app.tsx')],
    target: 'browser',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  script = await (outputs[0] as Blob).text();
  server = startFaultyServer(async () => {});
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  server.stop();
});

let runs = 0;

/** Opens a part of the app, whose server has these faults. */
async function open(part: 'picker' | 'check', faults: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${server.url}/page#${server.url}/${faults}/react-${++runs} ${part}`);
  await page.addScriptTag({ content: script, type: 'module' });
  return page;
}

/** Waits until the element has this text. */
const shows = async (page: Page, selector: string, text: string | RegExp) => {
  const found = page.locator(selector, { hasText: text });
  await found.waitFor();
  return found;
};

describe('the vault picker', () => {
  test('lists the vaults, and selects one by its label or by keyboard', async () => {
    const page = await open('picker', 'vaults');
    await page.getByRole('group', { name: 'Act for' }).waitFor();
    const [first, second] = await page.getByRole('radio').all();
    if (first === undefined || second === undefined) throw new Error('two vaults');
    await page.getByLabel(ADA).check();
    expect([await first.isChecked(), await page.locator('#picked').textContent()]).toEqual([true, ADA]);
    await page.keyboard.press('ArrowDown');
    expect([await first.isChecked(), await second.isChecked()]).toEqual([false, true]);
  });

  test('says that it loads, and that there is none', async () => {
    await shows(await open('picker', 'silence'), '[role=status]', 'Loading vaults…');
    await shows(await open('picker', 'no-vaults'), '[role=status]', 'No vault has delegated to this wallet.');
  });

  test('says that vaults are not known, which is not the same as none, and tries again', async () => {
    const page = await open('picker', 'html-404+vaults');
    const alert = await shows(page, '[role=alert]', 'not known right now: HTTP 404');
    expect(await page.getByRole('radio').count()).toBe(0);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel(ADA).waitFor();
  });

  test.each([
    ['vaults', 'fieldset', 'Act for'],
    ['no-vaults', '[role=status]', 'No vault'],
    ['html-404', '[role=alert]', 'not known'],
    ['silence', '[role=status]', 'Loading'],
  ])('has no accessibility violation with %s', async (faults, selector, text) => {
    const page = await open('picker', faults);
    await shows(page, selector, text);
    await page.evaluate(AXE);
    const run = 'axe.run("main").then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))';
    expect(await page.evaluate(run)).toEqual([]);
  });
});

describe('useCheck', () => {
  test('has an answer', async () => {
    await shows(await open('check', 'ok'), '#answer', 'answer: true');
  });

  test('has no answer after an error', async () => {
    await shows(await open('check', 'html-404'), '#answer', /^error$/);
  });

  test('does not show the last answer after a failed refetch', async () => {
    const page = await open('check', 'ok+html-404');
    await shows(page, '#answer', 'answer: true');
    await page.getByRole('button', { name: 'Again' }).click();
    await shows(page, '#answer', /^error$/);
  });

  test('does not show the answer to another question while it waits for its own', async () => {
    const page = await open('check', 'ok+silence');
    await shows(page, '#answer', 'answer: true');
    await page.getByRole('button', { name: 'Next' }).click();
    await shows(page, '#answer', /^pending$/);
  });

  test('waits while there is no question', async () => {
    const page = await open('check', 'ok');
    for (let turn = 0; turn < 2; turn++) await page.getByRole('button', { name: 'Next' }).click();
    await shows(page, '#answer', /^pending$/);
  });
});
