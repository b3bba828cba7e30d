// Proving the answer to a check in a real browser on the sandbox: what it says when the proof holds, when it does not, and when there is
// none. SCREENSHOTS=folder takes a picture of each.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page, Response, Route } from 'playwright-core';
import { createRpc } from '../src/chain/rpc/rpc.ts';
import { type Address, type Delegation, NO_RIGHTS } from '../src/registry/delegation.ts';
import { COLD, CONTRACTS, HOT, OTHER } from '../src/sandbox/wallets.ts';
import { expectAccessible } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { temporaryPath } from './support/engines.ts';
import { makeGrants } from './support/sandbox-grants.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';
import { runCommand } from './support/serve-process.ts';

let sandbox: QuietSandbox;
let browser: Browser;
beforeAll(async () => {
  // Nothing but this test writes to the chain.
  sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' }, '--interval', '0');
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await sandbox.stop();
});

const YES = `/?from=${COLD.Ada}&to=${HOT.Ada}&type=all&rights=vote&chainId=1`;
const NO = `/?from=${COLD.Finn}&to=${OTHER['Old phone']}&type=all&chainId=1`;
const TOKENS = `/?from=${COLD.Ella}&to=${HOT.Ella}&type=erc1155&contract=${CONTRACTS['Tidal Cards']}&tokenId=7&chainId=1`;
const NO_TOKENS = `/?from=${COLD.Ella}&to=${HOT.Finn}&type=erc1155&contract=${CONTRACTS['Tidal Cards']}&tokenId=7&chainId=1`;

/** Every request of the page, in order. */
const asked = new WeakMap<Page, string[]>();

async function visit(path: string, javaScriptEnabled = true): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled });
  const urls: string[] = [];
  asked.set(page, urls);
  page.on('request', (request) => urls.push(request.url()));
  await page.goto(sandbox.url + path);
  return page;
}

const isProof = (url: URL) => url.searchParams.get('proof') === 'true';
const count = (page: Page, part: string) => asked.get(page)?.filter((url) => url.includes(part)).length;

const button = (page: Page) => page.getByRole('button', { name: 'Prove this answer' });
const panel = (page: Page) => page.locator('#proof');
/** What the page says when it is done. */
async function proved(page: Page, path = ''): Promise<string> {
  if (path !== '') await page.goto(sandbox.url + path);
  await button(page).click();
  return said(page);
}
async function said(page: Page): Promise<string> {
  await panel(page).locator('p').first().waitFor();
  return panel(page).innerText();
}

interface Proof {
  result: unknown;
  block: { hash: string };
  proofs: { storageProof: { proof: string[] }[] }[];
}

/** The service answers with something else from now on. */
const changing = (page: Page, change: (proof: Proof) => void) =>
  page.route(isProof, async (route: Route) => {
    const response = await route.fetch();
    const proof = (await response.json()) as Proof;
    change(proof);
    await route.fulfill({ response, json: proof });
  });

