// Opens a page in a browser that has wallets: they really sign.

import type { Browser, Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';

export interface WalletVisit {
  readonly page: Page;
  /** Errors in the browser's console, policy violations included. */
  readonly complaints: string[];
}

let visitors = 0;

/** A wallet that is announced as in EIP-6963. */
const TEST_WALLET = `announce('Test Wallet', provider)`;

/**
 * `setup` is a script that runs before those of the page. `provider` signs with the account, `announce(name, provider)` announces a
 * provider as in EIP-6963, and `rejecting` is a provider whose user rejects every signature.
 */
export async function visitWithWallet(
  browser: Browser,
  url: string,
  account: PrivateKeyAccount,
  setup = TEST_WALLET,
): Promise<WalletVisit> {
  const page = await browser.newPage();
  // Sign-ins are limited for each client.
  await page.setExtraHTTPHeaders({ 'x-forwarded-for': `198.51.100.${++visitors}` });
  await page.exposeFunction('signForReal', (hex: `0x${string}`) => account.signMessage({ message: { raw: hex } }));
  await page.addInitScript(`{
    const provider = {
      async request({ method, params }) {
        if (method === 'eth_requestAccounts') return ['${account.address.toLowerCase()}'];
        if (method === 'eth_chainId') return '0x1';
        if (method === 'personal_sign') return window.signForReal(params[0]);
        throw new Error('no ' + method);
      },
    };
    const rejecting = {
      async request({ method, params }) {
        if (method !== 'personal_sign') return provider.request({ method, params });
        throw Object.assign(new Error('User rejected the request.'), { code: 4001 });
      },
    };
    const announce = (name, provider) => {
      const detail = Object.freeze({ info: { uuid: name, name, icon: '', rdns: 'test' }, provider });
      const tell = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      window.addEventListener('eip6963:requestProvider', tell);
      tell();
    };
    ${setup}
  }`);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}
