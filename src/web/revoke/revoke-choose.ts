// Renders what an owner chooses from: the chain, and the grants on it.

import { checksummed } from '../../registry/checksum.ts';
import type { Address } from '../../registry/delegation.ts';
import { type FetchApi, Refusal } from '../ask-api.ts';
import { grantIdOf } from '../grant-id.ts';
import { oldBadge, RISK_ORDER, RISK_TEXTS, riskOf } from '../grant-risk.ts';
import { grantText } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { chainName, copyButton, countText, notice } from '../parts.ts';
import { fullAddress } from '../sending/transactions.ts';
import { noLimitBadge } from '../wallet/grant-cells.ts';
import { renderUnknown } from '../wallet/wallet-states.ts';
import {
  type DatedGrant,
  type GrantPage,
  isUnlimited,
  readGrants,
  readUnlimited,
  unlimitedFirst,
  worstFirst,
} from './outgoing-grants.ts';
import { type Choice, revokePath } from './revoke-query.ts';

/** The ids of all of them fit into a URL. */
const PAGE_SIZE = 25;
/** On each chain, for its card. */
const MOST_COUNTED = 200;

export const walletForm = (walletText: string): Html => html`<form class="panel" action="/revoke" method="get">
<label>Your wallet<input name="wallet" value="${walletText}" placeholder="0x…, the wallet that granted" required autocomplete="off" spellcheck="false"></label>
<button>Show its grants</button></form>`;

interface FoundChain {
  readonly chainId: number;
  readonly page: GrantPage | Refusal;
  /** Of the page, those that can be meant. */
  readonly grants: readonly DatedGrant[];
}

/** The first grants on each chain, and of those to wallets that were named only these. */
export const findChains = (
  { wallet, wallets }: Choice & { readonly wallet: Address },
  chainIds: readonly number[],
  fetchApi: FetchApi,
): Promise<FoundChain[]> =>
  Promise.all(
    chainIds.map(async (chainId) => {
      const page = await readGrants(wallet, chainId, fetchApi, { limit: MOST_COUNTED });
      const grants = page instanceof Refusal ? [] : page.grants;
      return { chainId, page, grants: wallets.size === 0 ? grants : grants.filter(({ to }) => wallets.has(to)) };
    }),
  );

const hasMore = ({ page }: FoundChain) => !(page instanceof Refusal) && page.next !== null;
const hasGrants = (found: FoundChain) => found.grants.length > 0 || hasMore(found);
const whyUnknown = ({ page }: FoundChain) => (page instanceof Refusal ? page.text : page.indexedFrom);

/** The chain of all grants, if there is one and nothing else is unknown. */
export function onlyChain(found: readonly FoundChain[]): number | null {
  const granted = found.filter(hasGrants);
  const isKnown = found.every((one) => whyUnknown(one) === null);
  return granted.length === 1 && (isKnown || found.length === 1) ? (granted[0]?.chainId ?? null) : null;
}

/** A card for each chain: how much was granted there, and what of it is the most dangerous. */
export function renderChains(query: Choice & { readonly wallet: Address }, found: readonly FoundChain[]): Html {
  const missing = found.map((one) => renderUnknown(one.chainId, whyUnknown(one)));
  const granted = found.filter(hasGrants);
  const isKnown = found.every((one) => whyUnknown(one) === null);
  if (granted.length === 0) return html`${missing}${renderNone(isKnown, 'on any chain of this service')}`;
  return html`${missing}<h2>Choose a chain</h2><p class="lead">This wallet granted something on ${countText(granted.length, 'chain')}. A transaction counts on one chain only.</p>${granted.length > 1 && renderAllChains(query, granted)}
<ul class="cards">${granted.map((one) => renderChainCard(query, one))}</ul>`;
}

/** One page for all chains: the wallet is asked to switch between them. */
function renderAllChains({ wallet, wallets }: Choice & { readonly wallet: Address }, granted: readonly FoundChain[]) {
  const ids = granted.map(({ chainId }) => chainId).join();
  const isNamed = wallets.size > 0;
  const all = revokePath(wallet, ids, isNamed ? { wallets } : { everything: true });
  return html`<p class="actions"><a class="button danger" href="${all}">Revoke ${isNamed ? 'all of it' : 'everything'} on ${countText(granted.length, 'chain')}</a></p>`;
}

function renderChainCard({ wallet, wallets: named }: Choice & { readonly wallet: Address }, found: FoundChain): Html {
  const { chainId, grants } = found;
  const name = chainName(chainId);
  const worst = Math.min(...grants.map((grant) => riskOf(grant, grant.kind)));
  const wallets = countText(new Set(grants.map(({ to }) => to)).size, 'wallet');
  const counts =
    grants.length > 0 &&
    html`${countText(grants.length, 'grant')} to ${wallets}. At worst: <strong${worst === 0 && html` class="danger"`}>${RISK_TEXTS[worst]}</strong>.`;
  const more =
    hasMore(found) &&
    ` ${grants.length > 0 ? 'There are more, which may be worse.' : 'It has too many grants to look at all of them here.'}`;
  const isPartial = !(found.page instanceof Refusal) && found.page.indexedFrom !== null;
  const isNamed = named.size > 0;
  const all = revokePath(wallet, chainId, isNamed ? { wallets: named } : { everything: true });
  return html`<li class="card"><h3>${name}</h3><p>${counts}${more}${isPartial && ' Earlier grants are unknown, and may be worse.'}</p>
<div class="actions"><a class="button danger" href="${all}">Revoke ${isNamed ? 'all of it' : 'everything'} on ${name}</a><a href="${revokePath(wallet, chainId)}">Choose on ${name}</a></div></li>`;
}

