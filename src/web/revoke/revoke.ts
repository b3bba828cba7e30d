// Renders the page at /revoke, where an owner ends grants. The page prepares transactions; the owner's own wallet signs and
// sends them. Without JavaScript, it shows them to copy.

import { checksummed } from '../../registry/checksum.ts';
import { planRevocations } from '../../registry/revocation.ts';
import { ALL_VERSIONS, type Version } from '../../registry/versions.ts';
import { type FetchApi, Refusal } from '../ask-api.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { renderPage } from '../page.ts';
import { chainName, copyButton, notice } from '../parts.ts';
import { renderUnknown } from '../wallet/wallet-states.ts';
import { changesUrl, headUrl, readOtherChains } from './outgoing-grants.ts';
import { renderChains, renderGrants, walletForm } from './revoke-choose.ts';
import {
  type Asked,
  fullAddress,
  renderElsewhere,
  renderKept,
  renderStill,
  renderTransactions,
} from './revoke-plan.ts';
import { isEmpty, type RevokeQuery, readRevokeQuery, revokePath } from './revoke-query.ts';
import { type Selection, selectGrants } from './revoke-selection.ts';

export async function renderRevoke(queryText: string, chainIds: readonly number[], fetchApi: FetchApi) {
  const query = readRevokeQuery(queryText, chainIds);
  const faults = query.faults.map(({ parameter, detail }) => notice(`${parameter} ${detail}`));
  return renderPage(
    { title: 'Revoke access', path: '/revoke', styles: ['/revoke.css'], scripts: ['/labels.js', '/revoke.js'] },
    html`<h1>Revoke access</h1>${faults}${await renderContent(query, fetchApi)}`,
  );
}

async function renderContent(query: RevokeQuery, fetchApi: FetchApi): Promise<Html> {
  const { walletText, wallet, chainId, chainIds, cursor } = query;
  if (wallet === null)
    return html`<p class="lead">Choose which wallets may no longer act for yours. You sign and send the transaction with your own wallet.</p>${walletForm(walletText)}`;
  const owner = html`<p class="lead owner">Wallet ${fullAddress(wallet)} ${copyButton(checksummed(wallet), 'the wallet')}</p>`;
  if (chainId === null) return html`${owner}${await renderChains(wallet, chainIds, fetchApi)}`;
  if (isEmpty(query))
    return html`${owner}${query.isSelection && notice('Nothing is selected. Tick at least one grant.')}${await renderGrants(wallet, chainId, fetchApi, cursor)}`;
  return html`${owner}${await renderPlan({ ...query, wallet, chainId }, fetchApi)}`;
}

async function renderPlan(asked: Asked, fetchApi: FetchApi): Promise<Html> {
  const { wallet, chainId, chainIds } = asked;
  // Before the grants are read: no change of them is missed.
  const changes = await changesUrl(wallet, chainId, fetchApi);
  const selection = await selectGrants(wallet, chainId, asked, fetchApi);
  const name = chainName(chainId);
  if (selection instanceof Refusal)
    return notice(`Nothing was prepared, because the grants on ${name} cannot be read: ${selection.text}`);
  const { chosen, block, whole } = selection;
  const state = html`<div id="revocation" data-owner="${checksummed(wallet)}" data-chain="${chainId}" data-network="${name}" data-head="${headUrl(wallet, chainId)}" data-changes="${changes}" data-block="${block}"></div>`;
  const back = html`<p><a href="${revokePath(wallet, chainId)}">All grants of this wallet on ${name}</a></p>`;
  const losing = new Set([...chosen, ...asked.grants.values()].map(({ to }) => to).concat(...asked.wallets));
  const others = chainIds.filter((id) => id !== chainId);
  const elsewhere = await readOtherChains(wallet, losing, others, fetchApi);
  if (chosen.length === 0)
    return html`${state}${renderAbsent(selection)}${renderStill(asked, selection) ?? renderNothing(selection, chainId)}${renderElsewhere(wallet, elsewhere)}${back}`;
  const plan = planRevocations(wallet, chosen, whole);
  return html`${state}${renderAbsent(selection)}
<h2>What this ends on ${name}</h2><p class="soft">As of block ${block}.</p>
${renderTransactions(plan, chainId)}${renderMore(selection)}${renderEquals(asked, selection)}
<h2>What this does not end</h2>
${renderKept(asked, selection, elsewhere)}
<h2>Send it</h2>
${SEND}${back}`;
}

/** A grant that is older than the index may be active. */
function renderNothing({ block, indexedFrom }: Selection, chainId: number): Html {
  if (indexedFrom !== null) return renderUnknown(chainId, indexedFrom);
  return html`<p class="notice yes" role="status"><strong>Nothing left to revoke.</strong> None of these grants is active on ${chainName(chainId)} as of block ${block}.</p>`;
}

function renderAbsent({ absent, block, indexedFrom }: Selection): Html | null {
  if (absent.length === 0) return null;
  const rows = absent.map((key) => html`<li>${fullAddress(key.to)} for ${grantText({ ...key, amount: null })}</li>`);
  const what =
    indexedFrom === null
      ? `Not active as of block ${block}: ended already`
      : `Not found as of block ${block}: granted before block ${indexedFrom}, ended already`;
  return html`<div class="notice"><p>${what}, or never granted.</p><ul>${rows}</ul></div>`;
}

function renderEquals({ wallet, chainId, ...choice }: Asked, { chosen, absent }: Selection): Html | null {
  const added = chosen.length - (choice.grants.size - absent.length);
  if (!choice.equals || added <= 0) return null;
  return html`<p class="soft">The same was granted more than once, so all of it ends. <a href="${revokePath(wallet, chainId, { ...choice, equals: false })}">Revoke only what you chose</a></p>`;
}

function renderMore({ more }: Selection): Html {
  const rest: { readonly [V in Version]: string } = {
    1: `This page lists 1,000 grants at most: ${more[1]} more in registry v1 are not listed. Those of a wallet whose v1 grants all end are ended too.`,
    2: `${more[2]} more grants in registry v2 are not part of these transactions. Come back for them afterwards.`,
  };
  return html`${ALL_VERSIONS.filter((version) => more[version] > 0).map((version) => notice(rest[version]))}`;
}

const SEND = html`<p>You sign and send with your own wallet. This service never signs or sends anything.</p>
<noscript><p class="notice">Sending needs JavaScript. Without it, copy target and calldata above into your wallet.</p></noscript>
<div id="send" hidden><div id="wallets" class="actions"></div>
<p id="no-wallet" class="empty" hidden>No wallet found in this browser. Open this page in your wallet's browser, or copy target and calldata from “Show the transaction” into the wallet that owns these grants. A multisig or another smart account takes them in its transaction builder. This page shows when the grants have ended.</p>
<p id="progress" class="notice" role="status" aria-live="polite" tabindex="-1"></p></div>
<template id="sent-line"><p class="sent">Sent as <code class="whole"></code> <button type="button" class="copy plain" data-copy aria-label="Copy the transaction hash">Copy</button></p></template>`;
