// Renders the page of a wallet, below the search form: who may act for it, for whom it may act, and what was before.

import { Fault, readAddress } from '../../api/params.ts';
import { shorten } from '../../api/query.ts';
import { checksummed } from '../../registry/checksum.ts';
import { addressFault } from '../address-input.ts';
import { type FetchApi, Refusal } from '../ask-api.ts';
import { type ExplorerQuery, pointInTimeFault } from '../explorer/explorer-query.ts';
import { grantFormPath } from '../grant/grant-query.ts';
import { RISK_ORDER } from '../grant-risk.ts';
import { type Html, html } from '../html.ts';
import { walletName } from '../names/name-slots.ts';
import { namingForm } from '../names/naming-form.ts';
import { chainName, copyButton, navigationLink, notice } from '../parts.ts';
import { renderGraph } from './graph.ts';
import { renderHotWallets } from './hot-wallets.ts';
import { renderIdenticon } from './identicon.ts';
import { pageOf, renderFilters, renderPager } from './wallet-controls.ts';
import { renderExclusive } from './wallet-exclusive.ts';
import { renderHistory } from './wallet-history.ts';
import { listRows, loadGrants, type WalletGrants } from './wallet-reader.ts';
import { isEverythingKnown, renderBlocks, renderMissing, renderPast, renderRefusal } from './wallet-states.ts';
import { renderSummary } from './wallet-summary.ts';
import { renderTable, restLinks } from './wallet-table.ts';
import { DIRECTIONS, readWalletView, type WalletView, walletUrl } from './wallet-view.ts';

export async function renderWallet(text: string, query: ExplorerQuery, fetchApi: FetchApi): Promise<Html> {
  const address = readAddress(text);
  if (address instanceof Fault) return html`<h1>This is not an address</h1>${notice(addressFault(text) ?? '')}`;
  const view = readWalletView(checksummed(address), query);
  const fault = faultOf(view);
  if (fault !== null) return html`${renderHeader(view)}${fault}`;
  if (view.isHistory) return html`${renderHeader(view)}${renderPast(view)}${await renderHistory(view, fetchApi)}`;
  const grants = await loadGrants(view, fetchApi);
  if (grants instanceof Refusal) return html`${renderHeader(view)}${renderRefusal(view, grants)}`;
  return html`${renderHeader(view)}${renderPast(view)}${await renderNow(view, grants, fetchApi)}`;
}

/** What cannot be asked at all, and what can be instead. */
function faultOf(view: WalletView): Html | null {
  const { chain, chainIds, asOf, now } = view;
  if (chainIds.length === 0 && chain === '') return notice('This service follows no chains yet.');
  if (chainIds.length === 0)
    return html`<p class="notice trouble" role="status">This service does not follow ${/^\d{1,15}$/.test(chain) ? chainName(Number(chain)) : `the chain “${shorten(chain)}”`}. <a href="${walletUrl(view, { chain: '' })}">Show all chains</a></p>`;
  const fault =
    chainIds.length > 1 && /^\d+$/.test(asOf)
      ? 'A block number belongs to one chain. Choose a chain, or give a date instead of a block.'
      : pointInTimeFault(asOf, now);
  return fault === null ? null : notice(fault);
}

function renderHeader(view: WalletView): Html {
  const tab = (text: string, isHistory: boolean) =>
    navigationLink(walletUrl(view, { isHistory }), text, view.isHistory === isHistory);
  return html`<div class="wallet-head">${renderIdenticon(view.wallet)}<div><h1 class="address">${view.wallet}</h1>${copyButton(view.wallet, 'the address of this wallet')} ${walletName(view.wallet)}</div></div>
${namingForm(view.wallet)}
<div class="flow tabs" role="navigation" aria-label="Views of this wallet">${tab('Grants', false)}${tab('History', true)}</div>`;
}

