// Renders the page at /grant, where an owner lets another wallet act. The page prepares transactions; the owner's own wallet signs and
// sends them. Without JavaScript, it shows them to copy.

import { checksummed } from '../../registry/checksum.ts';
import { type Address, type Delegation, delegationId, MAX_UINT256, NO_RIGHTS } from '../../registry/delegation.ts';
import { dayText } from '../../registry/expiry-text.ts';
import { planGrants } from '../../registry/granting.ts';
import { decodeRights, GLOBAL_ID, rightsIdOf, rightsLabel } from '../../registry/rights.ts';
import { type FetchApi, Refusal } from '../ask-api.ts';
import { grantIdOf } from '../grant-id.ts';
import { riskOf } from '../grant-risk.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { renderPage } from '../page.ts';
import { chainName, notice } from '../parts.ts';
import { changesUrl, headUrl } from '../revoke/outgoing-grants.ts';
import { revokePath } from '../revoke/revoke-query.ts';
import { type Selection, selectGrants } from '../revoke/revoke-selection.ts';
import {
  fullAddress,
  renderChanges,
  renderOwner,
  renderSend,
  renderState,
  renderTransactions,
} from '../sending/transactions.ts';
import { renderForm } from './grant-form.ts';
import { FIELDS, type GrantQuery, readGrantQuery } from './grant-query.ts';

/** `now` in Unix seconds. */
export async function renderGrant(
  queryText: string,
  chainIds: readonly number[],
  now: number,
  fetchApi: FetchApi,
): Promise<string> {
  const query = readGrantQuery(queryText, chainIds, now);
  const faults = query.faults.map(({ parameter, detail }) => notice(`${parameter} ${detail}`));
  return renderPage(
    { title: 'Grant access', path: '/grant', styles: ['/revoke.css'], scripts: ['/labels.js', '/send.js'] },
    html`<h1>Grant access</h1>${faults}${await renderContent(query, now, fetchApi)}`,
  );
}

/** A link to this page can come from anybody, with a wallet of theirs in it. */
const COMPARED = html`I compared every wallet above with the address that it shows itself. Anybody can make a link to this page.`;

const LEAD = html`<p class="lead">Let a hot wallet act for yours, so that yours can stay offline. You sign and send the transaction with your own wallet.</p>`;

async function renderContent(query: GrantQuery, now: number, fetchApi: FetchApi): Promise<Html> {
  const { wallet, chainId, grants } = query;
  if (wallet === null || chainId === null || grants.length === 0) return html`${LEAD}${renderForm(query)}`;
  return html`${renderOwner(wallet)}${await renderPlan({ ...query, wallet, chainId }, now, fetchApi)}`;
}

type Asked = GrantQuery & { readonly wallet: Address; readonly chainId: number };

async function renderPlan(asked: Asked, now: number, fetchApi: FetchApi): Promise<Html> {
  const { wallet, chainId } = asked;
  const name = chainName(chainId);
  // Before the grants are read: no change of them is missed.
  const changes = await changesUrl(wallet, chainId, fetchApi);
  const named = new Map(asked.grants.map((one) => [grantIdOf(one), one]));
  const choice = { grants: named, wallets: new Set<Address>(), equals: false, allOfV1: false, everything: false };
  const selection = await selectGrants(wallet, chainId, choice, fetchApi);
  if (selection instanceof Refusal)
    return notice(`Nothing was prepared, because the grants on ${name} cannot be read: ${selection.text}`);
  const { block, chosen } = selection;
  /** The same grants as they are now: an amount can differ. */
  const active = new Map(chosen.map((one) => [delegationId(one), one]));
  const open = [...named.values()].filter((one) => active.get(delegationId(one))?.amount !== one.amount);
  const state = renderState({ action: 'grant', wallet, chainId, block, changes, head: headUrl(wallet, chainId) });
  const links = renderLinks(asked);
  if (open.length === 0)
    return html`${state}<p class="notice yes" role="status"><strong>Nothing to grant.</strong> All of this is active on ${name} as of block ${block}.</p>${links}`;
  const textOf = (grant: Delegation) => {
    const before = active.get(delegationId(grant))?.amount;
    return html`${grantText(grant)}${before != null && html` <strong>instead of ${before === MAX_UINT256 ? 'any amount' : html`up to <code>${String(before)}</code>`}</strong>`}`;
  };
  return html`${state}<h2>What this allows on ${name}</h2><p class="soft">As of block ${block}.</p>
${renderTransactions(planGrants(open), chainId, (one) => renderChanges(one.grants, 'will be', textOf))}
<h2>What that means</h2>${renderMeaning(open, now)}${renderAlready(selection)}
<h2>Send it</h2>
${renderSend({ wallet: 'your wallet', until: 'the grants are active', confirm: COMPARED, afterwards: html`<p><a href="/?wallet=${checksummed(wallet)}&chain=${chainId}">See who may act for your wallet</a></p>` })}${links}`;
}

