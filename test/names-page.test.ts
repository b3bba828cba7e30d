// Names on pages, in a real browser and on a real EVM: those of wallets, what tokens call themselves, and the reader's own. However
// hostile they are, a page shows its addresses, and is what it would be without them.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { createNameReader, type NameReader } from '../src/chain/names/name-reader.ts';
import { checksummed } from '../src/registry/checksum.ts';
import type { Address } from '../src/registry/delegation.ts';
import { type Evm, startEvm } from '../src/sandbox/evm.ts';
import { COLD, HOT } from '../src/sandbox/wallets.ts';
import { openStore } from '../src/store/open.ts';
import type { Store } from '../src/store/store.ts';
import { accessibilityFaults } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { temporaryPath } from './support/engines.ts';
import { eventually } from './support/eventually.ts';
import { deployEns, deployNamedToken, setBack, setForward, setPrimary } from './support/evm-names.ts';
import { block, granted, timeOf } from './support/fixtures.ts';
import { startQuietSandbox } from './support/sandbox-process.ts';
import { serving } from './support/serving.ts';

const wallet = (name: string): Address => `0x${Buffer.from(name).toString('hex').padStart(40, 'c')}`;
const [OWNER, ADA, BEN, CLEO, ARABIC] = ['owner', 'ada', 'ben', 'cleo', 'arabic'].map(wallet) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];

/** What tokens call themselves, and what is shown of it. */
const CLAIMS: readonly (readonly [called: string, shown: string | null])[] = [
  ['Ada', 'calls itself “Ada” (T, 18 decimals)'],
  ['ada.eth', 'calls itself “ada.eth” (T, 18 decimals)'],
  ['\u202eadA\u2066', 'calls itself “adA” (T, 18 decimals)'],
  // With a Cyrillic a: the contract's own words, whatever they look like.
  ['\u0410da', 'calls itself “\u0410da” (T, 18 decimals)'],
  ['<img src=x onerror="document.title=1"><b>Ada', "calls itself “<img src=x onerror='document.ti…” (T, 18 decimals)"],
  ['Ada” (verified). “', "calls itself “Ada' (verified). '” (T, 18 decimals)"],
  ['$& $1 $`', 'calls itself “$& $1 $`” (T, 18 decimals)'],
  [`Z${'\u0301'.repeat(300)}`, null],
  ['long '.repeat(60), null],
  // So long that reading it costs more gas than a name is worth.
  ['x'.repeat(10_000), 'calls itself “T” (18 decimals)'],
];
const tokenAt = (at: number) => wallet(`token${at}`);

let evm: Evm;
let store: Store;
let browser: Browser;
const servers: ReturnType<typeof serving>[] = [];
let url: string;

function serve(rpcUrl: string | null, waitMs = 60_000): string {
  const limits = { waitMs, pauseMs: 60_000, lookupMs: 60_000 };
  const names = rpcUrl === null ? null : (createNameReader(new Map([[1, [rpcUrl]]]), limits) as NameReader);
  const server = serving(store, timeOf(102), { maxLag: () => 1e9, ...(names === null ? {} : { names }) });
  servers.push(server);
  return server.url;
}

beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('names.db')}`);
  const { epoch } = await store.claim(1, 100);
  const grants = [
    ...[ADA, BEN, CLEO, ARABIC].map((to) => granted('ALL', { from: OWNER, to })),
    ...CLAIMS.map((_, at) => granted('CONTRACT', { from: OWNER, to: ADA, contract: tokenAt(at) })),
  ];
  await store.apply({ chainId: 1, epoch, after: null, blocks: [block(101, grants)], head: block(102) });
  evm = await startEvm();
  await deployEns(evm.rpc);
  await setPrimary(evm.rpc, ADA, 'ada.eth');
  await setForward(evm.rpc, 'ben.eth', BEN);
  await setBack(evm.rpc, CLEO, 'ada.eth');
  await setPrimary(evm.rpc, ARABIC, 'عربي.eth');
  for (const [at, [called]] of CLAIMS.entries()) await deployNamedToken(evm.rpc, tokenAt(at), called, 'T');
  url = serve(evm.url);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  for (const server of servers) await server.stop();
  await evm.stop();
  await store.close();
});

async function visit(path: string, width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  await page.goto(url + path);
  return page;
}

const WALLET = `/?wallet=${OWNER}`;
const textsOf = (page: Page, selector: string) => page.locator(selector).allInnerTexts();
/** The parts of the page that reach beyond its right edge. */
const OUTSIDE = `[...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80))`;

describe('names of wallets', () => {
  test('are beside the addresses; one that only leads to the wallet, or only back, is not', async () => {
    const page = await visit(WALLET);
    const namesOf = async (of: Address) =>
      new Set(await textsOf(page, `main .grants .name[data-wallet="${checksummed(of)}"]`));
    expect(await namesOf(ADA)).toEqual(new Set(['ada.eth']));
    expect(await namesOf(ARABIC)).toEqual(new Set(['عربي.eth']));
    expect([...(await namesOf(BEN)), ...(await namesOf(CLEO))].join('')).toBe('');
    // The address is what counts.
    expect(await page.locator(`main .grants a.address[href="/?wallet=${checksummed(ADA)}"]`).count()).toBe(
      1 + CLAIMS.length,
    );
    await page.goto(`${url}/?wallet=${ADA}`);
    expect(await page.locator('.wallet-head').innerText()).toMatch(new RegExp(`${checksummed(ADA)}[^]*ada\\.eth`));
    await page.goto(`${url}/revoke?wallet=${OWNER}&chain=1`);
    expect(await page.locator('legend', { hasText: checksummed(ADA) }).innerText()).toContain('ada.eth');
    await page.goto(`${url}/?from=${OWNER}&to=${ADA}&type=all&chainId=1`);
    expect(await page.locator('.verdict').innerText()).toContain('ada.eth');
    await page.close();
  });

  test('are accepted in place of an address, which is then what the page is about', async () => {
    const page = await visit('/');
    await page.getByLabel('Wallet address').fill(' Ben.eth ');
    await page.getByLabel('Wallet address').press('Enter');
    await page.waitForURL(new RegExp(`wallet=${checksummed(BEN)}`));
    expect(await page.locator('h1').innerText()).toContain(checksummed(BEN));
    expect(await page.locator('main').innerText()).not.toContain('ben.eth');
    await page.goto(`${url}/?from=${OWNER}&to=ada.eth&type=all&chainId=1`);
    expect(await page.locator('.verdict').innerText()).toContain(checksummed(ADA));
    expect(await page.getByLabel('Hot wallet').inputValue()).toBe(checksummed(ADA));
    await page.goto(`${url}/revoke?wallet=ada.eth`);
    expect(await page.locator('.owner').innerText()).toContain(checksummed(ADA));
    await page.close();
  });

  test('that lead nowhere are said to', async () => {
    for (const path of ['/?wallet=', '/revoke?wallet=', `/?from=${OWNER}&type=all&chainId=1&to=`]) {
      const page = await visit(`${path}nobody.eth`);
      expect(await page.locator('main').innerText()).toContain('No address was found for “nobody.eth”.');
      await page.goto(`${url}${path}%3Cb%3Eada.eth`);
      expect(await page.locator('main').innerText()).toContain('“<b>ada.eth” is not a name that anybody can have.');
      await page.close();
    }
  });

  test('are no part of the API', async () => {
    const response = await fetch(`${url}/registry/v2/check/all?from=${OWNER}&to=ada.eth`);
    expect(response.status).toBe(400);
    expect(await (await fetch(`${url}/registry/v2/${OWNER}?detail=full`)).text()).not.toMatch(/eth\b|Ada/);
  });
});

describe('what tokens call themselves', () => {
  test('is quoted as their own words, shortened, and nothing but text', async () => {
    const page = await visit(WALLET);
    for (const [at, [, shown]] of CLAIMS.entries()) {
      const [text = ''] = await textsOf(page, `.claim[data-token="1 ${checksummed(tokenAt(at))}"]`);
      if (shown !== null) expect(text).toBe(shown);
      expect(text).toMatch(/^calls itself “.{1,32}” \(.*18 decimals\)$/u);
    }
    expect(await page.title()).toStartWith('Wallet ');
    expect(await page.locator('main :is(img, script, b)').count()).toBe(0);
    expect(await page.locator('main').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    await page.close();
  });

  test.each([[1280], [320]])('fits a screen of %d pixels, and is accessible', async (width) => {
    for (const scheme of ['light', 'dark'] as const) {
      const page = await visit(WALLET, width, scheme);
      expect(await page.evaluate(OUTSIDE)).toEqual([]);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.close();
    }
  });
});

describe('a label of the reader', () => {
  test('is shown on this browser only, wherever the wallet is, and stays when the page refreshes itself', async () => {
    const page = await visit(`/?wallet=${ADA}`);
    await page.getByText('Your label').click();
    await page.getByLabel('Only in this browser').fill('<i>my</i> phone');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await page.locator('#naming-state').innerText()).toBe('Saved in this browser.');
    expect(await textsOf(page, '.wallet-head .own')).toEqual(['<i>my</i> phone']);
    await page.goto(url + WALLET);
    const labels = page.locator(`.grants [data-wallet="${checksummed(ADA)}"] .own`);
    expect(await labels.count()).toBe(1 + CLAIMS.length);
    // As a refresh does.
    await page.evaluate("document.querySelector('.grants [data-wallet] .own').remove()");
    await labels.nth(CLAIMS.length).waitFor();
    const elsewhere = await visit(WALLET);
    expect(await textsOf(elsewhere, '.own')).toEqual([]);
    await elsewhere.close();
    await page.goto(`${url}/?wallet=${ADA}`);
    expect(await page.getByLabel('Only in this browser').inputValue()).toBe('<i>my</i> phone');
    await page.getByText('Your label').click();
    await page.getByLabel('Only in this browser').fill('');
    await page.getByLabel('Only in this browser').press('Enter');
    expect(await textsOf(page, '.own')).toEqual([]);
    await page.close();
  });
});

describe('a node that is dead or slow', () => {
  /** Without what a service with names has more. */
  const plain = (page: string) => page.replaceAll('0x… or name.eth', '0x…');

  test('changes nothing but the names', async () => {
    const held = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Promise<Response>(() => {}) });
    const without = await (await fetch(serve(null) + WALLET)).text();
    // The first waits for as long as names are waited for, which here is no time at all.
    for (const rpcUrl of ['http://127.0.0.1:1', `http://127.0.0.1:${held.port}`]) {
      const served = serve(rpcUrl, 1);
      for (let turn = 0; turn < 3; turn++) {
        const response = await fetch(served + WALLET);
        expect([response.status, plain(await response.text())]).toEqual([200, plain(without)]);
      }
    }
    await held.stop(true);
  });

  test('is said to whoever enters a name', async () => {
    const text = await (await fetch(`${serve('http://127.0.0.1:1')}/?wallet=ada.eth`)).text();
    expect(text).toContain('“ada.eth” could not be looked up: no provider of Ethereum answered in time.');
  });
});

test('the sandbox has names, and one that is accepted but not shown', async () => {
  const sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' }, '--interval', '0');
  try {
    const get = async (path: string) => (await fetch(sandbox.url + path)).text();
    // They are there when the local chain has answered.
    await eventually('both cold wallets of Ben have their names', async () => {
      const page = await get(`/?wallet=${HOT.Ben}`);
      return page.includes('>ada.eth<') && page.includes('>ben.eth<') && page.includes('>Foghorns<');
    });
    expect(await get('/?wallet=ada.eth')).toContain(checksummed(COLD.Ada));
    const cleo = await get('/?wallet=cleo.eth');
    expect(cleo).toContain(checksummed(COLD.Cleo));
    expect(cleo).not.toContain('cleo.eth');
  } finally {
    await sandbox.stop();
  }
});
