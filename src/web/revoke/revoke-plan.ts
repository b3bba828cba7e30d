// Renders a revocation: the transactions that end grants, in words and as they go to the wallet, and what they do not end.

import { checksummed } from '../../registry/checksum.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import { NETWORKS } from '../../registry/network.ts';
import { paramsOf, type RegistryCall } from '../../registry/registry-call.ts';
import type { Revocation } from '../../registry/revocation.ts';
import { grantIdOf } from '../grant-id.ts';
import { grantText, powerText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { walletName } from '../names/name-slots.ts';
import { chainName, copyButton, countText, shortAddress } from '../parts.ts';
import { type OtherChains, unlimitedFirst } from './outgoing-grants.ts';
import { type Choice, type RevokeQuery, revokePath } from './revoke-query.ts';
import type { Selection } from './revoke-selection.ts';

export const fullAddress = (address: Address): Html =>
  html`<code class="whole">${checksummed(address)}</code> ${walletName(address)}`;

export const renderTransactions = (plan: readonly Revocation[], chainId: number): Html =>
  html`<ol class="stack">${plan.map((one, position) => renderTransaction(one, chainId, position + 1, plan.length))}</ol>`;

function renderTransaction(revocation: Revocation, chainId: number, number: number, of: number): Html {
  const target = checksummed(NETWORKS.get(chainId)?.registries[revocation.version] as Address);
  const title = of === 1 ? 'One transaction' : `Transaction ${number} of ${of}`;
  return html`<li class="card" data-transaction data-target="${target}" data-calldata="${revocation.data}">
<h3>${title} <span class="badge" data-state>not sent</span></h3>
${[...Map.groupBy(revocation.ends, ({ to }) => to)].map(([to, ends]) => renderEnds(to, ends))}
${wholeWarning(revocation)}
<details><summary>Show the transaction</summary>${renderCall(revocation, target, chainId)}</details></li>`;
}

/** More than these unfold. */
const SHOWN = 10;

function renderEnds(to: Address, ends: readonly Delegation[]): Html {
  const rows = ends.map(
    (grant) =>
      html`<li data-grant="${grantIdOf(grant)}" data-amount="${String(grant.amount ?? '')}">${grantText(grant)}</li>`,
  );
  const more = rows.slice(SHOWN);
  const rest =
    more.length > 0 &&
    html`<details><summary>and ${countText(more.length, 'more grant')}</summary><ul>${more}</ul></details>`;
  return html`<p>${fullAddress(to)} may no longer act for</p><ul>${rows.slice(0, SHOWN)}</ul>${rest}`;
}

/** Two calls of v1 end more than what they name. */
function wholeWarning({ calls }: Revocation): Html | null {
  const name = calls[0]?.[2];
  if (name !== 'revokeDelegate' && name !== 'revokeAllDelegates') return null;
  const who = name === 'revokeDelegate' ? 'everything this wallet may do' : 'every grant that you ever made';
  return html`<p class="notice trouble">This call ends <strong>${who} in registry v1</strong> on this chain, also what you grant there before it is mined.</p>`;
}

function renderCall({ calls, data }: Revocation, target: string, chainId: number): Html {
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

/** The page that is rendered. */
export interface Asked extends RevokeQuery {
  readonly wallet: Address;
  readonly chainId: number;
}

/** Per wallet. */
const MOST_KEPT = 20;

/** What the revocation does not end: above all, what lets the same wallet go on. */
export function renderKept(asked: Asked, { kept, same, others, indexedFrom }: Selection, elsewhere: OtherChains) {
  const isSame = new Set(same);
  const wallets = (areTheSame: boolean) => {
    const grants = kept.filter((grant) => isSame.has(grant) === areTheSame);
    return [...Map.groupBy(grants, ({ to }) => to)].map(([to, its]) => renderKeptOf(asked, to, its, areTheSame));
  };
  return html`${wallets(true)}
${wallets(false)}
${renderElsewhere(asked.wallet, elsewhere)}
${indexedFrom !== null && html`<p class="notice trouble">This service knows the grants on ${chainName(asked.chainId)} since block ${indexedFrom}. Older grants are not listed and may stay.</p>`}
<ul>${others > 0 && html`<li>${countText(others, 'further grant')} of your wallet on this chain ${others === 1 ? 'stays as it is' : 'stay as they are'}.</li>`}
<li>What these wallets have already done stays done.</li>
<li>Token approvals are not delegations: allowances that you gave to apps stay.</li></ul>`;
}

export const renderElsewhere = (owner: Address, { grants, unread }: OtherChains): Html =>
  html`${[...grants].map(([chainId, its]) => renderChain(owner, chainId, its))}
${unread.length > 0 && html`<p class="notice trouble">Not read: ${unread.map(chainName).join(', ')}. Whether these wallets may act for you there is not known here.</p>`}`;

/** Powers that are named in one sentence. */
const MOST_NAMED = 3;

/** After a revocation: who can go on. The script of the page says it as soon as the index shows that it is so. */
export function renderStill({ wallet, chainId }: Asked, { same }: Selection): Html | null {
  if (same.length === 0) return null;
  const lines = [...Map.groupBy(same, ({ to }) => to)].map(([to, grants]) => {
    const powers = unlimitedFirst(grants)
      .slice(0, MOST_NAMED)
      .map((grant, at) => html`${at > 0 && ', '}${powerText(grant)} (v${grant.version})`);
    const more = grants.length > MOST_NAMED && ` and ${grants.length - MOST_NAMED} more`;
    const short = shortAddress(checksummed(to));
    const rest = revokePath(wallet, chainId, choiceOf(to, grants));
    return html`<p><span data-to="${to}">${short} can still use ${powers}${more}</span>. <a class="button danger small" href="${rest}">Revoke the rest of ${short}</a></p>`;
  });
  return html`<div id="still" class="notice trouble stays" role="status"><strong>Not active, but that is not all.</strong>${lines}</div>`;
}

function renderKeptOf(asked: Asked, to: Address, grants: readonly Delegation[], areTheSame: boolean): Html {
  const rows = grants.slice(0, MOST_KEPT).map((grant) => html`<li>${grantText(grant)}</li>`);
  const more =
    grants.length > MOST_KEPT && html`<p class="soft">and ${countText(grants.length - MOST_KEPT, 'more grant')}</p>`;
  const list = html`<ul>${rows}</ul>${more}<p>${addLink(asked, to, grants)}</p>`;
  if (areTheSame)
    return html`<div class="notice trouble stays"><p><strong>This is not enough.</strong> ${fullAddress(to)} can still do what you are ending, because it may act for</p>${list}</div>`;
  return html`<div class="stays"><p>${fullAddress(to)} keeps its other grants. It may still act for</p>${list}</div>`;
}

/** Links with more grants than these name the wallet instead, and with more wallets nothing: they would be too long. */
const MOST_IN_LINK = 5;
const MOST_WALLETS = 20;

const choiceOf = (to: Address, grants: readonly Delegation[], choice?: Choice): Partial<Choice> =>
  grants.length > MOST_IN_LINK
    ? { wallets: new Set([...(choice?.wallets ?? []), to]) }
    : { grants: new Map([...(choice?.grants ?? []), ...grants.map((one) => [grantIdOf(one), one] as const)]) };

function addLink({ wallet, chainId, ...choice }: Asked, to: Address, grants: readonly Delegation[]): Html {
  const isWhole = grants.length > MOST_IN_LINK;
  const added = choiceOf(to, grants, choice);
  const what = isWhole ? 'everything of this wallet' : grants.length === 1 ? 'this grant' : 'these grants';
  return html`<a href="${revokePath(wallet, chainId, { ...choice, ...added })}">Revoke ${what} too</a>`;
}

function renderChain(owner: Address, chainId: number, grants: readonly Delegation[]): Html {
  const wallets = new Set(grants.map(({ to }) => to));
  const them = wallets.size === 1 ? 'the same wallet' : 'the same wallets';
  return html`<p class="notice trouble">On ${chainName(chainId)}, ${countText(grants.length, 'grant')} to ${them} ${grants.length === 1 ? 'stays' : 'stay'}. A transaction counts on one chain only. <a href="${revokePath(owner, chainId, wallets.size > MOST_WALLETS ? {} : { wallets })}">Revoke on ${chainName(chainId)}</a></p>`;
}
