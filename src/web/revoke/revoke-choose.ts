// Renders what an owner chooses from: the chain, and the grants on it.

import { checksummed } from '../../registry/checksum.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import { type FetchApi, Refusal } from '../ask-api.ts';
import { grantIdOf } from '../grant-id.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { chainName, copyButton, countText, notice } from '../parts.ts';
import { noLimitBadge } from '../wallet/grant-cells.ts';
import { renderUnknown } from '../wallet/wallet-states.ts';
import { type GrantPage, isUnlimited, readGrants, readUnlimited, unlimitedFirst } from './outgoing-grants.ts';
import { fullAddress } from './revoke-plan.ts';
import { revokePath } from './revoke-query.ts';

/** The ids of all of them fit into a URL. */
const PAGE_SIZE = 25;

export const walletForm = (walletText: string): Html => html`<form class="panel" action="/revoke" method="get">
<label>Your wallet<input name="wallet" value="${walletText}" placeholder="0x…, the wallet that granted" required autocomplete="off" spellcheck="false"></label>
<button>Show its grants</button></form>`;

/** The chains on which the wallet has granted something. If it is one chain, the grants on it. */
export async function renderChains(wallet: Address, chainIds: readonly number[], fetchApi: FetchApi): Promise<Html> {
  const found = await Promise.all(
    chainIds.map(async (chainId) => ({ chainId, page: await readGrants(wallet, chainId, fetchApi, { limit: 1 }) })),
  );
  const hasGrants = (page: GrantPage | Refusal) =>
    !(page instanceof Refusal) && (page.grants.length > 0 || page.next !== null);
  const granted = found.filter(({ page }) => hasGrants(page));
  const isKnown = found.every(({ page }) => whyUnknown(page) === null);
  const [only] = granted;
  if (only !== undefined && granted.length === 1 && (isKnown || found.length === 1))
    return renderGrants(wallet, only.chainId, fetchApi);
  const missing = found.map(({ chainId, page }) => renderUnknown(chainId, whyUnknown(page)));
  if (granted.length === 0) return html`${missing}${renderNone(isKnown, 'on any chain of this service')}`;
  return html`${missing}<h2>Choose a chain</h2><p class="lead">This wallet granted something on ${countText(granted.length, 'chain')}. A transaction counts on one chain only.</p>
<ul class="cards">${granted.map(({ chainId }) => html`<li><a class="card" href="${revokePath(wallet, chainId)}">${chainName(chainId)}</a></li>`)}</ul>`;
}

const whyUnknown = (page: GrantPage | Refusal) => (page instanceof Refusal ? page.text : page.indexedFrom);

/** Nothing was found, which means something only if everything was read. */
const renderNone = (isKnown: boolean, where: string): Html =>
  html`<p class="empty">${
    isKnown
      ? `No wallet may act for this wallet ${where}. There is nothing to revoke.`
      : `No grant from this wallet was found ${where}, but not everything could be read: somebody may still act for it.`
  }</p>`;

/** The grants of the wallet on the chain, to tick. */
export async function renderGrants(wallet: Address, chainId: number, fetchApi: FetchApi, cursor?: string) {
  const page = await readGrants(wallet, chainId, fetchApi, { limit: PAGE_SIZE, cursor });
  const name = chainName(chainId);
  if (page instanceof Refusal) return notice(`The grants on ${name} cannot be listed: ${page.text}`);
  const { block, next, indexedFrom } = page;
  const unlimited = cursor === undefined && next !== null ? await readUnlimited(wallet, chainId, fetchApi) : NO_MORE;
  const first = unlimited instanceof Refusal ? [] : unlimited.grants.filter(isUnlimited);
  const known = new Set(first.map(grantIdOf));
  const rest = page.grants.filter((grant) => !known.has(grantIdOf(grant)));
  const grants = unlimitedFirst([...first, ...rest]);
  const following = next !== null && html`<p><a href="${revokePath(wallet, chainId, {}, next)}">More grants</a></p>`;
  const asOf = html`<p class="soft">As of block ${block}.</p>`;
  const missing = renderUnknown(chainId, indexedFrom);
  if (grants.length === 0)
    return html`${missing}${cursor === undefined ? renderNone(indexedFrom === null, `on ${name}`) : html`<p class="empty">No grants on this page.</p>`}${following}${asOf}`;
  return html`${missing}${renderMoreUnlimited(wallet, chainId, unlimited)}<h2>Who may act for you on ${name}</h2>
<p class="soft">Wallets without any limit first, then by registry, the oldest first.</p>
<form class="stack choose" action="/revoke" method="get"><input type="hidden" name="wallet" value="${checksummed(wallet)}"><input type="hidden" name="chain" value="${chainId}">
${[...Map.groupBy(grants, ({ to }) => to)].map(([to, its]) => renderWallet(wallet, chainId, to, its))}
<button name="selected" value="yes">Revoke selected</button></form>
<p class="soft">Nothing is sent yet: the next page says what the transaction ends.</p>
${grants.some(({ version }) => version === 1) && html`<p><a href="${revokePath(wallet, chainId, { allOfV1: true })}">End everything in registry v1 with one transaction</a></p>`}
${following}${asOf}`;
}

const NO_MORE: { readonly grants: readonly Delegation[]; readonly hasMore: boolean } = { grants: [], hasMore: false };

function renderMoreUnlimited(wallet: Address, chainId: number, unlimited: Refusal | typeof NO_MORE): Html | null {
  if (unlimited instanceof Refusal) return notice(`Which wallets have no limit could not be read: ${unlimited.text}`);
  const all = `/?wallet=${checksummed(wallet)}&chain=${chainId}&direction=outgoing&unlimited=yes`;
  return unlimited.hasMore
    ? html`<p class="notice trouble" role="status">More wallets have no limit than are listed first here. <a href="${all}">Show all of them</a></p>`
    : null;
}

function renderWallet(owner: Address, chainId: number, to: Address, grants: readonly Delegation[]): Html {
  const all = revokePath(owner, chainId, { wallets: new Set([to]) });
  return html`<fieldset class="card"><legend>${fullAddress(to)} ${copyButton(checksummed(to), 'the address')}${to === owner && html` <span class="badge">this wallet itself</span>`}</legend>
${grants.map((grant) => html`<label class="choice"><input type="checkbox" name="grant" value="${grantIdOf(grant)}"><span>${grantText(grant)}${isUnlimited(grant) && html` ${noLimitBadge(true)}`}</span></label>`)}
<p><a href="${all}">Revoke everything of this wallet</a></p></fieldset>`;
}
