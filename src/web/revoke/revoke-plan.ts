// Renders the transactions that end grants: in words, and as they go to the wallet.

import { checksummed } from '../../registry/checksum.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import { NETWORKS } from '../../registry/network.ts';
import { paramsOf, type RegistryCall } from '../../registry/registry-call.ts';
import type { Revocation } from '../../registry/revocation.ts';
import { grantIdOf } from '../grant-id.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { chainName, copyButton, countText } from '../parts.ts';

export const fullAddress = (address: Address): Html => html`<code class="whole">${checksummed(address)}</code>`;

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
    html`<details><summary>and ${countText(more.length, 'more grant')}</summary><ul class="grants">${more}</ul></details>`;
  return html`<p class="who">${fullAddress(to)} may no longer act for</p><ul class="grants">${rows.slice(0, SHOWN)}</ul>${rest}`;
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
  return html`<dd><code>${name}</code><ul class="arguments">${rows}</ul></dd>`;
}
