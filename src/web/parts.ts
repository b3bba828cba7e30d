// What many pages show: addresses, chains, counts, notices, copy buttons, links of a navigation, choices of a form.

import { NETWORKS } from '../registry/network.ts';
import { type Html, html } from './html.ts';

export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;

/** What is shortened on the screen is printed whole (style.css). */
export const shortened = (full: string, short: string): Html =>
  html`<span class="short" title="${full}" data-full="${full}"><span>${short}</span></span>`;

export const chainName = (chainId: number): string => NETWORKS.get(chainId)?.name ?? `chain ${chainId}`;

/** The chain of a sandbox has no block explorer. */
export function explorerUrl(sandbox: boolean, chainId: number, path: string): string | null {
  const host = sandbox ? undefined : NETWORKS.get(chainId)?.explorer;
  return host === undefined ? null : `https://${host}/${path}`;
}

export const countText = (count: number, one: string): string =>
  `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;

/** A message about the request or its answer. */
export const notice = (text: string): Html => html`<p class="notice trouble" role="status">${text}</p>`;

/** Its script is loaded on every page. */
export const copyButton = (text: string, what: string): Html =>
  html`<button type="button" class="copy" data-copy="${text}" aria-label="Copy ${what}">Copy</button>`;

/** A link that is marked if it leads to the page that is shown. */
export const navigationLink = (href: string, text: string, isCurrent: boolean): Html =>
  html`<a href="${href}"${isCurrent && html` aria-current="page"`}>${text}</a>`;

export type Choice = readonly [value: string, text: string];

export const chainChoices = (chainIds: readonly number[]): Choice[] =>
  chainIds.map((id) => [String(id), chainName(id)]);

export function selectField(label: string, name: string, chosen: string, choices: readonly Choice[]): Html {
  const options = choices.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  );
  return html`<label>${label}<select name="${name}">${options}</select></label>`;
}
