// A delegation in words and links, as pages show it.

import { type Html, html } from './html.ts';

/** A record of the API with `detail=full` and `numbers=string`. */
export interface Shown {
  readonly type: 'ALL' | 'CONTRACT' | 'TOKEN';
  readonly from?: string;
  readonly to?: string;
  readonly vault?: string;
  readonly delegate?: string;
  readonly contract: string | null;
  readonly tokenId: string | null;
  readonly standard: string | null;
  readonly rights: string | null;
  readonly amount: string | null;
  readonly since: { readonly block: number; readonly timestamp: number; readonly transactionHash: string };
}

export const coldOf = ({ from, vault }: Shown): string => from ?? vault ?? '';
export const hotOf = ({ to, delegate }: Shown): string => to ?? delegate ?? '';

export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;

export const walletLink = (address: string, more = ''): Html =>
  html`<a class="address" href="/?wallet=${address}${more}" title="${address}">${shortAddress(address)}</a>`;

const code = (address: string | null): Html =>
  address === null ? html`` : html`<code title="${address}">${shortAddress(address)}</code>`;

/** What it is for. */
export function whatOf({ type, contract, tokenId, standard, amount }: Shown): Html {
  if (type === 'ALL') return html`Everything`;
  if (type === 'CONTRACT') return html`All of ${code(contract)}`;
  if (standard === 'ERC20') return html`${amount ?? ''} base units of the tokens ${code(contract)}`;
  const many = amount === null ? '' : html`${amount} of `;
  return html`${many}№ ${tokenId ?? ''} of ${code(contract)}`;
}

export const dateText = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
