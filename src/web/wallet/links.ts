// Links and shortened values of a wallet's page. What is shortened can be copied whole, and is printed whole.

import { BLOCK_EXPLORERS } from '../../registry/block-explorers.ts';
import { copyButton } from '../copy-button.ts';
import { shortAddress } from '../delegation.ts';
import { type Html, html } from '../html.ts';
import type { WalletView } from './wallet-view.ts';

/** Digits that stay at each end of a long number. */
const ENDS = 6;

/** A number with many digits is shortened; its digits are never grouped, so that it can be searched for. */
export const shortNumber = (digits: string): string =>
  digits.length <= 2 * ENDS + 6 ? digits : `${digits.slice(0, ENDS)}…${digits.slice(-ENDS)}`;

/** The short form on the screen, the full one when printed. */
const shortened = (full: string, short: string): Html =>
  full === short
    ? html`<span class="id">${full}</span>`
    : html`<span class="id short" title="${full}" data-full="${full}">${short}</span>`;

export const renderNumber = (digits: string, what: string): Html => {
  const short = shortNumber(digits);
  return html`${shortened(digits, short)}${short === digits ? '' : copyButton(digits, what)}`;
};

/** Links to another site never say where they come from. */
function explorerLink(view: WalletView, chainId: number, path: string, content: Html, label: string): Html | null {
  const base = view.sandbox ? undefined : BLOCK_EXPLORERS.get(chainId);
  return base === undefined
    ? null
    : html`<a href="${base}/${path}" rel="noreferrer noopener" aria-label="${label}">${content}</a>`;
}

export function renderWalletLink(view: WalletView, address: string, chainId: number): Html {
  const out = explorerLink(
    view,
    chainId,
    `address/${address}`,
    html`↗`,
    `${shortAddress(address)} in a block explorer`,
  );
  return html`<span class="who"><a class="address" href="/?wallet=${address}">${shortened(address, shortAddress(address))}</a> ${out ?? ''}${copyButton(address, `address ${shortAddress(address)}`)}</span>`;
}

export function renderContract(view: WalletView, address: string, chainId: number): Html {
  const short = shortened(address, shortAddress(address));
  const label = `Contract ${shortAddress(address)} in a block explorer`;
  const link = explorerLink(view, chainId, `address/${address}`, html`${short} ↗`, label);
  return html`<span class="address">${link ?? short}</span>${copyButton(address, `contract ${shortAddress(address)}`)}`;
}

export function renderTransaction(view: WalletView, hash: string, chainId: number, text: string): Html {
  return (
    explorerLink(view, chainId, `tx/${hash}`, html`${text} ↗`, `${text}: transaction in a block explorer`) ??
    html`${text}`
  );
}

/** Zeros at the end say nothing. */
export const renderBytes = (bytes: string): Html => {
  const digits = bytes.replace(/(00)+$/, '');
  const short =
    digits.length > 20 ? `${bytes.slice(0, 10)}…${bytes.slice(-4)}` : digits === bytes ? bytes : `${digits}…`;
  return html`<code class="short" title="${bytes}" data-full="${bytes}">${short}</code>${copyButton(bytes, 'rights as bytes')}`;
};
