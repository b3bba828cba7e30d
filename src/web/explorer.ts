// /: what a wallet has granted and been granted, and whether one may act for another. All of it is made here: a page without
// script is whole, and a script only keeps it new.

import { checksummed } from '../api/checksum.ts';
import { Fault, readAddress } from '../api/params.ts';
import { type ParameterFault, problemText } from '../api/problems.ts';
import { coldWalletOf, type DelegationRecord, type Explanation, hotWalletOf, isGranted } from '../api/responses.ts';
import { type CheckOptions, checkUrl, type ListOptions, listUrl, type UncheckedQuestion } from '../api/url.ts';
import { NETWORKS } from '../registry/network.ts';
import { rightsOf, rightsText } from '../registry/rights.ts';
import { SCOPES, type Scope, type ScopeOf } from '../registry/scopes.ts';
import { ALL_VERSIONS, type Version } from '../registry/versions.ts';
import { dateText, walletLink, whatOf } from './delegation.ts';
import { graphOf } from './graph.ts';
import { Html, html } from './html.ts';
import { pageText } from './page.ts';

/** Asks the API itself. */
export type Ask = (path: string) => Promise<Response>;

/** What the page's own address may say. */
export const EXPLORER_FIELDS: ReadonlySet<string> = new Set([
  ...['wallet', 'chain', 'asOf'],
  ...['from', 'to', 'type', 'contract', 'tokenId', 'rights', 'chainId', 'at'],
]);

/** What it says. */
export interface Asked {
  readonly values: ReadonlyMap<string, string>;
  /** What of it makes no sense. */
  readonly faults: readonly ParameterFault[];
  readonly chainIds: readonly number[];
  /** How the service is reached, for the curl line. */
  readonly origin: string;
}

/** So many delegations of a list are shown, and so many where all chains are. */
const SHOWN = 200;
const SHOWN_OF_MANY = 25;

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
${asked.faults.map(({ parameter, detail }) => notice(`${parameter} ${detail}`))}
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
function momentOf(text: string | undefined): Pick<CheckOptions, 'block' | 'timestamp'> {
  const when = text?.trim() ?? '';
  if (when === '' || when === 'now') return {};
  if (/^\d+$/.test(when) || when === 'finalized') return { block: when };
  return { timestamp: /^\d{4}-\d{2}-\d{2}$/.test(when) ? `${when}T00:00:00Z` : when };
}

const notice = (text: string, kind: 'no' | 'trouble' = 'trouble'): Html =>
  html`<p class="notice ${kind}" role="status">${text}</p>`;

interface WalletList {
  readonly chainId: number;
  readonly version: Version;
  readonly outgoing: Half;
  readonly incoming: Half;
}

/** What a wallet granted, or was granted. */
interface Half {
  readonly delegations: readonly DelegationRecord[];
  readonly isWhole: boolean;
  readonly block: string;
  readonly trouble: string | null;
}

