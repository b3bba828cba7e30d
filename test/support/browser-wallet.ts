// Opens a page in a browser that has wallets: the page talks to them as to any EIP-1193 provider, and the test answers.

import type { Browser } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';

type Params = readonly unknown[];

/** An error with a code, as wallets throw it. */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface WalletOptions {
  readonly account: string;
  /** Answers every method but eth_requestAccounts, which it may answer too: undefined leaves that to the wallet. */
  readonly answer: (method: string, params: Params) => unknown;
  readonly headers?: Record<string, string>;
  /**
   * A script that runs before those of the page. `provider` is the wallet, `announce(name, provider)` announces one as in EIP-6963, and
   * `rejecting` is the wallet while its user rejects every signature.
   */
  readonly setup?: string;
}

export type WalletVisit = Awaited<ReturnType<typeof openWithWallet>>;

/** The wallet is announced as Test Wallet, unless the setup does otherwise. */
export async function openWithWallet(browser: Browser, url: string, options: WalletOptions) {
  const { account, answer, headers, setup = `announce('Test Wallet', provider)` } = options;
  const page = await browser.newPage();
  if (headers !== undefined) await page.setExtraHTTPHeaders(headers);
  /** Every transaction that the page asked it to send. */
  const sent: unknown[] = [];
  /**
   * Errors in the browser's console, policy violations included. The browser also writes a line for every 503, which the service
   * answers until it has read what a v1 revocation ended, and after which pages ask again.
   */
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('the server responded with a status of 503')) return;
    complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.exposeFunction('askWallet', async (method: string, params: Params) => {
    if (method === 'eth_sendTransaction') sent.push(params[0]);
    try {
      return { result: (await answer(method, params)) ?? (method === 'eth_requestAccounts' ? [account] : null) };
    } catch (error) {
      const { code = -32603, message } = error as Partial<WalletError>;
      return { error: { code, message } };
    }
  });
  await page.addInitScript(`{
    const provider = {
      async request({ method, params = [] }) {
        const { result, error } = await window.askWallet(method, params);
        if (error) throw Object.assign(new Error(error.message), { code: error.code });
        return result;
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
  await page.goto(url);
  return { page, sent, complaints };
}

let visitors = 0;

/** With a wallet that really signs. */
export const visitWithWallet = (browser: Browser, url: string, account: PrivateKeyAccount, setup?: string) =>
  openWithWallet(browser, url, {
    account: account.address.toLowerCase(),
    // Sign-ins are limited for each client.
    headers: { 'x-forwarded-for': `198.51.100.${++visitors}` },
    answer(method, [first]) {
      if (method === 'eth_chainId') return '0x1';
      if (method === 'personal_sign') return account.signMessage({ message: { raw: first as `0x${string}` } });
      if (method === 'eth_requestAccounts') return undefined;
      throw new Error(`no ${method}`);
    },
    ...(setup === undefined ? {} : { setup }),
  });
