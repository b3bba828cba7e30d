// Prepared transactions of an owner as pages show them: in words, as they go to the wallet, and the part that sends them.

import { checksummed } from '../../registry/checksum.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import { NETWORKS } from '../../registry/network.ts';
import { paramsOf, type RegistryCall, type RegistryTransaction } from '../../registry/registry-call.ts';
import { grantIdOf } from '../grant-id.ts';
import { type Html, html } from '../html.ts';
import { walletName } from '../names/name-slots.ts';
import { chainName, copyButton, countText } from '../parts.ts';

export const fullAddress = (address: Address): Html =>
  html`<code class="whole">${checksummed(address)}</code> ${walletName(address)}`;

export const renderOwner = (wallet: Address): Html =>
  html`<p class="lead owner">Wallet ${fullAddress(wallet)} ${copyButton(checksummed(wallet), 'the wallet')}</p>`;

interface PlanState {
  readonly action: 'revoke' | 'grant';
  readonly wallet: Address;
  readonly chainId: number;
  /** The block as of which the page was made. */
  readonly block: number;
  /** The URLs of the newest block, and of what changes from now on. */
  readonly head: string;
  readonly changes: string;
}

/** What the script of the page needs to know. A page that is read again says by it what is left to do. */
export const renderState = ({ action, wallet, chainId, block, head, changes }: PlanState): Html =>
  html`<div data-plan data-action="${action}" data-owner="${checksummed(wallet)}" data-chain="${chainId}" data-network="${chainName(chainId)}" data-head="${head}" data-changes="${changes}" data-block="${block}"></div>`;

export const renderTransactions = <T extends RegistryTransaction>(
  plan: readonly T[],
  chainId: number,
  wordsOf: (transaction: T) => Html,
  // Of several chains, they are counted together.
  [before, all] = [0, plan.length],
): Html =>
  html`<ol class="stack">${plan.map((one, position) => {
    const title = all === 1 ? 'One transaction' : `Transaction ${before + position + 1} of ${all}`;
    const target = checksummed(NETWORKS.get(chainId)?.registries[one.version] as Address);
    return html`<li class="card" data-transaction data-chain="${chainId}" data-target="${target}" data-calldata="${one.data}">
<h3>${title} <span class="badge" data-state>not sent</span></h3>
${wordsOf(one)}
<details><summary>Show the transaction</summary>${renderCall(one, target, chainId)}</details></li>`;
  })}</ol>`;

/** More than these unfold. */
const SHOWN = 10;

/** For each wallet, what it will or will no longer be able to act for. */
export const renderChanges = (grants: readonly Delegation[], will: string, textOf: (grant: Delegation) => Html): Html =>
  html`${[...Map.groupBy(grants, ({ to }) => to)].map(([to, its]) => {
    const rows = its.map(
      (grant) =>
        html`<li data-grant="${grantIdOf(grant)}" data-amount="${String(grant.amount ?? '')}">${textOf(grant)}</li>`,
    );
    const more = rows.slice(SHOWN);
    const rest =
      more.length > 0 &&
      html`<details><summary>and ${countText(more.length, 'more grant')}</summary><ul>${more}</ul></details>`;
    return html`<p>${fullAddress(to)} ${will} able to act for</p><ul>${rows.slice(0, SHOWN)}</ul>${rest}`;
  })}`;

function renderCall({ calls, data }: RegistryTransaction, target: string, chainId: number): Html {
  const several =
    calls.length > 1 && html`<dd><code>multicall</code>: ${countText(calls.length, 'call')}, all or none</dd>`;
  return html`<dl class="call"><dt>Chain</dt><dd>${chainName(chainId)} (${chainId})</dd>
<dt>To</dt><dd><code class="whole">${target}</code> ${copyButton(target, 'the target')}</dd>
<dt>Value</dt><dd>0</dd>
<dt>Function</dt>${several}${calls.map(renderArguments)}
<dt>Calldata</dt><dd><div class="calldata" tabindex="0" role="group" aria-label="Calldata"><code class="whole">${data}</code></div>${copyButton(data, 'the calldata')}</dd></dl>`;
}

function renderArguments(call: RegistryCall): Html {
  const [, , name, args] = call;
  const names = paramsOf(call);
  const rows = args.map((value, position) => {
    const text = typeof value === 'string' && value.length === 42 ? checksummed(value as Address) : String(value);
    return html`<li><span class="soft">${names[position] ?? ''}</span> <code class="whole">${text}</code></li>`;
  });
  return html`<dd><code>${name}</code><ul>${rows}</ul></dd>`;
}

interface SendWords {
  /** Into which wallet to copy the transactions. */
  readonly wallet: string;
  /** "This page shows when …" */
  readonly until: string;
  /** What must be confirmed before anything is sent. */
  readonly confirm?: Html;
  readonly afterwards: Html;
}

/** The script shows it, and what follows once everything is done. */
export const renderSend = ({ wallet, until, confirm, afterwards }: SendWords): Html =>
  html`<p>You sign and send with your own wallet. This service never signs or sends anything.</p>
<noscript><p class="notice">Sending needs JavaScript. Without it, copy target and calldata above into your wallet.</p></noscript>
<div id="send" hidden>${confirm !== undefined && html`<label class="choice"><input type="checkbox" id="confirm" required><span>${confirm}</span></label>`}<div id="wallets" class="actions"></div>
<p id="no-wallet" class="empty" hidden>No wallet found in this browser. Open this page in your wallet's browser, or copy target and calldata from “Show the transaction” into ${wallet}. A multisig or another smart account takes them in its transaction builder. This page shows when ${until}.</p>
<p id="progress" class="notice" role="status" aria-live="polite" tabindex="-1"></p>
<div id="afterwards" hidden>${afterwards}</div></div>
<template id="sent-line"><p class="sent">Sent as <code class="whole"></code> <button type="button" class="copy plain" data-copy aria-label="Copy the transaction hash">Copy</button></p></template>`;
