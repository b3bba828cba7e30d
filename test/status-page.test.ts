// The status page in a real browser: on the sandbox, and on a service with chains in every state.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { RunningServer } from '../src/http/server/listener.ts';
import { openStore } from '../src/store/open.ts';
import type { Report, Store } from '../src/store/store.ts';
import { accessibilityFaults } from './support/axe.ts';
import { temporaryPath } from './support/engines.ts';
import { block, FOLLOWER_STATUS, timeOf } from './support/fixtures.ts';
import { useSandboxInBrowser } from './support/sandbox-browser.ts';
import { serving } from './support/serving.ts';

const used = useSandboxInBrowser();
const HALT = { code: 'registry-mismatch', since: timeOf(104), block: 102 } as const;
/** Up to date, halted, backfilling, behind, not started, and with a part of its history. */
const CHAINS: readonly (readonly [number, Report | null])[] = [
  [1, { agreedBlock: 103 }],
  [10, { halt: HALT }],
  [137, { tip: 9999 }],
  [8453, {}],
  [42161, null],
  [7777777, { partial: true, agreedBlock: 101 }],
];

let store: Store;
let server: RunningServer;
const epochs = new Map<number, number>();
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('status-page.db')}`);
  for (const [chainId, report] of CHAINS) {
    if (report === null) continue;
    const { epoch } = await store.claim(chainId, 100);
    epochs.set(chainId, epoch);
    const head = block(105);
    await store.apply({ chainId, epoch, after: null, blocks: [block(100), block(103), head], head, verified: 103 });
    await store.report(chainId, epoch, { tip: 105, ...report });
    await recordDay(chainId, epoch);
  }
  const providers = [
    { name: '1/1', healthy: true, cause: null },
    { name: '1/2', healthy: false, cause: 'http-401' as const },
  ];
  server = serving(store, NOW, {
    chainIds: new Set(CHAINS.map(([chainId]) => chainId)),
    maxLag: (chainId) => (chainId === 8453 || chainId === 137 ? 60 : 600),
    followerStatus: () => [
      { ...FOLLOWER_STATUS, providers },
      { ...FOLLOWER_STATUS, chainId: 137, secondsLeft: 5400 },
    ],
  });
});
afterAll(async () => {
  await server.stop();
  await store.close();
});

const NOW = timeOf(105) + 200;

/** Six hours of samples, with an hour in which nothing followed the chain and ten minutes of trouble. */
async function recordDay(chainId: number, epoch: number): Promise<void> {
  const current = Math.floor(NOW / 600) * 600;
  for (let step = 36; step > 0; step--) {
    if (step > 12 && step <= 18) continue;
    await store.recordLag(epoch, { chainId, at: current - step * 600, seconds: step === 8 ? 900 : 12 + (step % 5) });
  }
}

const visit = async (url: string, width = 1280): Promise<Page> => {
  const page = await used.browser.newPage({ viewport: { width, height: 900 } });
  await page.goto(url);
  return page;
};
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('the sandbox is up to date, and the operator finds providers without their URLs and the audit', async () => {
  const page = await visit(`${used.url}/status`);
  expect(await page.locator('#summary').innerText()).toBe('Ethereum is up to date.');
  const ethereum = card(page, 'Ethereum');
  expect(await ethereum.innerText()).toMatch(/Ethereum chain 1 Up to date/);
  expect(await ethereum.innerText()).not.toContain('1/1 healthy');
  await ethereum.getByText('Details for the operator').click();
  const details = await ethereum.innerText();
  for (const part of ['Finalized block', 'Lag', '1/1 healthy', 'compared since start']) expect(details).toContain(part);
  expect(await page.content()).not.toMatch(/127\.0\.0\.1:\d+(?!\/)/);
  await page.close();
});

test('every state is described in words, and accessible at both widths and in both themes', async () => {
  for (const width of [1280, 390]) {
    const page = await visit(`${server.url}/status`, width);
    expect(await page.locator('#summary').innerText()).toMatch(/^2 of 6 chains are up to date\. The answers of /);
    for (const [name, text] of [
      [
        'Ethereum',
        'usually 14 seconds, at most 15 minutes. Above the limit of 10 minutes in 10 minutes of it. Not measured for 60 minutes.',
      ],
      ['Optimism', 'no question about Optimism is answered'],
      ['Polygon', 'Backfilling'],
      ['Base', 'The newest indexed block is from'],
      ['Arbitrum One', 'Nothing of Arbitrum One is indexed yet.'],
      ['Zora', 'What was delegated before is unknown'],
    ] as const)
      expect(await card(page, name).innerText()).toContain(text);
    const ethereum = card(page, 'Ethereum');
    expect(await ethereum.locator('.axis text').allTextContents()).toEqual(['0 s', '10 min', '15 min']);
    // No label is above another one, and the axis is as high as the line.
    const boxes = await Promise.all((await ethereum.locator('.axis text').all()).map((one) => one.boundingBox()));
    for (const [index, box] of boxes.slice(1).entries())
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual((boxes[index]?.y ?? 0) + 3);
    for (const summary of await page.getByText('Details for the operator').all()) await summary.click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect([width, await accessibilityFaults(page)]).toEqual([width, []]);
    const folder = process.env['SCREENSHOTS'];
    if (folder) await page.screenshot({ path: `${folder}/status-states-${width}.png`, fullPage: true });
    await page.close();
  }
});

test('a chain that resumes is updated in place, and what is unfolded stays so', async () => {
  const page = await visit(`${server.url}/status`);
  const optimism = card(page, 'Optimism');
  await optimism.getByText('Details for the operator').press('Enter');
  await optimism.getByText('delegations audit --chain 10').waitFor();
  await store.report(10, epochs.get(10) ?? 0, { halt: null });
  await optimism.getByText('Up to date').waitFor();
  expect(await optimism.locator('details').getAttribute('open')).not.toBeNull();
  expect(await optimism.getByText('delegations audit').count()).toBe(0);
  await page.close();
});
