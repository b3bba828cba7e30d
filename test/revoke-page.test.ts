// The revoke page in a real browser on the sandbox's EVM: every kind of grant, with a wallet that really sends.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { ANY_LIST } from '../src/api/any-operations.ts';
import type { ResponseOf } from '../src/api/operation.ts';
import { urlFor } from '../src/api/url.ts';
import { createRpc, type Rpc } from '../src/chain/rpc.ts';
import { checksummed } from '../src/registry/checksum.ts';
import { type Address, type Delegation, type Kind, MAX_UINT256, NO_RIGHTS } from '../src/registry/delegation.ts';
import { NETWORKS, type Network } from '../src/registry/network.ts';
import { encodeCall, grantCall, revokeCall } from '../src/registry/registry-call.ts';
import { rightsOf } from '../src/registry/rights.ts';
import { delegationOf, grantId, grantIdOf, revokeLink } from '../src/web/grant-id.ts';
import { startBrowser } from './support/browser.ts';
import { fund } from './support/evm-wallets.ts';
import { type QuietSandbox, startQuietSandbox } from './support/sandbox-process.ts';
import {
  openWithSendingWallet,
  type SendingWallet,
  WalletError,
  type WalletOptions,
} from './support/sending-wallet.ts';

const { registries } = NETWORKS.get(1) as Network;

let sandbox: QuietSandbox;
let browser: Browser;
let rpc: Rpc;
beforeAll(async () => {
  // Nothing but this test writes to the chain.
  sandbox = await startQuietSandbox({ ANONYMOUS_LIMIT: 'off' }, '--interval', '0');
  browser = await startBrowser();
  rpc = createRpc(sandbox.rpcUrl);
});
afterAll(async () => {
  await browser.close();
  await sandbox.stop();
});

const address = (name: string): Address => `0x${Buffer.from(name).toString('hex').padStart(40, '1')}`;
const [HOT, OTHER, CONTRACT] = [address('hot'), address('other'), address('contract')];
const VOTE = rightsOf('vote') as `0x${string}`;

const grantOf = (from: Address, version: 1 | 2, kind: Kind, more: Partial<Delegation> = {}): Delegation => ({
  version,
  kind,
  from,
  to: HOT,
  contract: kind === 'ALL' ? null : CONTRACT,
  tokenId: kind === 'TOKEN' || kind === 'ERC721' || kind === 'ERC1155' ? MAX_UINT256 : null,
  rights: version === 2 ? NO_RIGHTS : null,
  amount: kind === 'ERC20' || kind === 'ERC1155' ? 250n : null,
  ...more,
});

/** Each kind of v1, and each of v2 with and without rights. */
const everyKind = (from: Address, to = HOT): Delegation[] => [
  ...(['ALL', 'CONTRACT', 'TOKEN'] as const).map((kind) => grantOf(from, 1, kind, { to })),
  ...(['ALL', 'CONTRACT', 'ERC721', 'ERC20', 'ERC1155'] as const).flatMap((kind) => [
    grantOf(from, 2, kind, { to }),
    grantOf(from, 2, kind, { to, rights: VOTE }),
  ]),
];

/** Makes the grants, and waits until the API lists them. */
async function grant(grants: readonly Delegation[]): Promise<void> {
  const [{ from }] = grants as [Delegation];
  await fund(rpc, [from]);
  for (const one of grants)
    await rpc.call('eth_sendTransaction', [{ from, to: registries[one.version], data: encodeCall(grantCall(one)) }]);
  await indexed();
}

/** Waits until the index has the chain's newest block. */
async function indexed(): Promise<void> {
  const head = Number(await rpc.call('eth_blockNumber', []));
  for (let left = 600; ; left--) {
    const [network] = (await (await fetch(`${sandbox.url}/networks`)).json()) as { head: { number: number } }[];
    if ((network?.head.number ?? 0) >= head) return;
    if (left === 0) throw new Error(`block ${head} is not indexed after a minute`);
    await Bun.sleep(100);
  }
}

async function recordsOf(wallet: Address) {
  const path = urlFor(ANY_LIST, { wallet, chainId: 1, direction: 'outgoing', numbers: 'string' });
  const { delegations } = (await (await fetch(sandbox.url + path)).json()) as ResponseOf<typeof ANY_LIST>;
  return delegations;
}
const idsOf = async (wallet: Address) => (await recordsOf(wallet)).map(grantId).sort();

const linkOf = (wallet: Address, ...grants: readonly Delegation[]) =>
  `${sandbox.url}/revoke?wallet=${wallet}&chain=1${grants.map((one) => `&grant=${grantIdOf(one)}`).join('')}`;

const open = (url: string, account: string, more: Partial<WalletOptions> = {}): Promise<SendingWallet> =>
  openWithSendingWallet(browser, url, {
    forward: (method, params) => rpc.call(method, [...params]),
    account,
    ...more,
  });

const button = (page: Page) => page.getByRole('button', { name: 'Revoke with Test Wallet' });
const progress = (page: Page) => page.locator('#progress');
const done = (page: Page) => page.getByText('none of these grants is active').waitFor();
/** What the page says that its transactions end. */
const saidToEnd = (page: Page): Promise<string[]> =>
  page.locator('[data-grant]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-grant') ?? '').sort());

