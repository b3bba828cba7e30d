// A wallet in a browser that sends transactions: the page talks to it as to any EIP-1193 provider, and it forwards to a node,
// which signs. A test decides what it does differently.

import type { Browser, Page } from 'playwright-core';

type Params = readonly unknown[];
type Forward = (method: string, params: Params) => Promise<unknown>;

/** An error with a code, as wallets throw it. */
export class WalletError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface SendingWallet {
  readonly page: Page;
  /** Every transaction that the page asked it to send. */
  readonly sent: unknown[];
  /** Errors in the browser's console, policy violations included. */
  readonly complaints: string[];
}

export interface WalletOptions {
  readonly forward: Forward;
  readonly account: string;
  /** Answers some methods itself; undefined leaves a method to the others. */
  readonly answer?: (method: string, params: Params) => unknown;
  /** As a plain window.ethereum instead of one that announces itself. */
  readonly plain?: boolean;
}

/** The wallet is named Test Wallet. */
export async function openWithSendingWallet(
  browser: Browser,
  url: string,
  options: WalletOptions,
): Promise<SendingWallet> {
  const page = await browser.newPage();
  const sent: unknown[] = [];
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  const request = async (method: string, params: Params) => {
    if (method === 'eth_sendTransaction') sent.push(params[0]);
    const own = await options.answer?.(method, params);
    if (own !== undefined) return own;
    return method === 'eth_requestAccounts' ? [options.account] : options.forward(method, params);
  };
  await page.exposeFunction('askWallet', async (method: string, params: Params) => {
    try {
      return { result: await request(method, params) };
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
    const detail = Object.freeze({ info: { uuid: 'test', name: 'Test Wallet', icon: '', rdns: 'test' }, provider });
    const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    if (${options.plain ?? false}) window.ethereum = provider;
    else window.addEventListener('eip6963:requestProvider', announce);
  }`);
  await page.goto(url);
  return { page, sent, complaints };
}