describe('a proof that holds', () => {
  test.each([
    ['a yes', YES, 'Yes'],
    ['a no', NO, 'No'],
    ['an amount', TOKENS, 'Yes'],
    ['an amount of none', NO_TOKENS, 'No'],
  ])('of %s names the answer and the hash to compare, and the file is verified offline', async (_, path, word) => {
    const page = await visit(path);
    expect(await page.locator('.said').innerText()).toStartWith(`${word}.`);
    const text = await proved(page);
    const block = Number(/follows from the state of block (\d+)\./.exec(text)?.[1]);
    expect(text).toStartWith(`Proven in your browser: the answer “${word}” follows`);
    expect(await page.locator('#announcements').innerText()).toBe(await panel(page).locator('h3').innerText());
    const at = await createRpc(sandbox.rpcUrl).call('eth_getBlockByNumber', [`0x${block.toString(16)}`, false]);
    const { hash } = at as { hash: string };
    expect(await panel(page).locator('code').allInnerTexts()).toEqual([
      hash,
      'eth_getBlockByNumber',
      `delegations verify answer.json --block-hash ${hash}`,
    ]);
    // The sandbox's chain has no block explorer.
    expect(await panel(page).locator('a[rel]').count()).toBe(0);

    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download answer.json' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('answer.json');
    const file = temporaryPath('answer.json');
    await download.saveAs(file);
    const verified = await runCommand(['verify', file, '--block-hash', hash], {});
    expect([verified.code, verified.stdout]).toEqual([
      0,
      expect.stringContaining(`proven: 1 answer (${word === 'Yes' ? 1 : 0} yes) at block ${block} of chain 1`),
    ]);
    await page.close();
  });

  test('loads the verifier only when it is asked for', async () => {
    const page = await visit(YES);
    expect([count(page, '/prove.js'), count(page, '/verify.js'), count(page, 'proof=true')]).toEqual([1, 0, 0]);
    await proved(page);
    expect([count(page, '/verify.js'), count(page, 'proof=true')]).toEqual([1, 1]);
    await page.goto(`${sandbox.url}/?wallet=${COLD.Ada}`);
    expect(count(page, '/prove.js')).toBe(1);
    await page.close();
  });

  test('links to the block in a block explorer, if the chain has one', async () => {
    const page = await visit(YES);
    await page.evaluate(
      `(() => { const form = document.querySelector('[data-prove]'); form.dataset.explorer = 'https://etherscan.io/block/7'; form.requestSubmit(); })()`,
    );
    expect(await said(page)).toContain('or a block explorer of this chain.');
    const link = panel(page).getByRole('link', { name: 'a block explorer of this chain' });
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
      'https://etherscan.io/block/7',
      'noreferrer noopener',
    ]);
    await page.close();
  });

  test('stays what it was when the answer changes, and the next one is of the new answer', async () => {
    const wallet = (name: string): Address => `0x${Buffer.from(name).toString('hex').padStart(40, '2')}`;
    const [from, to] = [wallet('proof cold'), wallet('proof hot')];
    const page = await visit(`/?from=${from}&to=${to}&type=all&chainId=1`);
    const before = await proved(page);
    expect(before).toContain('“No” follows');
    const grant = { version: 2, kind: 'ALL', contract: null, tokenId: null, rights: NO_RIGHTS, amount: null } as const;
    await makeGrants(sandbox, { ...grant, from, to } satisfies Delegation);
    await page.locator('.said', { hasText: 'Yes.' }).waitFor();
    expect(await panel(page).innerText()).toBe(before);
    // The button still has the focus.
    await page.keyboard.press('Enter');
    await panel(page).getByText('“Yes” follows').waitFor();
    await page.close();
  });
});

describe('a proof that does not hold', () => {
  const CHANGES: readonly [what: string, change: (proof: Proof) => void, says: RegExp][] = [
    [
      'a changed byte',
      ({ proofs }) => {
        const nodes = proofs[0]?.storageProof[0]?.proof as string[];
        nodes[0] = nodes[0]?.replace(/..$/, (byte) => (byte === '00' ? '01' : '00')) as string;
      },
      /Refuted \(storage\): The storage proof is broken: .+\./,
    ],
    [
      'another result',
      (proof) => {
        proof.result = false;
      },
      /Refuted \(result\): The result is false, but true is proven\./,
    ],
    [
      'another block',
      ({ block }) => {
        block.hash = `0x${'ab'.repeat(32)}`;
      },
      /Refuted \(block\): .+ another block: 0xabab.+\. A reorg may have replaced the block: reload the page, and prove/,
    ],
  ];

  test.each(CHANGES)('because of %s is refuted', async (_, change, says) => {
    const page = await visit(YES);
    await changing(page, change);
    const text = await proved(page);
    expect(text).toStartWith('The proof does not show this answer: do not rely on it.');
    expect(text).toMatch(says);
    if (!says.source.includes('reorg')) expect(text).not.toContain('reorg');
    expect(await panel(page).getAttribute('class')).toBe('notice danger');
    expect(await panel(page).locator('a').count()).toBe(0);
    await page.close();
  });

  test('because the page says something else is refuted', async () => {
    const page = await visit(YES);
    await page.evaluate(
      `(() => { const form = document.querySelector('[data-prove]'); form.dataset.result = 'false'; form.requestSubmit(); })()`,
    );
    expect(await said(page)).toContain('Refuted (result): The page says false, but true is proven.');
    await page.close();
  });
});

