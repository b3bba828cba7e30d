// Renders the explorer page at /: the delegations of a wallet, and a check between two wallets. The page works without
// JavaScript; a script only refreshes it.

import { Fault, readAddress } from '../api/params.ts';
import { type ParameterFault, problemText } from '../api/problems.ts';
import { coldWalletOf, type DelegationRecord, type Explanation, hotWalletOf, isGranted } from '../api/responses.ts';
import { type CheckOptions, checkUrl, type ListOptions, listUrl, type UncheckedQuestion } from '../api/url.ts';
import { checksummed } from '../registry/checksum.ts';
import { NETWORKS } from '../registry/network.ts';
import { isRightsParam, rightsLabel, rightsOf } from '../registry/rights.ts';
import { SCOPES, type Scope, type ScopeOf } from '../registry/scopes.ts';
import { ALL_VERSIONS, type Version } from '../registry/versions.ts';
import { dateText, describeScope, walletLink } from './delegation.ts';
import { renderGraph } from './graph.ts';
import { Html, html } from './html.ts';
import { renderPage } from './page.ts';

/** Sends a request to our own API. */
export type FetchApi = (path: string) => Promise<Response>;

/** The query parameters of the page. */
export const EXPLORER_FIELDS: ReadonlySet<string> = new Set([
  ...['wallet', 'chain', 'asOf'],
  ...['from', 'to', 'type', 'contract', 'tokenId', 'rights', 'chainId', 'at'],
]);

/** The parsed query of the page. */
export interface ExplorerQuery {
  readonly values: ReadonlyMap<string, string>;
  /** Parameters that were rejected. */
  readonly faults: readonly ParameterFault[];
  readonly chainIds: readonly number[];
  /** The origin of the service, for the curl example. */
  readonly origin: string;
}

/** Delegations shown per list: on a single chain, and when all chains are shown. */
const LIST_SIZE = 200;
const LIST_SIZE_ALL_CHAINS = 25;

export async function renderExplorer(query: ExplorerQuery, fetchApi: FetchApi): Promise<string> {
  const { values } = query;
  const wallet = values.get('wallet')?.trim() ?? '';
  const [answer, lists] = await Promise.all([
    renderAnswer(query, fetchApi),
    wallet === '' ? welcome() : renderWallet(wallet, query, fetchApi),
  ]);
  const title = wallet === '' ? 'Who may act for whom?' : `Delegations of ${wallet.slice(0, 10)}`;
  return renderPage(
    { title, path: '/', live: true },
    html`<h1>Who may act for whom?</h1>
<p class="lead">A cold wallet holds the assets. A hot wallet may act for it if a delegation registry says so. Paste an address to see
its delegations on every chain that this service follows.</p>
${query.faults.map(({ parameter, detail }) => notice(`${parameter} ${detail}`))}
${walletForm(query)}
<div data-part="lists">${lists}</div>
<h2 id="check">May one wallet act for another?</h2>
${checkForm(query)}
<div data-part="answer">${answer}</div>`,
  );
}

const field = (label: string, name: string, { values }: ExplorerQuery, hint = '', more = html``): Html =>
  html`<label>${label}<input name="${name}" value="${values.get(name) ?? ''}" placeholder="${hint}" autocomplete="off" spellcheck="false"${more}></label>`;

