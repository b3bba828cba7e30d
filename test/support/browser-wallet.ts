// Opens a page in a browser that has a wallet: it really signs, and is announced as in EIP-6963.

import type { Browser, Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';

export interface WalletVisit {
  readonly page: Page;
  /** Errors in the browser's console, policy violations included. */
  readonly complaints: string[];
}

/** The wallet is named Test Wallet. */
export async function visitWithWallet(browser: Browser, url: string, account: PrivateKeyAccount): Promise<WalletVisit> {
  const page = await browser.newPage();
  await page.exposeFunction('signForReal', (hex: `0x${string}`) => account.signMessage({ message: { raw: hex } }));
  await page.addInitScript(`
    const provider = {
      async request({ method, params }) {
        if (method === 'eth_requestAccounts') return ['${account.address.toLowerCase()}'];
        if (method === 'eth_chainId') return '0x1';
        if (method === 'personal_sign') return window.signForReal(params[0]);
        throw new Error('no ' + method);
      },
    };
    const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', {
      detail: Object.freeze({ info: { uuid: 'test', name: 'Test Wallet', icon: '', rdns: 'test' }, provider }),
    }));
    window.addEventListener('eip6963:requestProvider', announce);
  `);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(url);
  return { page, complaints };
}
