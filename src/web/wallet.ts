// Renders what a wallet has granted, and what was granted to it.

import { Fault, readAddress } from '../api/params.ts';
import { problemText } from '../api/problems.ts';
import { coldWalletOf, type DelegationRecord, hotWalletOf } from '../api/responses.ts';
import { type ListOptions, listUrl } from '../api/url.ts';
import { checksummed } from '../registry/checksum.ts';
import { NETWORKS } from '../registry/network.ts';
import { rightsLabel } from '../registry/rights.ts';
import { ALL_VERSIONS, type Version } from '../registry/versions.ts';
import { dateText, describeScope, walletLink } from './delegation.ts';
import { type ExplorerQuery, type FetchApi, pointInTime } from './explorer-query.ts';
import { renderGraph } from './graph.ts';
import { type Html, html } from './html.ts';
import { notice } from './notice.ts';

/** Delegations shown per list: on a single chain, and when all chains are shown. */
const LIST_SIZE = 200;
const LIST_SIZE_ALL_CHAINS = 25;

interface WalletList {
  readonly chainId: number;
  readonly version: Version;
  readonly outgoing: ListSide;
  readonly incoming: ListSide;
}

/** The outgoing or incoming delegations of a wallet. */
interface ListSide {
  readonly delegations: readonly DelegationRecord[];
  readonly isComplete: boolean;
  readonly block: string;
  readonly error: string | null;
}

export async function renderWallet(text: string, query: ExplorerQuery, fetchApi: FetchApi): Promise<Html> {
  const address = readAddress(text);
  if (address instanceof Fault) return notice(`The wallet ${address.detail}.`);
  const wallet = checksummed(address);
  const { values, chainIds } = query;
  const chosen = values.get('chain') ?? '';
  const chains = chosen === '' ? chainIds : chainIds.filter((id) => String(id) === chosen);
  if (chains.length === 0)
    return notice(
      chosen === '' ? 'This service follows no chains yet.' : `This service does not follow chain ${chosen}.`,
    );
  const when = pointInTime(values.get('asOf'));
  const lists: WalletList[] = [];
  // One by one, yielding to other requests in between: there can be many lists.
  for (const chainId of chains) {
    for (const version of ALL_VERSIONS.toReversed()) {
      if (NETWORKS.get(chainId)?.registries[version] === undefined) continue;
      const options = { chainId, limit: chosen === '' ? LIST_SIZE_ALL_CHAINS : LIST_SIZE, ...when };
      const side = (direction: string) => fetchSide(version, wallet, { ...options, direction }, fetchApi);
      lists.push({ chainId, version, outgoing: await side('outgoing'), incoming: await side('incoming') });
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
  const hasSomething = ({ delegations, error, isComplete }: ListSide) =>
    delegations.length > 0 || error !== null || !isComplete;
  const found = lists.filter(({ outgoing, incoming }) => hasSomething(outgoing) || hasSomething(incoming));
  const heading = html`<h2>${wallet}</h2>`;
  if (found.length === 0) {
    const where = chosen === '' ? 'on any chain of this service' : `on ${NETWORKS.get(Number(chosen))?.name ?? chosen}`;
    return html`${heading}<p class="empty">No delegations from or to this wallet ${where}.</p>`;
  }
  const all = found.flatMap(({ outgoing, incoming }) => [...outgoing.delegations, ...incoming.delegations]);
  return html`${heading}${renderGraph(wallet, all)}${found.map(renderList)}`;
}

async function fetchSide(
  version: Version,
  wallet: string,
  options: ListOptions,
  fetchApi: FetchApi,
): Promise<ListSide> {
  const response = await fetchApi(listUrl(version, wallet, { detail: 'full', numbers: 'string', ...options }));
  const block = response.headers.get('x-block-number') ?? '';
  if (!response.ok) return { block, delegations: [], isComplete: true, error: await problemText(response) };
  const delegations = (await response.json()) as DelegationRecord[];
  return { block, delegations, isComplete: !response.headers.has('link'), error: null };
}

function renderList({ chainId, version, outgoing, incoming }: WalletList): Html {
  const name = NETWORKS.get(chainId)?.name ?? String(chainId);
  const block = outgoing.block === '' ? '' : html`, at block ${outgoing.block}`;
  const title = html`<h3>${name} <span class="soft">registry v${version}${block}</span></h3>`;
  if (outgoing.error !== null) return html`${title}${notice(outgoing.error)}`;
  return html`${title}${renderTable('May act for it', outgoing, hotWalletOf, chainId)}${renderTable('It may act for', incoming, coldWalletOf, chainId)}`;
}

function renderTable(
  caption: string,
  { delegations, isComplete, error }: ListSide,
  other: (one: DelegationRecord) => string,
  chainId: number,
): Html {
  if (error !== null) return notice(error);
  const more = isComplete
    ? html``
    : html`<p class="soft">Not all are shown: select a chain to see up to ${LIST_SIZE}, or use <a href="/docs#lists">the API</a>.</p>`;
  if (delegations.length === 0) return more;
  const cells = delegations.map((one) => {
    const right = rightsLabel(one.rights, dateText);
    return html`<tr><td>${walletLink(other(one), `&chain=${chainId}`)}</td><td>${describeScope(one)}</td><td>${right === null ? html`<span class="soft">any</span>` : html`<span class="right">only “${right}”</span>`}</td><td>${dateText(one.since.timestamp)}<br><span class="soft">block ${one.since.block}</span></td></tr>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr><th scope="col">Wallet</th><th scope="col">What</th><th scope="col">Rights</th><th scope="col">Since</th></tr></thead><tbody>${cells}</tbody></table></div>${more}`;
}
