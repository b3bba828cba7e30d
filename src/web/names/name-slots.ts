// Where a page shows names: empty places beside addresses, which are filled when the page is complete. A page never depends on a name.

import type { Address } from '../../registry/delegation.ts';
import { type Html, html } from '../html.ts';

/** What is known of the addresses of a page. */
export interface KnownNames {
  wallet(address: Address): string | null;
  token(token: NamedToken): TokenClaim | null;
}

interface NamedToken {
  readonly chainId: number;
  readonly contract: Address;
}

interface TokenClaim {
  readonly name: string;
  readonly symbol: string | null;
  readonly decimals: number | null;
}

/** Beside the address of a wallet: its ENS name, and what the reader of the page calls it (labels.browser.js). */
export const walletName = (address: string): Html => html`<span class="name" data-wallet="${address}"></span>`;

/** Beside the address of a token contract: what the contract calls itself. */
export const tokenName = (chainId: number, contract: string): Html =>
  html`<span class="claim" data-token="${chainId} ${contract}"></span>`;

/** The page escapes what others wrote, so nobody else can make these. */
const WALLET = /<span class="name" data-wallet="(0x[0-9a-fA-F]{40})"><\/span>/g;
const TOKEN = /<span class="claim" data-token="(\d+) (0x[0-9a-fA-F]{40})"><\/span>/g;

const lower = (address: string) => address.toLowerCase() as Address;
const distinct = <T>(found: readonly T[], keyOf: (one: T) => string): T[] =>
  [...Map.groupBy(found, keyOf).values()].flatMap(([first]) => first ?? []);

/** Whose names the page has places for, in its order. */
export function askedNames(page: string) {
  const tokens = [...page.matchAll(TOKEN)].map(([, chainId, contract = '']) => ({
    chainId: Number(chainId),
    contract: lower(contract),
  }));
  return {
    wallets: [...new Set([...page.matchAll(WALLET)].map(([, address = '']) => lower(address)))],
    tokens: distinct(tokens, ({ chainId, contract }) => `${chainId} ${contract}`),
  };
}

export const withNames = (page: string, known: KnownNames): string =>
  page
    .replace(WALLET, (slot, address: string) => filled(slot, nameText(known.wallet(lower(address)))))
    .replace(TOKEN, (slot, chainId: string, contract: string) =>
      filled(slot, claimText(known.token({ chainId: Number(chainId), contract: lower(contract) }))),
    );

const filled = (slot: string, content: Html | null) =>
  content === null ? slot : slot.replace('></span>', () => `>${content.text}</span>`);

/** Labels of a name stand in its order, and its direction does not change that of the text around it. */
const nameText = (name: string | null) => (name === null ? null : html`<bdi dir="ltr">${name}</bdi>`);

/** Anybody can call a contract anything: it is quoted as its own words. */
function claimText(claim: TokenClaim | null): Html | null {
  if (claim === null) return null;
  const { name, symbol, decimals } = claim;
  const unit = symbol === null || symbol === name ? null : html`<bdi>${symbol}</bdi>`;
  const digits = decimals === null ? null : html`${decimals} decimals`;
  const more = [unit, digits].filter((one) => one !== null).map((one, at) => html`${at > 0 && ', '}${one}`);
  return html`calls itself “<bdi>${name}</bdi>”${more.length > 0 && html` (${more})`}`;
}

/** Messages about what was entered, above everything else of a page. */
export const withNotices = (page: string, notices: Html): string =>
  page.replace(MAIN, (main) => `${main}${notices.text}`);

const MAIN = /<main id="content"[^>]*>/;