function chainField({ values, chainIds }: ExplorerQuery, name: string, anyText: string | null): Html {
  const chosen = values.get(name) ?? '';
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`;
  const chains = chainIds.map((id) => option(String(id), NETWORKS.get(id)?.name ?? String(id)));
  return html`<label>Chain<select name="${name}">${anyText === null ? '' : option('', anyText)}${chains}</select></label>`;
}

const walletForm = (query: ExplorerQuery): Html => html`<form class="panel" action="/" method="get" role="search">
${field('Wallet', 'wallet', query, '0x…', html` required`)}
<div class="row">${chainField(query, 'chain', 'All chains')}${field('As of', 'asOf', query, 'now, a block, or a date')}</div>
<button>Show</button></form>`;

function welcome(): Html {
  return html`<p class="empty">Enter a wallet above, or check two wallets below.</p>`;
}

/** The point in time as the API takes it. */
function pointInTime(text: string | undefined): Pick<CheckOptions, 'block' | 'timestamp'> {
  const when = text?.trim() ?? '';
  if (when === '' || when === 'now') return {};
  if (/^\d+$/.test(when) || when === 'finalized') return { block: when };
  return { timestamp: when };
}

const notice = (text: string, kind: 'no' | 'trouble' = 'trouble'): Html =>
  html`<p class="notice ${kind}" role="status">${text}</p>`;

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

async function renderWallet(text: string, query: ExplorerQuery, fetchApi: FetchApi): Promise<Html> {
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

/** What can be asked of the v2 registry, in words. */
const SCOPE_TEXTS: Readonly<Record<ScopeOf<2>, string>> = {
  all: 'the whole wallet',
  contract: 'a contract',
  erc721: 'an NFT (ERC-721)',
  erc20: 'tokens (ERC-20)',
  erc1155: 'tokens (ERC-1155)',
};

function checkForm(query: ExplorerQuery): Html {
  const chosen = query.values.get('type') ?? 'all';
  const scopes = Object.entries(SCOPE_TEXTS).map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`,
  );
  return html`<form class="panel" action="/#check" method="get">
${field('Hot wallet', 'to', query, '0x…, the wallet that acts')}
${field('Cold wallet', 'from', query, '0x…, the wallet it acts for')}
<div class="row"><label>For<select name="type">${scopes}</select></label>${chainField(query, 'chainId', null)}</div>
<details${chosen === 'all' && !query.values.get('rights') && !query.values.get('at') ? '' : new Html(' open')}><summary>Contract, token, rights, point in time</summary>
${field('Contract', 'contract', query, '0x…')}${field('Token id', 'tokenId', query, '42')}${field('Rights', 'rights', query, 'such as vote; empty: unrestricted only')}${field('As of', 'at', query, 'now, a block, or a date')}</details>
<button>Check</button></form>`;
}

async function renderAnswer(query: ExplorerQuery, fetchApi: FetchApi): Promise<Html> {
  const { values, origin } = query;
  const value = (name: string) => values.get(name)?.trim() ?? '';
  if (value('from') === '' && value('to') === '') return html``;
  const type = value('type');
  const scope = Object.hasOwn(SCOPE_TEXTS, type) ? (type as ScopeOf<2>) : 'all';
  const { needsContract, needsTokenId } = SCOPES[scope];
  const rights = value('rights');
  const question: UncheckedQuestion = {
    version: 2,
    scope,
    to: value('to'),
    from: value('from'),
    contract: needsContract ? value('contract') : undefined,
    tokenId: needsTokenId ? value('tokenId') : undefined,
    // The API refuses an invalid right.
    rights: rights === '' ? undefined : isRightsParam(rights) ? rights : (rightsOf(rights) ?? rights),
  };
  const options = { chainId: value('chainId') || undefined, ...pointInTime(value('at')) };
  const line = html`<pre><code>curl '${origin}${checkUrl(question, options)}'</code></pre>`;
  const response = await fetchApi(checkUrl(question, { ...options, explain: 'true', numbers: 'string' }));
  if (!response.ok) return html`${notice(await problemText(response))}${line}`;
  const explained = (await response.json()) as Explanation;
  const { result, delegations, block } = explained;
  const older = await checkV1(question, options, fetchApi);
  const mayAct = isGranted(explained) || older;
  const when = `at block ${block.number}${block.timestamp === null ? '' : `, ${dateText(block.timestamp)}`}`;
  const amount = result === ANY_AMOUNT ? 'any amount' : `up to ${result} base units`;
  const said = !mayAct ? 'No' : typeof result === 'string' && result !== '0' ? `Yes, ${amount}` : 'Yes';
  const grants = delegations.map((one) => {
    const right = rightsLabel(one.rights, dateText);
    return html`<li>${describeScope(one)}${right === null ? '' : html`, only for “${right}”`}, since ${dateText(one.since.timestamp)} (block ${one.since.block})</li>`;
  });
  const old = older ? html`<li>Granted in registry v1. Contracts that check only v2 do not see it.</li>` : html``;
  const why = mayAct ? html`<ul>${grants}${old}</ul>` : html`<p>No delegation in either registry grants this.</p>`;
  return html`<div class="notice ${mayAct ? 'yes' : 'no'}" role="status"><strong>${said}</strong>, ${when}.${why}</div>${line}`;
}

const ANY_AMOUNT = String(2n ** 256n - 1n);
/** The v1 check that answers what a check of v2 asks. */
const OLDER: Readonly<Partial<Record<Scope, ScopeOf<1>>>> = { all: 'all', contract: 'contract', erc721: 'token' };

/** Whether the v1 registry grants it. It has no rights, so a question with one is not asked. */
async function checkV1(question: UncheckedQuestion, options: CheckOptions, fetchApi: FetchApi): Promise<boolean> {
  const scope = OLDER[question.scope];
  if (scope === undefined || question.rights !== undefined) return false;
  const response = await fetchApi(checkUrl({ ...question, version: 1, scope }, options));
  return response.ok && (await response.text()) === 'true';
}