async function walletPart(text: string, asked: Asked, ask: Ask): Promise<Html> {
  const address = readAddress(text);
  if (address instanceof Fault) return notice(`The wallet ${address.detail}.`);
  const wallet = checksummed(address);
  const { values, chainIds } = asked;
  const chosen = values.get('chain') ?? '';
  const chains = chosen === '' ? chainIds : chainIds.filter((id) => String(id) === chosen);
  if (chains.length === 0)
    return notice(chosen === '' ? 'No chain is followed here yet.' : `Chain ${chosen} is not followed here.`);
  const when = momentOf(values.get('asOf'));
  const lists: WalletList[] = [];
  // One after the other, with turns for others between: a wallet can be in very many lists.
  for (const chainId of chains) {
    for (const version of ALL_VERSIONS.toReversed()) {
      if (NETWORKS.get(chainId)?.registries[version] === undefined) continue;
      const options = { chainId, limit: chosen === '' ? SHOWN_OF_MANY : SHOWN, ...when };
      const half = (direction: string) => readHalf(version, wallet, { ...options, direction }, ask);
      lists.push({ chainId, version, outgoing: await half('outgoing'), incoming: await half('incoming') });
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
  const hasSomething = ({ delegations, trouble, isWhole }: Half) =>
    delegations.length > 0 || trouble !== null || !isWhole;
  const found = lists.filter(({ outgoing, incoming }) => hasSomething(outgoing) || hasSomething(incoming));
  const heading = html`<h2>${wallet}</h2>`;
  if (found.length === 0) {
    const where =
      chosen === '' ? 'on the chains that are followed here' : `on ${NETWORKS.get(Number(chosen))?.name ?? chosen}`;
    return html`${heading}<p class="empty">This wallet has granted nothing and been granted nothing ${where}.</p>`;
  }
  const all = found.flatMap(({ outgoing, incoming }) => [...outgoing.delegations, ...incoming.delegations]);
  return html`${heading}${graphOf(wallet, all)}${found.map(listPart)}`;
}

async function readHalf(version: Version, wallet: string, options: ListOptions, ask: Ask): Promise<Half> {
  const response = await ask(listUrl(version, wallet, { detail: 'full', numbers: 'string', ...options }));
  const block = response.headers.get('x-block-number') ?? '';
  if (!response.ok) return { block, delegations: [], isWhole: true, trouble: await problemText(response) };
  const delegations = (await response.json()) as DelegationRecord[];
  return { block, delegations, isWhole: !response.headers.has('link'), trouble: null };
}

function listPart({ chainId, version, outgoing, incoming }: WalletList): Html {
  const name = NETWORKS.get(chainId)?.name ?? String(chainId);
  const block = outgoing.block === '' ? '' : html`, at block ${outgoing.block}`;
  const title = html`<h3>${name} <span class="soft">registry v${version}${block}</span></h3>`;
  if (outgoing.trouble !== null) return html`${title}${notice(outgoing.trouble)}`;
  return html`${title}${tableOf('May act for it', outgoing, hotWalletOf, chainId)}${tableOf('It may act for', incoming, coldWalletOf, chainId)}`;
}

function tableOf(
  caption: string,
  { delegations, isWhole, trouble }: Half,
  other: (one: DelegationRecord) => string,
  chainId: number,
): Html {
  if (trouble !== null) return notice(trouble);
  const more = isWhole
    ? html``
    : html`<p class="soft">There are more: <a href="/docs#lists">the API</a> gives all of them, and choosing a chain shows ${SHOWN}.</p>`;
  if (delegations.length === 0) return more;
  const cells = delegations.map((one) => {
    const right = rightsText(one.rights);
    return html`<tr><td>${walletLink(other(one), `&chain=${chainId}`)}</td><td>${whatOf(one)}</td><td>${right === null ? html`<span class="soft">any</span>` : html`<span class="right">only “${right}”</span>`}</td><td>${dateText(one.since.timestamp)}<br><span class="soft">block ${one.since.block}</span></td></tr>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption>${caption}</caption>
<thead><tr><th scope="col">Wallet</th><th scope="col">What</th><th scope="col">Rights</th><th scope="col">Since</th></tr></thead><tbody>${cells}</tbody></table></div>${more}`;
}

/** What can be asked of the v2 registry, in words. */
const SCOPE_TEXTS: Readonly<Record<ScopeOf<2>, string>> = {
  all: 'everything',
  contract: 'a contract',
  erc721: 'an NFT (ERC-721)',
  erc20: 'tokens (ERC-20)',
  erc1155: 'tokens (ERC-1155)',
};

function checkForm(asked: Asked): Html {
  const chosen = asked.values.get('type') ?? 'all';
  const scopes = Object.entries(SCOPE_TEXTS).map(
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
    rights: rights === '' ? undefined : rights.startsWith('0x') ? rights : (rightsOf(rights) ?? rights),
  };
  const options = { chainId: value('chainId') || undefined, ...momentOf(value('at')) };
  const line = html`<pre><code>curl '${origin}${checkUrl(question, options)}'</code></pre>`;
  const response = await ask(checkUrl(question, { ...options, explain: 'true', numbers: 'string' }));
  if (!response.ok) return html`${notice(await problemText(response))}${line}`;
  const explained = (await response.json()) as Explanation;
  const { result, delegations, block } = explained;
  const older = await olderAnswer(question, options, ask);
  const mayAct = isGranted(explained) || older;
  const when = `at block ${block.number}${block.timestamp === null ? '' : `, ${dateText(block.timestamp)}`}`;
  const amount = result === ANY_AMOUNT ? 'any amount' : `up to ${result} base units`;
  const said = !mayAct ? 'No' : typeof result === 'string' && result !== '0' ? `Yes, ${amount}` : 'Yes';
  const grants = delegations.map(
    (one) =>
      html`<li>${whatOf(one)}${rightsText(one.rights) === null ? '' : html`, only for “${rightsText(one.rights) ?? ''}”`}, since ${dateText(one.since.timestamp)} (block ${one.since.block})</li>`,
  );
  const old = older ? html`<li>By the older registry v1, which contracts may ask or not.</li>` : html``;
  const why = mayAct
    ? html`<ul>${grants}${old}</ul>`
    : html`<p>No delegation grants it in either registry: not the whole wallet, not what was asked for.</p>`;
  return html`<div class="notice ${mayAct ? 'yes' : 'no'}" role="status"><strong>${said}</strong>, ${when}.${why}</div>${line}`;
}

const ANY_AMOUNT = String(2n ** 256n - 1n);
/** The v1 check that answers what a check of v2 asks. */
const OLDER: Readonly<Partial<Record<Scope, ScopeOf<1>>>> = { all: 'all', contract: 'contract', erc721: 'token' };

/** Whether the v1 registry grants it. It has no rights, so a question with one is not asked. */
async function olderAnswer(question: UncheckedQuestion, options: CheckOptions, ask: Ask): Promise<boolean> {
  const scope = OLDER[question.scope];
  if (scope === undefined || question.rights !== undefined) return false;
  const response = await ask(checkUrl({ ...question, version: 1, scope }, options));
  return response.ok && (await response.text()) === 'true';
}
