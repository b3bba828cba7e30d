// Renders a revocation: the transactions that end grants, in words and as they go to the wallet, and what they do not end.

import { checksummed } from '../../registry/checksum.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import type { Revocation } from '../../registry/revocation.ts';
import { grantIdOf } from '../grant-id.ts';
import { grantText, powerText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { chainName, countText, shortAddress } from '../parts.ts';
import { fullAddress, renderChanges, renderTransactions } from '../sending/transactions.ts';
import { type OtherChains, unlimitedFirst } from './outgoing-grants.ts';
import { type Choice, type RevokeQuery, revokePath } from './revoke-query.ts';
import type { Selection } from './revoke-selection.ts';

export const renderRevocations = (
  plan: readonly Revocation[],
  chainId: number,
  counted: readonly [before: number, all: number],
): Html =>
  renderTransactions(
    plan,
    chainId,
    (one) => html`${renderChanges(one.ends, 'will no longer be', (grant) => grantText(grant))}${wholeWarning(one)}`,
    [...counted],
  );

/** Two calls of v1 end more than what they name. */
function wholeWarning({ calls }: Revocation): Html | null {
  const name = calls[0]?.[2];
  if (name !== 'revokeDelegate' && name !== 'revokeAllDelegates') return null;
  const who = name === 'revokeDelegate' ? 'everything this wallet may do' : 'every grant that you ever made';
  return html`<p class="notice trouble">This call ends <strong>${who} in registry v1</strong> on this chain, also what you grant there before it is mined.</p>`;
}

export interface OfOwner extends RevokeQuery {
  readonly wallet: Address;
}

/** What is asked of one chain. */
export interface Asked extends OfOwner {
  readonly chainId: number;
}

/** Per wallet. */
const MOST_KEPT = 20;

/** What the revocation does not end on its chain: above all, what lets the same wallet go on. */
export function renderKept(asked: Asked, { kept, same, others, indexedFrom }: Selection): Html {
  const isSame = new Set(same);
  const wallets = (areTheSame: boolean) => {
    const grants = kept.filter((grant) => isSame.has(grant) === areTheSame);
    return [...Map.groupBy(grants, ({ to }) => to)].map(([to, its]) => renderKeptOf(asked, to, its, areTheSame));
  };
  const name = chainName(asked.chainId);
  return html`${wallets(true)}
${wallets(false)}
${indexedFrom !== null && html`<p class="notice trouble">This service knows the grants on ${name} since block ${indexedFrom}. Older grants are not listed and may stay.</p>`}
${others > 0 && html`<p>${countText(others, 'further grant')} of your wallet on ${name} ${others === 1 ? 'stays as it is' : 'stay as they are'}.</p>`}`;
}

export const NEVER_ENDED = html`<ul><li>What these wallets have already done stays done.</li>
<li>Token approvals are not delegations: allowances that you gave to apps stay.</li></ul>`;

/** On the other chains. */
export const renderElsewhere = (asked: OfOwner, { grants, unread }: OtherChains): Html =>
  html`${[...grants].map(([chainId, its]) => renderChain(asked, chainId, its))}
${unread.length > 0 && html`<p class="notice trouble">Not read: ${unread.map(chainName).join(', ')}. Whether ${asked.everything ? 'any wallet' : 'these wallets'} may act for you there is not known here.</p>`}`;

/** After a revocation: how much is left on this chain, and whether any of it has no limit. */
export function renderLeft({ wallet, chainId }: Asked, { kept, others, worst, indexedFrom }: Selection): Html | null {
  if (indexedFrom !== null) return null;
  const count = others + kept.length;
  const name = chainName(chainId);
  if (count === 0) return html`<p>No grant of your wallet is left on ${name}.</p>`;
  const left = `${countText(count, 'grant')} of your wallet ${count === 1 ? 'is' : 'are'} left on ${name}`;
  if (worst > 0) return html`<p>${left}, none without limit.</p>`;
  return html`<p class="notice trouble">${left}, <strong>not all within limits</strong>. <a class="button danger small" href="${revokePath(wallet, chainId, { everything: true })}">Revoke everything on ${name}</a></p>`;
}

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

function renderChain({ wallet, everything }: OfOwner, chainId: number, grants: readonly Delegation[]): Html {
  const wallets = new Set(grants.map(({ to }) => to));
  const them = everything
    ? countText(wallets.size, 'wallet')
    : wallets.size === 1
      ? 'the same wallet'
      : 'the same wallets';
  const choice = everything ? { everything } : wallets.size > MOST_WALLETS ? {} : { wallets };
  return html`<p class="notice trouble">On ${chainName(chainId)}, ${countText(grants.length, 'grant')} to ${them} ${grants.length === 1 ? 'stays' : 'stay'}. A transaction counts on one chain only. <a href="${revokePath(wallet, chainId, choice)}">Revoke on ${chainName(chainId)}</a></p>`;
}
