// A real browser's EventSource on another origin, through the nginx of deploy/, while the API restarts and the chain reorganizes.

import { afterAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_RIGHTS } from '../src/registry/delegation.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { startBrowser } from './support/browser.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import type { FakeCall } from './support/fake-node.ts';
import { applyEntries, type FeedEntryJson } from './support/feed-reader.ts';
import { address, COLD } from './support/fixtures.ts';
import { caughtUp, liveChain, settingsOf } from './support/live-chain.ts';
import { startNginx } from './support/nginx.ts';
import { startServe } from './support/serve-process.ts';

const opened: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const INTEGRATING = await Bun.file(`${import.meta.dir}/../docs/integrating.md`).text();
const [, EXAMPLE = ''] = /^### As a stream\n.*?^```js\n(.*?)^```$/ms.exec(INTEGRATING) ?? [];

/** Collects in the page what it is sent, with the code of the documentation. */
const collect = (page: Page, url: string) =>
  page.evaluate(`{
    globalThis.received = { entries: [], opens: 0, failures: 0 };
    const url = '${url}';
    const apply = (entry) => received.entries.push(entry);
    ${EXAMPLE}
    source.onopen = () => received.opens++;
    source.onerror = () => received.failures++;
  }`);
const received = (page: Page) =>
  page.evaluate(
    () =>
      (globalThis as unknown as { received: { entries: FeedEntryJson[]; opens: number; failures: number } }).received,
  );

let grants = 0;
/** A block that changes something, so that the page has a place in it. */
const alwaysNew = (): FakeCall[] => [
  { call: ['v2', COLD, 'delegateAll', [address(++grants), NO_RIGHTS, true]], direct: true },
];

test('an EventSource lives through restarts of the API and loses or doubles nothing', async () => {
  const chain = liveChain(30);
  opened.push(chain.stop);
  const port = freePort();
  const database = `sqlite:${temporaryPath('event-source.db')}`;
  const start = () => startServe(database, { ...settingsOf(chain.url), PORT: String(port) });
  let served = await start();
  opened.push(() => served.stop());
  const nginx = await startNginx('nginx.conf', port);
  opened.push(nginx.stop);
  await caughtUp(served, chain);

  const other = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response('<!doctype html><title>gate</title>', { headers: { 'content-type': 'text/html' } }),
  });
  opened.push(() => other.stop(true));
  const browser = await startBrowser();
  opened.push(() => browser.close());
  const page = await browser.newPage();
  await page.goto(other.url.href);
  const feed = `${nginx.url}/registry/any/changes?chainId=1`;
  await collect(page, nginx.url);

  const fromNothing = async () => {
    const all: FeedEntryJson[] = [];
    for (let url = `${feed}&limit=1000`; ; ) {
      const body = (await (await fetch(url)).json()) as { changes: FeedEntryJson[]; end: boolean; cursor: string };
      all.push(...body.changes);
      if (body.end) return applyEntries(all);
      url = `${feed}&limit=1000&cursor=${body.cursor}`;
    }
  };
  const agrees = () =>
    eventually('the page has what the feed gives', async () => {
      await caughtUp(served, chain);
      return Bun.deepEquals(applyEntries((await received(page)).entries), await fromNothing());
    });

  await agrees();
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
    chain.grow(3, alwaysNew);
    await agrees();
    const { failures } = await received(page);
    process.kill(served.pid, signal);
    await served.exited;
    // While nothing answers, the chain goes on and reorganizes what was sent.
    chain.grow(2);
    chain.reorg(4, 5);
    // The browser loses its connection, and then finds nothing behind nginx.
    await eventually('failed twice', async () => (await received(page)).failures > failures + 1);
    served = await start();
    chain.grow(2);
    await agrees();
  }
  const { entries, opens } = await received(page);
  console.log(
    `${entries.length} events over ${opens} connections, ${entries.filter(({ type }) => type === 'undo').length} undos`,
  );
  expect(opens).toBeGreaterThanOrEqual(4);
  expect(entries.filter(({ type }) => type === 'undo').length).toBeGreaterThanOrEqual(3);
});
