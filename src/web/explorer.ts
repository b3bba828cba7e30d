// /: what a wallet has granted and been granted, and whether one may act for another. All of it is made here: a page without
// script is whole, and a script only keeps it new.

import { checksummed } from '../http/checksum.ts';
import { Fault, readAddress } from '../http/params.ts';
import { refusalText } from '../http/problem.ts';
import { NETWORKS } from '../registry/network.ts';
import { rightsOf, rightsText } from '../registry/rights.ts';
import { coldOf, dateText, hotOf, type Shown, walletLink, whatOf } from './delegation.ts';
import { graphOf } from './graph.ts';
import { Html, html } from './html.ts';
import { pageText } from './page.ts';

/** Asks the API itself. */
export type Ask = (path: string) => Promise<Response>;

/** What the page's own address says. */
export interface Asked {
  readonly values: ReadonlyMap<string, string>;
  readonly chainIds: readonly number[];
  /** How the service is reached, for the curl line. */
  readonly origin: string;
}

/** So many delegations of a list are shown. */
const SHOWN = 200;

export async function explorerText(asked: Asked, ask: Ask): Promise<string> {
  const { values } = asked;
  const wallet = values.get('wallet')?.trim() ?? '';
  const [answer, lists] = await Promise.all([
    answerPart(asked, ask),
    wallet === '' ? welcome() : walletPart(wallet, asked, ask),
  ]);
  const title = wallet === '' ? 'Who may act for whom?' : `Delegations of ${wallet.slice(0, 10)}`;
  return pageText(
    { title, path: '/', live: true },
    html`<h1>Who may act for whom?</h1>
<p class="lead">A cold wallet keeps the assets; a hot wallet may act for it where the registries say so. Paste an address to see what
it has granted and been granted, on every chain that is followed here.</p>
${walletForm(asked)}
<div data-part="lists">${lists}</div>
<h2 id="check">May one act for the other?</h2>
${checkForm(asked)}
<div data-part="answer">${answer}</div>`,
  );
}

const field = (label: string, name: string, { values }: Asked, hint = '', more = html``): Html =>
  html`<label>${label}<input name="${name}" value="${values.get(name) ?? ''}" placeholder="${hint}" autocomplete="off" spellcheck="false"${more}></label>`;

function chainField({ values, chainIds }: Asked, name: string, anyText: string | null): Html {
  const chosen = values.get(name) ?? '';
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`;
  const chains = chainIds.map((id) => option(String(id), NETWORKS.get(id)?.name ?? String(id)));
  return html`<label>Chain<select name="${name}">${anyText === null ? '' : option('', anyText)}${chains}</select></label>`;
}

const walletForm = (asked: Asked): Html => html`<form class="panel" action="/" method="get" role="search">
${field('Wallet', 'wallet', asked, '0x…', html` required`)}
<div class="row">${chainField(asked, 'chain', 'All chains')}${field('As of', 'asOf', asked, 'now, a block, or a date')}</div>
<button>Show</button></form>`;

function welcome(): Html {
  return html`<p class="empty">Nothing is shown yet: paste a wallet above, or ask a question below.</p>`;
}

/** The point in time as the API takes it. */
function momentOf(text: string | undefined): Record<string, string> {
  const when = text?.trim() ?? '';
  if (when === '' || when === 'now') return {};
  if (/^\d+$/.test(when) || when === 'finalized') return { block: when };
  return { timestamp: /^\d{4}-\d{2}-\d{2}$/.test(when) ? `${when}T00:00:00Z` : when };
}

const notice = (text: string, kind: 'no' | 'trouble' = 'trouble'): Html =>
  html`<p class="notice ${kind}" role="status">${text}</p>`;

interface WalletList {
  readonly chainId: number;
  readonly version: 1 | 2;
  readonly delegations: readonly Shown[];
  readonly isWhole: boolean;
  readonly block: string;
  readonly trouble: string | null;
}

async function walletPart(text: string, asked: Asked, ask: Ask): Promise<Html> {
  const address = readAddress(text);
  if (address instanceof Fault) return notice(`The wallet ${address.detail}.`);
  const wallet = checksummed(address);
  const { values, chainIds } = asked;
  const chosen = Number(values.get('chain') || 0);
  const chains = chosen === 0 ? chainIds : [chosen];
  const when = momentOf(values.get('asOf'));
  const lists = (
    await Promise.all(
      chains.flatMap((chainId) =>
        ([2, 1] as const)
          .filter((version) => NETWORKS.get(chainId)?.registries[version] !== undefined)
          .map((version) => readList(wallet, chainId, version, when, ask)),
      ),
    )
  ).filter(({ delegations, trouble }) => delegations.length > 0 || trouble !== null);
  const all = lists.flatMap(({ delegations }) => delegations);
  const heading = html`<h2>${wallet}</h2>`;
  if (lists.length === 0) {
    const where = chosen === 0 ? 'on the chains that are followed here' : `on ${NETWORKS.get(chosen)?.name ?? chosen}`;
    return html`${heading}<p class="empty">This wallet has granted nothing and been granted nothing ${where}.</p>`;
  }
  return html`${heading}${graphOf(wallet, all)}${lists.map((list) => listPart(wallet, list))}`;
}

async function readList(
  wallet: string,
  chainId: number,
  version: 1 | 2,
  when: Record<string, string>,
  ask: Ask,
): Promise<WalletList> {
  const query = new URLSearchParams({
    chainId: String(chainId),
    detail: 'full',
    numbers: 'string',
    limit: String(SHOWN),
    ...when,
  });
  const response = await ask(`/registry/v${version}/${wallet}?${query}`);
  const base = { chainId, version, block: response.headers.get('x-block-number') ?? '' };
  if (!response.ok) return { ...base, delegations: [], isWhole: true, trouble: await refusalText(response) };
  const delegations = (await response.json()) as Shown[];
  return { ...base, delegations, isWhole: !response.headers.has('link'), trouble: null };
}

function listPart(wallet: string, { chainId, version, delegations, isWhole, block, trouble }: WalletList): Html {
  const name = NETWORKS.get(chainId)?.name ?? String(chainId);
  const title = html`<h3>${name} <span class="soft">registry v${version}${block === '' ? '' : html`, at block ${block}`}</span></h3>`;
  if (trouble !== null) return html`${title}${notice(trouble)}`;
  const isOurs = (one: Shown) => coldOf(one).toLowerCase() === wallet.toLowerCase();
  const outgoing = delegations.filter(isOurs);
  const incoming = delegations.filter((one) => !isOurs(one));
  const more = isWhole ? html`` : html`<p class="soft">The first ${SHOWN} are shown: the API gives all of them.</p>`;
  return html`${title}${tableOf('May act for it', 'Wallet', outgoing, hotOf, chainId)}${tableOf('It may act for', 'Wallet', incoming, coldOf, chainId)}${more}`;
}

function tableOf(
  caption: string,
  column: string,
  rows: readonly Shown[],
  other: (one: Shown) => string,
  chainId: number,
): Html {
  if (rows.length === 0) return html``;
  const cells = rows.map((one) => {
    const right = rightsText(one.rights);
    return html`<tr><td>${walletLink(other(one), `&chain=${chainId}`)}</td><td>${whatOf(one)}</td><td>${right === null ? html`<span class="soft">any</span>` : html`<span class="right">only “${right}”</span>`}</td><td>${dateText(one.since.timestamp)}<br><span class="soft">block ${one.since.block}</span></td></tr>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr><th scope="col">${column}</th><th scope="col">What</th><th scope="col">Rights</th><th scope="col">Since</th></tr></thead><tbody>${cells}</tbody></table></div>`;
}

const SCOPES = [
  ['all', 'everything'],
  ['contract', 'a contract'],
  ['erc721', 'an NFT (ERC-721)'],
  ['erc20', 'tokens (ERC-20)'],
  ['erc1155', 'tokens (ERC-1155)'],
] as const;

function checkForm(asked: Asked): Html {
  const chosen = asked.values.get('type') ?? 'all';
  const scopes = SCOPES.map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`,
  );
  return html`<form class="panel" action="/#check" method="get">
${field('Hot wallet', 'to', asked, '0x… that wants to act')}
${field('Cold wallet', 'from', asked, '0x… that it would act for')}
<div class="row"><label>For<select name="type">${scopes}</select></label>${chainField(asked, 'chainId', null)}</div>
<details${chosen === 'all' && !asked.values.get('rights') && !asked.values.get('at') ? '' : new Html(' open')}><summary>Contract, token, right, point in time</summary>
${field('Contract', 'contract', asked, '0x…')}${field('Token id', 'tokenId', asked, '42')}${field('Right', 'rights', asked, 'such as vote; none: unrestricted only')}${field('As of', 'at', asked, 'now, a block, or a date')}</details>
<button>Ask</button></form>`;
}