describe('no proof', () => {
  const problem = { type: '/docs#problem-proof-unavailable', title: 'Proof unavailable', status: 503 };
  const detail = 'No provider has a proof at this block.';

  test('says why, and leads to the newest block that has one', async () => {
    const page = await visit(YES);
    const head = Number(await createRpc(sandbox.rpcUrl).call('eth_blockNumber', []));
    await page.route(isProof, (route) =>
      route.fulfill({ status: 503, json: { ...problem, detail, newestBlock: head } }),
    );
    expect(await proved(page)).toStartWith('There is no proof of this answer now.');
    expect(await panel(page).innerText()).toContain(detail);
    await expectAccessible(page, 'proof-problem');
    await page.unroute(isProof);
    await panel(page)
      .getByRole('link', { name: `Ask as of block ${head}` })
      .click();
    await page.waitForURL((url) => url.searchParams.get('at') === String(head));
    expect(await proved(page)).toContain(`“Yes” follows from the state of block ${head}.`);
    await page.close();
  });

  test.each([
    ['without such a block', { status: 503, json: { ...problem, detail, newestBlock: null } }, detail],
    ['that is not of this service', { status: 502, body: '<h1>Bad gateway</h1>' }, 'HTTP status 502.'],
  ])('%s says why', async (_, answer, says) => {
    const page = await visit(YES);
    await page.route(isProof, (route) => route.fulfill(answer));
    expect(await proved(page)).toContain(says);
    expect(await panel(page).locator('a').count()).toBe(0);
    await page.close();
  });

  test('of a block whose hash is not kept says so', async () => {
    const page = await visit(`${NO}&at=3`);
    expect(await proved(page)).toContain('has no hash of the requested block, so nothing can be proven at it.');
    await page.close();
  });

  test('because the service is away says so, and it can be tried again', async () => {
    const page = await visit(YES);
    await page.route(isProof, (route) => route.abort());
    expect(await proved(page)).toMatch(/^The answer could not be proven\.\s+.+ Try again\.$/);
    await page.unroute(isProof);
    await button(page).click();
    await panel(page).getByText('“Yes” follows').waitFor();
    await page.close();
  });

  test('is offered without a script as the answer of the API', async () => {
    const page = await visit(YES, false);
    const [response] = await Promise.all([
      page.waitForEvent('response', (one: Response) => isProof(new URL(one.url()))),
      button(page).click(),
    ]);
    expect((await response.json()) as object).toMatchObject({
      result: true,
      proofs: [{ registry: 2 }, { registry: 1 }],
    });
    await page.close();
  });
});

test('one press asks once, however long the key is held down, and all that follows is reached by Tab', async () => {
  const page = await visit(YES);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(isProof, async (route) => {
    await released;
    await route.continue();
  });
  await button(page).focus();
  const first = page.waitForRequest((request) => isProof(new URL(request.url())));
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await first;
  expect(await panel(page).innerText()).toBe('Asking for the proof…');
  // As a refresh does when the head moves on.
  await page.evaluate(
    `Object.assign(document.querySelector('[data-prove]').dataset, { block: '7', hash: '0x', result: 'false' })`,
  );
  release();
  expect(await said(page)).toMatch(/“Yes” follows from the state of block \d\d\./);
  expect(count(page, 'proof=true')).toBe(1);
  for (const name of ['Copy the hash', 'Download answer.json', 'Copy the command']) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent')).toBe(name);
  }
  await page.close();
});

test('what is proven or refuted fits every width and is accessible in both themes', async () => {
  const OUTSIDE = `[...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))`;
  const page = await visit(YES);
  await proved(page);
  for (const width of [320, 375, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await page.evaluate(OUTSIDE)]).toEqual([width, []]);
  }
  await expectAccessible(page, 'proof-yes');
  await changing(page, (proof) => {
    proof.result = false;
  });
  await button(page).click();
  await panel(page).getByText('Refuted (result)').waitFor();
  await expectAccessible(page, 'proof-refuted');
  await page.close();
});
