// The pages without a browser: what they show whatever is in the store, and where it is away.

import { expect, test } from 'bun:test';
import { temporaryPath } from '../../../test/support/engines.ts';
import { address, timeOf } from '../../../test/support/fixtures.ts';
import { appOf } from '../../../test/support/serving.ts';
import { readLabel } from '../../accounts/label.ts';
import { openStore } from '../../store/open.ts';

const get = async (app: ReturnType<typeof appOf>, path: string) => {
  const response = await app.fetch(new Request(`http://localhost${path}`));
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

test('with the store away every page is a page that says so', async () => {
  const store = await openStore(`sqlite:${temporaryPath('away.db')}`);
  const app = appOf(store, timeOf(102));
  await store.close();
  for (const path of [
    '/',
    `/?wallet=${address(1)}`,
    `/?from=${address(1)}&to=${address(2)}`,
    '/status',
    '/developers',
    '/docs',
  ]) {
    const { status, type } = await get(app, path);
    expect([path, status, type]).toEqual([path, 200, 'text/html; charset=utf-8']);
  }
  expect((await get(app, '/status')).text).toContain('The state of the chains is not known now.');
});

test('a label is a text that is safe to show anywhere', () => {
  expect([readLabel(' mint site '), readLabel('Zürich ☕')]).toEqual(['mint site', 'Zürich ☕']);
  for (const bad of ['', ' ', 'a\0b', 'a\u001b[2Jb', 'a\nb', '\u202eabc', '\ud800', 'x'.repeat(101), 7, null]) {
    expect([bad, readLabel(bad)]).toEqual([bad, null]);
  }
});