async function answerPart(asked: Asked, ask: Ask): Promise<Html> {
  const { values, origin } = asked;
  const value = (name: string) => values.get(name)?.trim() ?? '';
  if (value('from') === '' && value('to') === '') return html``;
  const scope = SCOPES.find(([name]) => name === value('type'))?.[0] ?? 'all';
  const query = new URLSearchParams();
  const names = [
    'to',
    'from',
    ...(scope === 'all' ? [] : ['contract']),
    ...(/721|1155/.test(scope) ? ['tokenId'] : []),
  ];
  for (const name of names) query.set(name, value(name));
  const rights = value('rights');
  // What is no right is for the API to refuse.
  if (rights !== '') query.set('rights', rights.startsWith('0x') ? rights : (rightsOf(rights) ?? rights));
  if (value('chainId') !== '') query.set('chainId', value('chainId'));
  for (const [name, text] of Object.entries(momentOf(value('at')))) query.set(name, text);
  const path = `/registry/v2/check/${scope}?${query}`;
  const line = html`<pre><code>curl '${origin}${path}'</code></pre>`;
  const response = await ask(`${path}&explain=true&numbers=string`);
  if (!response.ok) return html`${notice(await refusalText(response))}${line}`;
  const { result, delegations, block } = (await response.json()) as {
    result: boolean | string;
    delegations: Shown[];
    block: { number: number; timestamp: number | null };
  };
  const isYes = result !== false && result !== '0';
  const when = `at block ${block.number}${block.timestamp === null ? '' : `, ${dateText(block.timestamp)}`}`;
  const said =
    typeof result === 'string' ? (isYes ? `Yes, up to ${result} base units` : 'No, nothing') : isYes ? 'Yes' : 'No';
  const why = isYes
    ? html`<ul>${delegations.map((one) => html`<li>${whatOf(one)}${rightsText(one.rights) === null ? '' : html`, only for “${rightsText(one.rights) ?? ''}”`}, since ${dateText(one.since.timestamp)} (block ${one.since.block})</li>`)}</ul>`
    : html`<p>No delegation grants it: not the whole wallet, not what was asked for.</p>`;
  return html`<div class="notice ${isYes ? 'yes' : 'no'}" role="status"><strong>${said}</strong>, ${when}.${why}</div>${line}`;
}