function renderLinks({ wallet, chainId, values }: Asked): Html {
  const entered = new URLSearchParams(FIELDS.map((name): [string, string] => [name, values.get(name) ?? '']));
  const change = values.has('review') && html`<a href="/grant?${String(entered)}">Change it</a>`;
  return html`<p class="flow">${change}<a href="${revokePath(wallet, chainId)}">All grants of this wallet on ${chainName(chainId)}</a></p>`;
}

/** What an owner should know before signing, each thing once. */
function renderMeaning(grants: readonly Delegation[], now: number): Html {
  const worst = Math.min(...grants.map((grant) => riskOf(grant, grant.kind)));
  const isGlobal = ({ rights }: Delegation) => rights !== null && rightsIdOf(rights) === GLOBAL_ID;
  const limited = new Set(grants.flatMap((grant) => (isGlobal(grant) ? [] : (rightsLabel(grant.rights, now) ?? []))));
  const isAnyRight = grants.some(({ rights }) => rights === null || rights === NO_RIGHTS);
  const ends = [...new Set(grants.map(({ rights }) => decodeRights(rights).expires))];
  const dates = ends.filter((end): end is number => typeof end === 'number');
  return html`${worst === 0 && html`<p class="notice trouble"><strong>This has no limit.</strong> The wallet will be able to act for everything that you have on this chain, now and later, wherever an app reads the registry. Grant a contract or a token instead if that is enough.</p>`}
${worst === 1 && html`<p class="notice trouble"><strong>The amount has no limit.</strong> It covers also what you get later.</p>`}
<ul><li>Apps that read the registry let the wallet do things in your name: claim, vote, play, sign in. Which things is up to each app.</li>
<li>The registry moves nothing: the wallet cannot transfer what you own by this alone.</li>
${[...limited].map((right) => html`<li>With the right <span class="right">“${right}”</span>, it counts only in apps that ask for this right.</li>`)}
${isAnyRight && html`<li>Without a right, it counts in every app, whatever right the app asks for.</li>`}
${dates.map((end) => html`<li>The expiry is <strong>${dayText(end)}</strong>. Only apps that read expiries count the grant, until the end of this day, UTC; all others never do. The registry does not end it: revoke it afterwards.</li>`)}
${ends.some((end) => typeof end !== 'number') && html`<li>It holds until you revoke it.</li>`}</ul>`;
}

/** What gives the same already, so that the grant may not be needed, and its end would not be enough. */
function renderAlready({ same }: Selection): Html {
  return html`${[...Map.groupBy(same, ({ to }) => to)].map(
    ([to, its]) =>
      html`<div class="notice trouble stays"><p><strong>You may not need this.</strong> ${fullAddress(to)} can do it already, because it may act for</p><ul>${its.slice(0, MOST_NAMED).map((grant) => html`<li>${grantText(grant)}</li>`)}</ul></div>`,
  )}`;
}

const MOST_NAMED = 5;
