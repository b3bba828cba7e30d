// A revocation on two chains by one page, in a real browser: the wallet is asked to switch, and each chain is followed to its end.
// The registries themselves are in revoke-page.test.ts.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { openStore } from '../src/store/open.ts';
import type { ChainState, Store } from '../src/store/store.ts';
import { expectAccessible } from './support/axe.ts';
import { startBrowser } from './support/browser.ts';
import { openWithWallet } from './support/browser-wallet.ts';
import { temporaryPath } from './support/engines.ts';
import { block, COLD, ended, granted, hash, timeOf } from './support/fixtures.ts';
import { serving } from './support/serving.ts';
import { MAINNET } from './support/vectors.ts';

const [OPTIMISM, BASE] = [10, 8453];
/** By chain and registry. */
const GRANTS = {
  '1.2': ['ALL', 'ERC20'],
  '1.1': ['ALL', 'CONTRACT'],
  '10.2': ['ALL', 'ERC721'],
} as const;
const keysOf = (chainId: number) => Object.entries(GRANTS).filter(([key]) => key.startsWith(`${chainId}.`));
const eventsOf = (chainId: number, make: typeof granted | typeof ended) =>
  keysOf(chainId).map(
    ([key, kinds]) => [key, kinds.map((kind) => make(kind, { version: key.endsWith('1') ? 1 : 2 }))] as const,
  );

let store: Store;
let browser: Browser;
let server: ReturnType<typeof serving>;
const states = new Map<number, ChainState>();
beforeAll(async () => {
  store = await openStore(`sqlite:${temporaryPath('everywhere.db')}`);
  for (const chainId of [1, OPTIMISM, BASE]) {
    const { epoch } = await store.claim(chainId, 100);
    const head = block(
      101,
      eventsOf(chainId, granted).flatMap(([, events]) => events),
    );
    states.set(chainId, await store.apply({ chainId, epoch, after: null, blocks: [head], head }));
  }
  server = serving(store, timeOf(105), { chainIds: new Set([1, OPTIMISM, BASE]), maxLag: () => 1e9 });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  await store.close();
});

test('two chains: three clicks, one signature for each registry and chain, and nothing is left on either', async () => {
  let current = 1;
  const mined = new Map<string, number>();
  const used: string[] = [];
  const { page, sent, complaints } = await openWithWallet(browser, `${server.url}/revoke`, {
    account: COLD,
    async answer(method, [first]) {
      if (method === 'eth_chainId') return `0x${current.toString(16)}`;
      if (method === 'wallet_switchEthereumChain') current = Number((first as { chainId: string }).chainId);
      if (method === 'eth_getBlockByNumber') return { hash: hash(Number(first)) };
      if (method === 'eth_getTransactionReceipt')
        return { status: '0x1', blockNumber: `0x${mined.get(first as string)?.toString(16)}` };
      if (method !== 'eth_sendTransaction') return undefined;
      const { to, chainId } = first as { to: string; chainId: string };
      expect(Number(chainId)).toBe(current);
      const version = to.toLowerCase() === MAINNET.registries[1] ? 1 : 2;
      const key = `${current}.${version}`;
      used.push(key);
      const { epoch, head: after } = states.get(current) as ChainState;
      const next = block((after?.number ?? 0) + 1, new Map(eventsOf(current, ended)).get(key));
      states.set(current, await store.apply({ chainId: current, epoch, after, blocks: [next], head: next }));
      const transaction = hash(10 * current + version, 7);
      mined.set(transaction, next.number);
      return transaction;
    },
  });
  await page.getByLabel('Your wallet').fill(COLD);
  await page.getByRole('button', { name: 'Show its grants' }).click();
  await page.getByRole('heading', { name: 'Choose a chain' }).waitFor();
  await expectAccessible(page, 'everywhere-chains');
  await page.getByRole('link', { name: 'Revoke everything on 2 chains' }).click();
  await page.getByText('Transaction 3 of 3').waitFor();
  await expectAccessible(page, 'everywhere-plan');
  await page.getByRole('button', { name: 'Revoke with Test Wallet' }).click();
  await page.locator('#progress', { hasText: /^Done\./ }).waitFor();
  expect([used, sent.length, complaints]).toEqual([['1.2', '1.1', '10.2'], 3, []]);
  const text = await page.locator('main').innerText();
  expect(text).toContain('as of block 103 of Ethereum and block 102 of Optimism');
  for (const name of ['Ethereum', 'Optimism']) expect(text).toContain(`No grant of your wallet is left on ${name}.`);
  expect(await page.locator('[data-state]').allInnerTexts()).toEqual([
    'ended, as of block 103',
    'ended, as of block 103',
    'ended, as of block 102',
  ]);
  expect(await page.getByRole('link', { name: /^Undo on/ }).allInnerTexts()).toEqual([
    'Undo on Ethereum',
    'Undo on Optimism',
  ]);
  await expectAccessible(page, 'everywhere-done');
  await page.close();
});
