// Renders what the explorer shows before a wallet is entered: examples in a sandbox, and what is followed now.

import { ANY_LIST } from '../../api/any-operations.ts';
import { EXAMPLE_DELEGATIONS } from '../../api/examples.ts';
import { NETWORKS_OPERATION } from '../../api/operations.ts';
import type { NetworkRecord } from '../../api/responses.ts';
import { urlFor } from '../../api/url.ts';
import { checksummed } from '../../registry/checksum.ts';
import { shortAddress } from '../delegation.ts';
import type { FetchApi } from '../fetch-api.ts';
import { type Html, html } from '../html.ts';
import type { ExplorerQuery } from './explorer-query.ts';

export async function renderHome({ sandbox }: ExplorerQuery, fetchApi: FetchApi): Promise<Html> {
  const [examples, following] = await Promise.all([
    sandbox ? renderExamples(fetchApi) : html``,
    renderFollowing(fetchApi),
  ]);
  return html`${examples}${following}
<section class="points" aria-label="What you can do here">
<div><h2>See who may act for you</h2><p>Every delegation of a wallet, in both registries and on all chains: the whole wallet, a contract, or a token.</p></div>
<div><h2>Revoke what you no longer need</h2><p>The page prepares the transaction and says what it ends. Your own wallet signs and sends it.</p></div>
<div><h2>Build on it</h2><p>One HTTP request answers a check, now or at a block. <a href="/docs">Read the API reference</a>.</p></div>
</section>`;
}

/** A sandbox with a scenario of its own does not have them. */
async function renderExamples(fetchApi: FetchApi): Promise<Html> {
  const [first] = EXAMPLE_DELEGATIONS;
  if (first === undefined) return html``;
  const response = await fetchApi(urlFor(ANY_LIST, { wallet: first.from, limit: 1 }));
  const hasExamples = response.ok && ((await response.json()) as { delegations: unknown[] }).delegations.length > 0;
  if (!hasExamples) return html``;
  const link = (address: string, name: string) => {
    const wallet = checksummed(address as `0x${string}`);
    return html`<a class="button plain" href="/?wallet=${wallet}">${name} <span class="soft address">${shortAddress(wallet)}</span></a> `;
  };
  const question = `/?to=${checksummed(first.to)}&from=${checksummed(first.from)}&type=contract&contract=${checksummed(first.contract ?? first.from)}`;
  return html`<p class="examples">Try an example: ${link(first.from, 'a cold wallet')}${link(first.to, 'its hot wallet')}<a class="button plain" href="${question}">a check of both</a></p>`;
}

async function renderFollowing(fetchApi: FetchApi): Promise<Html> {
  const response = await fetchApi(urlFor(NETWORKS_OPERATION, {}));
  const networks = response.ok ? ((await response.json()) as NetworkRecord[]) : [];
  return html`<p class="following soft" data-part="following">${followingText(networks)} <a href="/status">Status</a></p>`;
}

function followingText(networks: readonly NetworkRecord[]): string {
  const [only] = networks;
  if (only === undefined) return 'This service follows no chain at the moment.';
  const ready = networks.filter((one) => one.ready).length;
  if (networks.length > 1)
    return `${ready === networks.length ? `All ${ready}` : `${ready} of ${networks.length}`} chains are up to date.`;
  const name = only.name ?? `Chain ${only.chainId}`;
  return only.ready && only.head !== null
    ? `${name} is up to date, at block ${only.head.number}.`
    : `${name} is not up to date.`;
}