/** Revokes by the page, and returns what it said and what really ended. */
async function revokeBy(url: string, owner: Address) {
  const before = await idsOf(owner);
  const { page, sent, complaints } = await open(url, owner);
  const said = await saidToEnd(page);
  const text = await page.locator('main').innerText();
  await button(page).click();
  await done(page);
  const after = await idsOf(owner);
  expect(complaints).toEqual([]);
  await page.close();
  return { said, text, sent, ended: before.filter((id) => !after.includes(id)), left: after };
}

describe('a revocation ends what the page said, and nothing else', () => {
  test('each kind of grant alone', async () => {
    const owner = address('each kind');
    await grant(everyKind(owner));
    let left = await idsOf(owner);
    expect(left.length).toBe(13);
    for (const record of await recordsOf(owner)) {
      const id = grantId(record);
      const result = await revokeBy(sandbox.url + revokeLink(owner, record), owner);
      left = left.filter((one) => one !== id);
      expect([id, result.said, result.ended, result.left, result.sent.length]).toEqual([id, [id], [id], left, 1]);
      expect(result.sent[0]).toMatchObject({
        to: checksummed(registries[delegationOf(record).version] as Address),
        value: '0x0',
        chainId: '0x1',
      });
    }
    expect(left).toEqual([]);
  });

  test('many in v2 by one multicall, v1 one after the other, and everything of v1 at once', async () => {
    const owner = address('many');
    const [hot, other] = [everyKind(owner), everyKind(owner, OTHER)];
    await grant([...hot, ...other]);
    const of = (grants: readonly Delegation[], version: number) => grants.filter((one) => one.version === version);
    const ids = (grants: readonly Delegation[]) => grants.map(grantIdOf).sort();
    const steps: readonly [string, readonly Delegation[], number, string][] = [
      [linkOf(owner, ...of(hot, 2)), of(hot, 2), 1, 'multicall'],
      // Two of three: by name, in two transactions.
      [linkOf(owner, ...of(hot, 1).slice(0, 2)), of(hot, 1).slice(0, 2), 2, 'delegateForContract'],
      [linkOf(owner, ...of(other, 1), ...of(other, 2)), other, 2, 'revokeDelegate'],
    ];
    for (const [link, grants, transactions, name] of steps) {
      const { said, ended, sent, text } = await revokeBy(link, owner);
      expect([said, ended, sent.length]).toEqual([ids(grants), ids(grants), transactions]);
      if (name === 'revokeDelegate') expect(text).toContain('everything this wallet may do in registry v1');
    }
    await grant(of(other, 1));
    const { said, ended, sent, text } = await revokeBy(`${sandbox.url}/revoke?wallet=${owner}&chain=1&v1=all`, owner);
    expect(text).toContain('every grant that you ever made in registry v1');
    expect([said, ended, sent.length]).toEqual([said, said, 1]);
    expect(said).toEqual(ids([...of(hot, 1).slice(2), ...of(other, 1)]));
    expect(await idsOf(owner)).toEqual([]);
  });
});

describe('a wallet that does not do as asked', () => {
  const owner = address('careful');
  const single = grantOf(owner, 2, 'ALL');
  beforeAll(() => grant([single, grantOf(owner, 2, 'ERC20')]));

  /** Clicks, and returns what the page says once it has stopped. */
  async function refusal(answer: WalletOptions['answer'], account: string = owner) {
    const { page, sent } = await open(linkOf(owner, single), account, answer === undefined ? {} : { answer });
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
          ? { ...((await rpc.call(method, [...params])) as object), hash: `0x${'12'.repeat(32)}` }
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
    const { page, sent, complaints } = await open(linkOf(owner, single), `0x${owner.slice(2).toUpperCase()}`, {
      answer,
      plain: true,
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
    expect(await idsOf(owner)).toEqual([grantIdOf(grantOf(owner, 2, 'ERC20'))]);
  });

  test('a transaction that fails is reported, and can be sent again; a grant that came back is reported with its amount', async () => {
    const coin = grantOf(owner, 2, 'ERC20');
    let attempts = 0;
    const answer = async (method: string, [transaction]: readonly unknown[]) => {
      if (method !== 'eth_sendTransaction') return undefined;
      attempts++;
      if (attempts > 1) {
        const hash = await rpc.call(method, [transaction]);
        const again = { from: owner, to: registries[2], data: encodeCall(grantCall({ ...coin, amount: 7n })) };
        await rpc.call(method, [again]);
        return hash;
      }
      // Enough to begin, too little to finish. The node reports the failure at once, and mines it.
      await rpc.call(method, [{ ...(transaction as object), gas: '0x6000' }]).catch(() => null);
      const { transactions } = (await rpc.call('eth_getBlockByNumber', ['latest', false])) as {
        transactions: string[];
      };
      return transactions[0];
    };
    const { page, sent } = await open(linkOf(owner, coin), owner, { answer });
    await button(page).click();
    await page.getByText('The transaction failed on the chain. It ended nothing. You can try again.').waitFor();
    expect(await idsOf(owner)).toEqual([grantIdOf(coin)]);
    await button(page).click();
    await page.getByText('1 of these grants is still active').waitFor();
    expect(await progress(page).innerText()).toContain('The amount is now 7 instead of 250.');
    expect(sent.length).toBe(2);
    await rpc.call('eth_sendTransaction', [{ from: owner, to: registries[2], data: encodeCall(revokeCall(coin)) }]);
    await done(page);
    await page.close();
  });
});
