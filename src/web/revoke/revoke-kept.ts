// Says what a revocation does not end: above all, what lets the same wallet go on.

import { type Address, type Delegation, delegationId } from '../../registry/delegation.ts';
import { idsThatGrantTheSame } from '../../registry/overlap.ts';
import { grantIdOf } from '../grant-id.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { chainName, countText } from '../parts.ts';
import type { OtherChains } from './outgoing-grants.ts';
import { fullAddress } from './revoke-plan.ts';
import { type Choice, revokePath } from './revoke-query.ts';
import type { Selection } from './revoke-selection.ts';

/** The page that is rendered. */
interface Asked extends Choice {
  readonly wallet: Address;
  readonly chainId: number;
}

/** Per wallet. */
const SHOWN = 20;

export function renderKept(
  asked: Asked,
  { chosen, kept, others, indexedFrom }: Selection,
  elsewhere: OtherChains,
): Html {
  const same = new Set(chosen.flatMap((grant) => [...idsThatGrantTheSame(grant)]));
  const wallets = (areTheSame: boolean) => {
    const grants = kept.filter((grant) => same.has(delegationId(grant)) === areTheSame);
    return [...Map.groupBy(grants, ({ to }) => to)].map(([to, its]) => renderWallet(asked, to, its, areTheSame));
  };
  return html`${wallets(true)}
${wallets(false)}
${[...elsewhere.grants].map(([chainId, grants]) => renderChain(asked.wallet, chainId, grants))}
${elsewhere.unread.length > 0 && html`<p class="notice trouble">Not read: ${elsewhere.unread.map(chainName).join(', ')}. Whether these wallets may act for you there is not known here.</p>`}
${indexedFrom !== null && html`<p class="notice trouble">This service knows the grants on ${chainName(asked.chainId)} since block ${indexedFrom}. Older grants are not listed and may stay.</p>`}
<ul>${others > 0 && html`<li>${countText(others, 'further grant')} of your wallet on this chain ${others === 1 ? 'stays as it is' : 'stay as they are'}.</li>`}
<li>What these wallets have already done stays done.</li>
<li>Token approvals are not delegations: allowances that you gave to apps stay.</li></ul>`;
}

function renderWallet(asked: Asked, to: Address, grants: readonly Delegation[], areTheSame: boolean): Html {
  const rows = grants.slice(0, SHOWN).map((grant) => html`<li>${grantText(grant)}</li>`);
  const more = grants.length > SHOWN && html`<p class="soft">and ${countText(grants.length - SHOWN, 'more grant')}</p>`;
  const list = html`<ul class="grants">${rows}</ul>${more}<p>${addLink(asked, to, grants)}</p>`;
  if (areTheSame)
    return html`<div class="notice trouble stays"><p><strong>This is not enough.</strong> ${fullAddress(to)} can still do what you are ending, because it may act for</p>${list}</div>`;
  return html`<div class="stays"><p>${fullAddress(to)} keeps its other grants. It may still act for</p>${list}</div>`;
}

/** Links with more grants than these name the wallet instead, and with more wallets nothing: they would be too long. */
const MOST_IN_LINK = 5;
const MOST_WALLETS = 20;

function addLink({ wallet, chainId, ...choice }: Asked, to: Address, grants: readonly Delegation[]): Html {
  const isWhole = grants.length > MOST_IN_LINK;
  const added: Partial<Choice> = isWhole
    ? { wallets: new Set([...choice.wallets, to]) }
    : { grants: new Map([...choice.grants, ...grants.map((one) => [grantIdOf(one), one] as const)]) };
  const what = isWhole ? 'everything of this wallet' : grants.length === 1 ? 'this grant' : 'these grants';
  return html`<a href="${revokePath(wallet, chainId, { ...choice, ...added })}">Revoke ${what} too</a>`;
}

function renderChain(owner: Address, chainId: number, grants: readonly Delegation[]): Html {
  const wallets = new Set(grants.map(({ to }) => to));
  const them = wallets.size === 1 ? 'the same wallet' : 'the same wallets';
  return html`<p class="notice trouble">On ${chainName(chainId)}, ${countText(grants.length, 'grant')} to ${them} ${grants.length === 1 ? 'stays' : 'stay'}. A transaction counts on one chain only. <a href="${revokePath(owner, chainId, wallets.size > MOST_WALLETS ? {} : { wallets })}">Revoke on ${chainName(chainId)}</a></p>`;
}