async function renderNow(view: WalletView, grants: WalletGrants, fetchApi: FetchApi): Promise<Html> {
  const { chains, sides } = grants;
  const listing = await listRows(view, grants, fetchApi);
  // A wallet that is too long to be read at once does not refresh itself either.
  const isLong = sides.outgoing.next !== null || sides.incoming.next !== null;
  const part = (name: string) => !isLong && html` data-part="${name}"`;
  const hasGrants = sides.outgoing.grants.length + sides.incoming.grants.length > 0 || isLong;
  const isEmpty = !hasGrants && isEverythingKnown(chains);
  return html`<div${part('summary')}>${renderMissing(chains)}${renderSummary(view, grants)}${await renderExclusive(view, grants, fetchApi)}${renderHotWallets(view, sides.outgoing)}${view.asOf === '' && html`<p class="list-links"><a href="${grantFormPath(view.wallet, view.chain)}">Grant access from this wallet …</a></p>`}</div>
<div${part('graph')}>${renderGraph(view.wallet, allRows(sides), !isLong)}</div>
${hasGrants && html`<h2 id="grants">Grants</h2>${renderFilters(view, !(listing instanceof Refusal) && listing.isPart)}`}
<div${part('rows')}>${hasGrants ? renderList(view, listing) : isEmpty && renderEmpty(view)}</div>
<div${part('blocks')}>${renderBlocks(chains)}</div>`;
}

const allRows = (sides: WalletGrants['sides']) =>
  DIRECTIONS.flatMap((direction) => sides[direction].grants.map((grant) => ({ direction, grant })));

const renderEmpty = ({ asOf, chain }: WalletView): Html =>
  html`<p class="empty">No delegations from or to this wallet ${asOf === '' ? '' : 'then '}${chain === '' ? 'on any chain of this service' : 'on this chain'}.</p>`;

type List = Exclude<Awaited<ReturnType<typeof listRows>>, Refusal>;

function renderList(view: WalletView, listing: List | Refusal): Html {
  if (listing instanceof Refusal) return renderRefusal(view, listing);
  const { rows } = listing;
  const page = pageOf(rows, view.page);
  const several = view.asOf === '' && rows.some(({ direction }) => direction === 'outgoing');
  const revoke = `/revoke?wallet=${view.wallet}${view.chain === '' ? '' : `&chain=${view.chain}`}`;
  const links = html`<div class="actions list-links"><a href="${walletUrl(view, {}, '/wallet.csv')}">Download as CSV</a>${several && html`<a href="${revoke}">Revoke several …</a><a href="${revoke}&all=yes">Revoke everything …</a>`}</div>`;
  const isByRisk = view.order === 'risk' && !listing.isPart && rows.length > 1;
  const table =
    rows.length === 0
      ? html`<p class="empty">No grants match these filters${listing.rest.length === 0 ? '' : ' so far'}.</p>`
      : renderTable(view, page.rows);
  return html`${links}${renderRest(view, listing)}${isByRisk && html`<p class="soft">${RISK_ORDER}</p>`}${table}${renderPager(page, (to) => walletUrl(view, { page: to, cursor: view.cursor }))}`;
}

/** Says which grants were read and in which order they are, and leads to those that were not. */
function renderRest(view: WalletView, { rows, rest, isPart }: List): Html | null {
  if (!isPart) return null;
  const isFiltered = view.kind !== null || view.isUnlimitedOnly;
  const count = rows.length.toLocaleString('en');
  const read = isFiltered
    ? `Only a part of them was searched for this page: ${count} ${rows.length === 1 ? 'matches' : 'match'} so far,`
    : `${count} were read for this page:`;
  const order = view.isUnlimitedOnly
    ? 'in the order of their addresses'
    : 'those without any limit first, then the others by chain and registry, the oldest first';
  const first = view.cursor !== '' && html` <a href="${walletUrl(view)}#grants">Back to the beginning</a>`;
  return html`<p class="notice">This wallet has very many grants. ${read} ${order}.${first}${restLinks(view, rest, 'Next grants')}</p>`;
}