/** Nothing was found, which means something only if everything was read. */
const renderNone = (isKnown: boolean, where: string): Html =>
  html`<p class="empty">${
    isKnown
      ? `No wallet may act for this wallet ${where}. There is nothing to revoke.`
      : `No grant from this wallet was found ${where}, but not everything could be read: somebody may still act for it.`
  }</p>`;

/** The grants of the wallet on the chain, to tick. */
export async function renderGrants(
  wallet: Address,
  chainId: number,
  now: number,
  fetchApi: FetchApi,
  cursor?: string,
): Promise<Html> {
  const page = await readGrants(wallet, chainId, fetchApi, { limit: PAGE_SIZE, cursor });
  const name = chainName(chainId);
  if (page instanceof Refusal) return notice(`The grants on ${name} cannot be listed: ${page.text}`);
  const { block, next, indexedFrom } = page;
  const unlimited = cursor === undefined && next !== null ? await readUnlimited(wallet, chainId, fetchApi) : NO_MORE;
  const first = unlimited instanceof Refusal ? [] : unlimited.grants.filter(isUnlimited);
  const known = new Set(first.map(grantIdOf));
  const rest = page.grants.filter((grant) => !known.has(grantIdOf(grant)));
  const isWhole = cursor === undefined && next === null;
  const grants = isWhole ? worstFirst(rest) : unlimitedFirst([...first, ...rest]);
  const following = next !== null && html`<p><a href="${revokePath(wallet, chainId, {}, next)}">More grants</a></p>`;
  const asOf = html`<p class="soft">As of block ${block}.</p>`;
  const missing = renderUnknown(chainId, indexedFrom);
  if (grants.length === 0)
    return html`${missing}${cursor === undefined ? renderNone(indexedFrom === null, `on ${name}`) : html`<p class="empty">No grants on this page.</p>`}${following}${asOf}`;
  return html`${missing}${renderMoreUnlimited(wallet, chainId, unlimited)}<h2>Who may act for you on ${name}</h2>
<p class="actions"><a class="button danger" href="${revokePath(wallet, chainId, { everything: true })}">Revoke everything on ${name}</a></p>
<p class="soft">${isWhole ? RISK_ORDER : 'Wallets without any limit first, then by registry, the oldest first.'}</p>
<form class="stack choose" action="/revoke" method="get"><input type="hidden" name="wallet" value="${checksummed(wallet)}"><input type="hidden" name="chain" value="${chainId}">
${[...Map.groupBy(grants, ({ to }) => to)].map(([to, its]) => renderWallet(wallet, chainId, to, its, now))}
<button name="selected" value="yes">Revoke selected</button></form>
<p class="soft">Nothing is sent yet: the next page says what the transaction ends.</p>
${grants.some(({ version }) => version === 1) && html`<p><a href="${revokePath(wallet, chainId, { allOfV1: true })}">End everything in registry v1 with one transaction</a></p>`}
${following}${asOf}`;
}

const NO_MORE: { readonly grants: readonly DatedGrant[]; readonly hasMore: boolean } = { grants: [], hasMore: false };

function renderMoreUnlimited(wallet: Address, chainId: number, unlimited: Refusal | typeof NO_MORE): Html | null {
  if (unlimited instanceof Refusal) return notice(`Which wallets have no limit could not be read: ${unlimited.text}`);
  const all = `/?wallet=${checksummed(wallet)}&chain=${chainId}&direction=outgoing&unlimited=yes`;
  return unlimited.hasMore
    ? html`<p class="notice trouble" role="status">More wallets have no limit than are listed first here. <a href="${all}">Show all of them</a></p>`
    : null;
}

function renderWallet(owner: Address, chainId: number, to: Address, grants: readonly DatedGrant[], now: number): Html {
  const all = revokePath(owner, chainId, { wallets: new Set([to]) });
  return html`<fieldset class="card"><legend>${fullAddress(to)} ${copyButton(checksummed(to), 'the address')}${to === owner && html` <span class="badge">this wallet itself</span>`}</legend>
${grants.map((grant) => html`<label class="choice"><input type="checkbox" name="grant" value="${grantIdOf(grant)}"><span>${grantText(grant)}${isUnlimited(grant) && html` ${noLimitBadge(true)}`} ${oldBadge(grant.since, now)}</span></label>`)}
<p><a href="${all}">Revoke everything of this wallet</a></p></fieldset>`;
}
