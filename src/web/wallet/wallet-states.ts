// Says what the page of a wallet does not know: chains that did not answer, an index that starts late, and refusals.

import type { Refusal } from '../ask-api.ts';
import { pointInTimeText } from '../explorer/explorer-query.ts';
import { type Html, html } from '../html.ts';
import { chainName } from '../parts.ts';
import { problemWords } from '../problem-words.ts';
import { dateText, durationText } from '../time-text.ts';
import type { ChainPart } from './wallet-reader.ts';
import { type WalletView, walletUrl } from './wallet-view.ts';

/** Every chain answered, and is indexed from its first grant. */
export const isEverythingKnown = (chains: readonly ChainPart[]): boolean =>
  chains.every((chain) => !('problem' in chain) && chain.indexedFrom === undefined);

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** A warning for each chain of which something is missing. */
export const renderMissing = (chains: readonly ChainPart[]): Html =>
  html`${chains.map((chain) =>
    renderUnknown(chain.chainId, 'problem' in chain ? problemWords(chain.problem) : (chain.indexedFrom ?? null)),
  )}`;

/** The same for one chain: why it did not answer, or the block from which on it is indexed, or null. */
export function renderUnknown(chainId: number, why: string | number | null): Html {
  if (why === null) return html``;
  const name = chainName(chainId);
  const [title, text] =
    typeof why === 'number'
      ? [`${name} is known only from block ${why}.`, 'Earlier grants are']
      : [`${name} is missing.`, `${sentence(why)} Grants on ${name} are`];
  return html`<p class="notice trouble" role="status"><strong>${title}</strong> ${text} unknown, not absent.</p>`;
}

/** The block of each chain that answered. */
export function renderBlocks(chains: readonly ChainPart[]): Html {
  const answered = chains.flatMap((chain) => ('problem' in chain ? [] : [chain]));
  const blocks = answered.map(({ chainId, block: { number, timestamp } }) => {
    const time = timestamp !== null && `, ${dateText(timestamp)}`;
    return html`${chainName(chainId)} at block ${number}${time}`;
  });
  if (blocks.length === 1) return html`<p class="soft">Read from ${blocks}.</p>`;
  return html`<details><summary>Read from ${blocks.length} chains</summary><ul>${blocks.map((one) => html`<li>${one}</li>`)}</ul></details>`;
}

/** A refused request in words, and what to do next. */
export function renderRefusal(view: WalletView, { status, text, retryAfter }: Refusal): Html {
  const wait = `in ${retryAfter === null ? 'a moment' : durationText(Number(retryAfter))}`;
  const again = html`<a href="${walletUrl(view, { cursor: view.cursor, page: view.page })}">try again</a>`;
  const words = (title: string, next: Html) =>
    html`<div class="notice trouble" role="status"><p><strong>${title}</strong> ${sentence(text)}</p><p>${next}</p></div>`;
  if (status === 429) return words('Too many requests.', html`Wait, and ${again} ${wait}.`);
  if (status === 409)
    return words('The list has changed.', html`<a href="${walletUrl(view)}">Start again from its beginning</a>.`);
  if (status >= 500)
    return words(
      'The service cannot answer now.',
      html`Nothing is known about this wallet at the moment: this does not mean that nobody may act for it. You can ${again} ${wait}.`,
    );
  return words(
    'This cannot be answered.',
    html`<a href="${walletUrl(view, { asOf: '' })}">Show the wallet as it is now</a>.`,
  );
}

/** The page is about the past: it says so, and leads to the present. */
export function renderPast(view: WalletView): Html | null {
  const { asOf } = view;
  if (asOf === '') return null;
  return html`<p class="notice" role="status">This is how it was at ${pointInTimeText(asOf)}. <a href="${walletUrl(view, { asOf: '' })}">Show it as it is now</a>.</p>`;
}
