// The revoke page in a real browser on the sandbox's EVM: every kind of grant, with a wallet that really sends.

import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { checksummed } from '../src/registry/checksum.ts';
import { type Address, type Delegation, MAX_UINT256 } from '../src/registry/delegation.ts';
import { encodeCall, grantCall, revokeCall } from '../src/registry/registry-call.ts';
import { delegationOf, grantId, grantIdOf, revokeLink } from '../src/web/grant-id.ts';
import { shortAddress } from '../src/web/parts.ts';
import { accessibilityFaults } from './support/axe.ts';
import { WalletError, type WalletOptions, type WalletVisit } from './support/browser-wallet.ts';
import {
  CONTRACT,
  everyKind,
  grantOf,
  HOT,
  OTHER,
  ownerNamed,
  REGISTRIES,
  useRevokeRig,
  VOTE,
} from './support/revoke-rig.ts';

const rig = useRevokeRig();

const button = (page: Page) => page.getByRole('button', { name: 'Revoke with Test Wallet' });
const progress = (page: Page) => page.locator('#progress');
const done = (page: Page) =>
  progress(page)
    .filter({ hasText: /none of these grants is active|ended, but/ })
    .waitFor();
/** What the page says that its transactions end. */
const saidToEnd = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('[data-grant]')].map(({ dataset }) => dataset.grant).sort()`) as Promise<
    string[]
  >;

/** Revokes by the page, and returns what it said and what really ended. */
async function revokeBy({ page, sent }: WalletVisit, url: string, owner: Address) {
  const before = await rig.idsOf(owner);
  await page.goto(url);
  const said = await saidToEnd(page);
  const text = await page.locator('main').innerText();
  await button(page).click();
  await done(page);
  const after = await rig.idsOf(owner);
  return { said, text, sent: sent.splice(0), ended: before.filter((id) => !after.includes(id)), left: after };
}

describe('a revocation ends what the page said, and nothing else', () => {
  test('each kind of grant alone', async () => {
    const owner = ownerNamed('each kind');
    await rig.grant(everyKind(owner));
    let left = await rig.idsOf(owner);
    expect(left.length).toBe(13);
    const wallet = await rig.open(rig.url, owner);
    for (const record of await rig.recordsOf(owner)) {
      const id = grantId(record);
      const result = await revokeBy(wallet, rig.url + revokeLink(owner, record), owner);
      left = left.filter((one) => one !== id);
      expect([id, result.said, result.ended, result.left, result.sent.length]).toEqual([id, [id], [id], left, 1]);
      expect(result.sent[0]).toMatchObject({
        to: checksummed(REGISTRIES[delegationOf(record).version] as Address),
        value: '0x0',
        chainId: '0x1',
      });
    }
    expect([left, wallet.complaints]).toEqual([[], []]);
    await wallet.page.close();
  });

  test('many in v2 by one multicall, v1 one after the other, and everything of v1 at once', async () => {
    const owner = ownerNamed('many');
    const [hot, other] = [everyKind(owner), everyKind(owner, OTHER)];
    await rig.grant([...hot, ...other]);
    const of = (grants: readonly Delegation[], version: number) => grants.filter((one) => one.version === version);
    const ids = (grants: readonly Delegation[]) => grants.map(grantIdOf).sort();
    const wallet = await rig.open(rig.url, owner);
    const steps: readonly [string, readonly Delegation[], number, string][] = [
      [rig.linkOf(owner, ...of(hot, 2)), of(hot, 2), 1, 'One transaction'],
      // Two of three: by name, in two transactions.
      [rig.linkOf(owner, ...of(hot, 1).slice(0, 2)), of(hot, 1).slice(0, 2), 2, 'Transaction 2 of 2'],
      [rig.linkOf(owner, ...of(other, 1), ...of(other, 2)), other, 2, 'everything this wallet may do in registry v1'],
    ];
    for (const [link, grants, transactions, words] of steps) {
      const { said, ended, sent, text } = await revokeBy(wallet, link, owner);
      expect([said, ended, sent.length]).toEqual([ids(grants), ids(grants), transactions]);
      expect(text).toContain(words);
    }
    await rig.grant(of(other, 1));
    const { said, ended, sent, text } = await revokeBy(
      wallet,
      `${rig.url}/revoke?wallet=${owner}&chain=1&v1=all`,
      owner,
    );
    expect(text).toContain('every grant that you ever made in registry v1');
    expect([said, ended, sent.length]).toEqual([said, said, 1]);
    expect(said).toEqual(ids([...of(hot, 1).slice(2), ...of(other, 1)]));
    expect([await rig.idsOf(owner), wallet.complaints]).toEqual([[], []]);
    await wallet.page.close();
  });

  test('a v1 revocation that the index has not read yet does not hold up the next one', async () => {
    const owner = ownerNamed('unread');
    const [first, second, third] = everyKind(owner) as [Delegation, Delegation, Delegation];
    await rig.grant([first, second, third]);
    const { page, sent } = await rig.open(rig.linkOf(owner, first, second), owner);
    // Between the two, whatever depends on what the first one ended is refused.
    await page.route(/\/registry\/any\/|\/revoke\?/, (route) =>
      sent.length === 1
        ? route.fulfill({
            status: 503,
            contentType: 'application/problem+json',
            json: { type: '/docs#problem-revocation-unread', detail: 'A revocation could not be read.' },
          })
        : route.continue(),
    );
    await button(page).click();
    await progress(page)
      .filter({ hasText: /none of these grants is active|cannot answer/ })
      .waitFor();
    expect(sent.length).toBe(2);
    expect(await rig.idsOf(owner)).toEqual([grantIdOf(third)]);
    await page.close();
  });
});

test('what the other registry still allows is said instead of Done, with a button that ends it', async () => {
  const owner = ownerNamed('twice');
  const [v2, v1, narrow] = [grantOf(owner, 2, 'ALL'), grantOf(owner, 1, 'ALL'), grantOf(owner, 2, 'ERC721')];
  await rig.grant([v2, v1, narrow]);
  const { page, sent, complaints } = await rig.open(rig.linkOf(owner, v2), owner);
  await button(page).click();
  await done(page);
  const short = shortAddress(checksummed(HOT));
  expect(await progress(page).innerText()).toContain(
    `This grant ended, but ${short} can still use your whole wallet (v1).`,
  );
  expect(await progress(page).getAttribute('class')).toBe('notice trouble');
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('link', { name: `Revoke the rest of ${short}` }).click();
  await page.getByText('One transaction').waitFor();
  await button(page).click();
  await done(page);
  expect(await progress(page).getAttribute('class')).toBe('notice yes');
  expect(await rig.idsOf(owner)).toEqual([grantIdOf(narrow)]);

  // A row of the wallet's page leads to both at once.
  await rig.grant([v2, v1]);
  await page.goto(`${rig.url}/?wallet=${owner}&unlimited=yes`);
  await page
    .getByRole('link', { name: /^Revoke the grant/ })
    .first()
    .click();
  await page.getByText('Transaction 2 of 2').waitFor();
  await button(page).click();
  await done(page);
  expect(await progress(page).getAttribute('class')).toBe('notice yes');
  expect([await rig.idsOf(owner), sent.length, complaints]).toEqual([[grantIdOf(narrow)], 4, []]);
  await page.close();
});

describe('a wallet that does not do as asked', () => {
  const owner = ownerNamed('careful');
  const single = grantOf(owner, 2, 'ALL');
  beforeAll(() => rig.grant([single, grantOf(owner, 2, 'ERC20')]));

  /** Clicks, and returns what the page says once it has stopped. */
  async function refusal(answer: WalletOptions['answer'] | undefined, account: string = owner) {
    const { page, sent } = await rig.open(rig.linkOf(owner, single), account, answer === undefined ? {} : { answer });
    await button(page).click();
    await progress(page).and(page.locator('.trouble')).waitFor();
    const text = await progress(page).innerText();
    expect([await button(page).isEnabled(), sent]).toEqual([true, []]);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Revoke with Test Wallet');
    await page.close();
    return text;
  }

  test.each<[string, WalletOptions['answer'], string]>([
    [
      'does not switch, but says so',
      (method) => ({ eth_chainId: '0x5', wallet_switchEthereumChain: 'switched' })[method],
      'Your wallet is still on another network. Select Ethereum (chain id 1)',
    ],
    [
      'does not know the network',
      (method) => {
        if (method === 'wallet_switchEthereumChain') throw new WalletError(4902, 'Unrecognized chain');
        return method === 'eth_chainId' ? '0x5' : undefined;
      },
      'Your wallet does not know Ethereum (chain id 1). Add this network',
    ],
    [
      'is on another chain with the same id',
      async (method, params) =>
        method === 'eth_getBlockByNumber'
          ? { ...((await rig.rpc.call(method, [...params])) as object), hash: `0x${'12'.repeat(32)}` }
          : undefined,
      'Your wallet is on a test network with the same id.',
    ],
    [
      'does not have the block',
      (method) => (method === 'eth_getBlockByNumber' ? null : undefined),
      'Nothing was sent: your wallet does not have block',
    ],
  ])('%s: nothing is sent', async (_, answer, text) => {
    expect(await refusal(answer)).toContain(text);
  });

  test('has another account: nothing is sent', async () => {
    expect(await refusal(undefined, OTHER)).toContain(
      `Your wallet has selected ${OTHER}. Only ${checksummed(owner)} can end these grants`,
    );
  });

  test('declines, then switches the network and sends once, however often the button is pressed', async () => {
    let chainId = '0x5';
    let declined = false;
    const answer = (method: string) => {
      if (method === 'eth_chainId') return chainId;
      if (method === 'wallet_switchEthereumChain') {
        chainId = '0x1';
        return 'switched';
      }
      if (method === 'eth_sendTransaction' && !declined) {
        declined = true;
        throw new WalletError(4001, 'User rejected the request.');
      }
      return undefined;
    };
    // A plain window.ethereum, with the account in capitals.
    const { page, sent, complaints } = await rig.open(rig.linkOf(owner, single), `0x${owner.slice(2).toUpperCase()}`, {
      answer,
      setup: 'window.ethereum = provider',
    });
    const press = page.getByRole('button', { name: 'Revoke with your browser wallet' });
    await press.click();
    await page.getByText('You declined in your wallet. Nothing was sent. You can try again.').waitFor();
    expect(sent.length).toBe(1);
    await press.evaluate((element: { click(): void }) => {
      for (let turn = 0; turn < 3; turn++) element.click();
    });
    await done(page);
    expect(sent.length).toBe(2);
    expect(await page.locator('[data-state]').innerText()).toMatch(/^ended, as of block \d+$/);
    expect(await page.locator('.sent code').innerText()).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await page.evaluate('document.activeElement.id')).toBe('progress');
    expect(complaints).toEqual([]);
    await page.close();
    expect(await rig.idsOf(owner)).toEqual([grantIdOf(grantOf(owner, 2, 'ERC20'))]);
  });

  test('declines the second of two transactions: only that one is sent again', async () => {
    const two = ownerNamed('two');
    const [first, second, third] = everyKind(two) as [Delegation, Delegation, Delegation];
    await rig.grant([first, second, third]);
    const { page, sent } = await rig.open(rig.linkOf(two, first, second), two, {
      answer(method) {
        if (method === 'eth_sendTransaction' && sent.length === 2) throw new WalletError(4001, 'User rejected.');
      },
    });
    await button(page).click();
    await page.getByText('You declined in your wallet.').waitFor();
    expect(await page.locator('[data-state]').allInnerTexts()).toEqual([
      expect.stringMatching(/^(mined in|ended, as of) block \d+$/),
      'not sent',
    ]);
    await button(page).click();
    await done(page);
    expect(sent).toMatchObject([first, second, second].map((one) => ({ data: encodeCall(revokeCall(one)) })));
    expect(await rig.idsOf(two)).toEqual([grantIdOf(third)]);
    await page.close();
  });

  test('a transaction that fails is reported, and can be sent again; a grant that came back is reported with its amount', async () => {
    const coin = grantOf(owner, 2, 'ERC20');
    let attempts = 0;
    const answer = async (method: string, [transaction]: readonly unknown[]) => {
      if (method !== 'eth_sendTransaction') return undefined;
      attempts++;
      if (attempts > 1) {
        const hash = await rig.rpc.call(method, [transaction]);
        const again = { from: owner, to: REGISTRIES[2], data: encodeCall(grantCall({ ...coin, amount: 7n })) };
        await rig.rpc.call(method, [again]);
        // The page never sees the block between the two.
        await rig.untilIndexed();
        return hash;
      }
      // Enough to begin, too little to finish. The node reports the failure at once, and mines it.
      await rig.rpc.call(method, [{ ...(transaction as object), gas: '0x6000' }]).catch(() => null);
      const { transactions } = (await rig.rpc.call('eth_getBlockByNumber', ['latest', false])) as {
        transactions: string[];
      };
      return transactions[0];
    };
    const { page, sent } = await rig.open(rig.linkOf(owner, coin), owner, { answer });
    await button(page).click();
    await page.getByText('The transaction failed on the chain. It ended nothing. You can try again.').waitFor();
    expect(await rig.idsOf(owner)).toEqual([grantIdOf(coin)]);
    await button(page).click();
    await page.getByText('1 of these grants is still active').waitFor();
    expect(await progress(page).innerText()).toContain('The amount is now 7 instead of 250.');
    expect(sent.length).toBe(2);
    await rig.rpc.call('eth_sendTransaction', [{ from: owner, to: REGISTRIES[2], data: encodeCall(revokeCall(coin)) }]);
    await done(page);
    await page.close();
  });
});

describe('every state of the page', () => {
  const owner = ownerNamed('shown');
  const shown = [
    ...everyKind(owner),
    grantOf(owner, 2, 'ALL', { to: OTHER }),
    grantOf(owner, 2, 'ERC20', { to: OTHER, rights: `0x${'fe'.repeat(32)}`, amount: MAX_UINT256 }),
  ];
  beforeAll(() => rig.grant(shown));
  const token = grantOf(owner, 2, 'ERC1155', { rights: VOTE });

  /** At both widths and in both themes: the page fits, and axe finds nothing. */
  async function inspect(page: Page, name: string): Promise<void> {
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect([name, width, await accessibilityFaults(page, width === 1280)]).toEqual([name, width, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      const folder = process.env['SCREENSHOTS'];
      for (const colorScheme of folder ? (['light', 'dark'] as const) : []) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(folder ?? '', `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
  }

  test.each<[string, () => string]>([
    ['revoke-start', () => `${rig.url}/revoke`],
    ['revoke-choose', () => `${rig.url}/revoke?wallet=${owner}`],
    ['revoke-not-active', () => rig.linkOf(owner, grantOf(owner, 2, 'ERC1155', { to: CONTRACT }))],
    ['revoke-many', () => rig.linkOf(owner, ...shown.slice(0, 6))],
    ['revoke-faults', () => `${rig.linkOf(owner, token)}&grant=v2.nonsense&chains=1`],
  ])('%s', async (name, url) => {
    const page = await rig.browser.newPage();
    await page.goto(url());
    for (const summary of await page.locator('main summary').all()) await summary.click();
    await inspect(page, name);
    await page.close();
  });

  test('without a wallet, it says so, and shows target and calldata to copy', async () => {
    const page = await rig.browser.newPage();
    await page.goto(rig.linkOf(owner, token));
    await page.getByText('No wallet found in this browser.').waitFor();
    await page.getByText('Show the transaction', { exact: true }).click();
    const card = page.locator('[data-transaction]');
    expect(await card.locator('[aria-label="Copy the target"]').getAttribute('data-copy')).toBe(
      checksummed(REGISTRIES[2] as Address),
    );
    expect(await card.locator('[aria-label="Copy the calldata"]').getAttribute('data-copy')).toBe(
      encodeCall(revokeCall(token)),
    );
    expect(await card.locator('.call').innerText()).toMatch(
      /delegateERC1155\s+address to 0x\S+\s+address contract_ 0x\S+\s+uint256 tokenId \d{78}\s+bytes32 rights 0x\S+\s+uint256 amount 0/,
    );
    await inspect(page, 'revoke-no-wallet');
    await page.close();
    // Without script too.
    const source = await (await fetch(rig.linkOf(owner, token))).text();
    expect(source).toContain('Sending needs JavaScript.');
    expect(source).toContain(encodeCall(revokeCall(token)));
  });

  test('a transaction that the owner sent from elsewhere is followed too', async () => {
    const page = await rig.browser.newPage();
    const [elsewhere] = shown.slice(-1) as [Delegation];
    await page.goto(rig.linkOf(owner, elsewhere));
    await page.getByText('No wallet found in this browser.').waitFor();
    const data = await page.locator('[data-transaction]').getAttribute('data-calldata');
    await rig.rpc.call('eth_sendTransaction', [{ from: owner, to: REGISTRIES[2], data }]);
    await done(page);
    expect(await page.locator('[data-state]').innerText()).toMatch(/^ended, as of block \d+$/);
    await page.close();
  });

  test('by keyboard alone: choose, read what stays, revoke, and see that it is done', async () => {
    const { page, sent, complaints } = await rig.open(`${rig.url}/revoke?wallet=${owner}`, owner);
    const reach = async (matches: string) => {
      for (let left = 60; !(await page.evaluate(`document.activeElement.matches('${matches}')`)); left--) {
        if (left === 0) throw new Error(`${matches} is not reached`);
        await page.keyboard.press('Tab');
      }
    };
    await page.getByRole('button', { name: 'Revoke selected' }).press('Enter');
    expect(await page.evaluate('document.activeElement.validationMessage')).toBe('Tick at least one grant.');
    expect(page.url()).toEndWith(`/revoke?wallet=${owner}`);
    await reach(`[value="${grantIdOf(token)}"]`);
    await page.keyboard.press('Space');
    await reach('.choose button:not(.copy)');
    await page.keyboard.press('Enter');
    await page.waitForURL(/&grant=/);
    const kept = await page.locator('.stays.trouble').innerText();
    expect(kept).toMatch(/This is not enough\..*can still do what you are ending, because it may act for/s);
    // The same token without a right, the contract and the wallet in either registry, and v1's token.
    for (const part of [
      'your whole wallet v1',
      'your whole wallet with the right “vote” v2',
      'everything you have in contract',
    ])
      expect(kept).toContain(part);
    expect(kept).not.toContain('ERC-20');
    const others = page.locator('.stays:not(.trouble)');
    expect(await others.innerText()).toContain('up to 250 base units of the ERC-20 token');
    await inspect(page, 'revoke-plan');
    await reach('#wallets button');
    await page.keyboard.press('Enter');
    await done(page);
    await inspect(page, 'revoke-done');
    expect([sent.length, complaints]).toEqual([1, []]);
    expect(await rig.idsOf(owner)).not.toContain(grantIdOf(token));
    await page.close();
  });

  test('a grant that is ill-formed or not active is reported, and the others are kept', async () => {
    const page = await rig.browser.newPage();
    const gone = grantOf(owner, 2, 'ERC721', { tokenId: 5n });
    const [first] = shown as [Delegation];
    await page.goto(`${rig.linkOf(owner, gone, first)}&grant=v2.ALL.0x12&chain=1&walet=x`);
    const text = await page.locator('main').innerText();
    expect(text).toContain('grant v2.ALL.0x12 must be an address');
    expect(text).toContain('chain is given more than once');
    expect(text).toContain('walet is not a known parameter; did you mean wallet?');
    expect(text).toMatch(/Not active as of block \d+: ended already, or never granted\.\s+0x\S+ for token 5 of/);
    expect(await saidToEnd(page)).toEqual([grantIdOf(first)]);
    await page.goto(`${rig.url}/revoke?wallet=${owner}&chain=99&grant=${grantIdOf(first)}`);
    expect(await page.locator('main').innerText()).toContain('chain 99 is not a chain that this service follows');
    await page.close();
  });
});
