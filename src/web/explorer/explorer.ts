// Renders the explorer page at /: the delegations of a wallet, a check between two wallets, or what can be asked. The page works
// without JavaScript; scripts only refresh it and verify proofs.

import { ANY_LIST } from '../../api/any-operations.ts';
import { EXAMPLE_DELEGATIONS } from '../../api/examples.ts';
import { NETWORKS_OPERATION } from '../../api/operations.ts';
import { checksummed } from '../../registry/checksum.ts';
import { askApi, type FetchApi, Refusal } from '../ask-api.ts';
import { type Html, html } from '../html.ts';
import { renderPage } from '../page.ts';
import { notice, shortAddress } from '../parts.ts';
import { renderWallet } from '../wallet/wallet.ts';
import { renderFollowing, renderTrust } from './about-service.ts';
import { renderAnswer } from './check-answer.ts';
import { checkForm, viewTabs, walletForm } from './explorer-forms.ts';
import { type ExplorerQuery, entered } from './explorer-query.ts';

export async function renderExplorer(query: ExplorerQuery, fetchApi: FetchApi): Promise<string> {
  const wallet = entered(query, 'wallet');
  const isCheck = query.values.has('from') || query.values.has('to');
  const [title, content] =
    wallet !== ''
      ? [`Wallet ${shortAddress(wallet)}`, html`${walletForm(query)}\n${await renderWallet(wallet, query, fetchApi)}`]
      : isCheck
        ? [CHECK_TITLE, await renderCheck(query, fetchApi)]
        : [HOME_TITLE, await renderHome(query, fetchApi)];
  const faults = query.faults.map(({ parameter, detail }) => notice(`${parameter} ${detail}`));
  const styles = ['/explorer.css', ...(wallet === '' ? [] : (['/wallet.css'] as const))] as const;
  const scripts = [
    '/labels.js',
    ...(wallet !== '' || !isCheck ? (['/own-address.js'] as const) : []),
    ...(wallet === '' ? [] : (['/recent-wallets.js'] as const)),
    ...(query.proves && isCheck ? (['/prove.js'] as const) : []),
  ] as const;
  return renderPage({ title, path: '/', live: true, styles, scripts }, html`${faults}${content}`);
}

const CHECK_TITLE = 'May one wallet act for another?';
const renderCheck = async (query: ExplorerQuery, fetchApi: FetchApi) => html`<h1>${CHECK_TITLE}</h1>
${viewTabs('/?from=&to=')}${checkForm(query)}
<div data-part="answer">${await renderAnswer(query, fetchApi)}</div>
<div id="proof"></div>`;

const HOME_TITLE = 'Who may act for your wallet?';
async function renderHome(query: ExplorerQuery, fetchApi: FetchApi): Promise<Html> {
  const [examples, networks] = await Promise.all([
    query.sandbox && renderExamples(fetchApi),
    askApi(fetchApi, NETWORKS_OPERATION, {}),
  ]);
  return html`<h1>${HOME_TITLE}</h1>
<p class="lead">A hot wallet may act for a cold one if a delegation registry says so. Paste an address to see what it has granted, and to
whom. You sign nothing.</p>
${viewTabs('/')}${walletForm(query)}
${RECENT}${examples}${renderFollowing(networks)}
${renderTrust(query, networks)}
<section class="points" aria-label="What you can do here">
<div><h2>See who may act for you</h2><p>Every delegation of a wallet, in both registries and on all chains: the whole wallet, a contract, or a token.</p></div>
<div><h2>Revoke what you no longer need</h2><p>The page prepares the transaction and says what it ends. Your own wallet signs and sends it.</p></div>
<div><h2>Build on it</h2><p>One HTTP request answers a check, now or at a block. <a href="/docs">Read the API reference</a>.</p></div>
</section>`;
}

/** Filled before the rest is shown, so that nothing moves. */
const RECENT = html`<p id="recent" class="flow examples" hidden></p><script src="/recent-wallets.js"></script>`;

/** A sandbox with a scenario of its own does not have them. */
async function renderExamples(fetchApi: FetchApi): Promise<Html | null> {
  const [first] = EXAMPLE_DELEGATIONS;
  if (first === undefined) return null;
  const answer = await askApi(fetchApi, ANY_LIST, { wallet: first.from, limit: 1 });
  if (answer instanceof Refusal || answer.delegations.length === 0) return null;
  const [from, to] = [checksummed(first.from), checksummed(first.to)];
  const link = (wallet: string, name: string) =>
    html`<a class="button plain small" href="/?wallet=${wallet}">${name} <span class="soft address">${shortAddress(wallet)}</span></a> `;
  const question = `/?to=${to}&from=${from}&type=contract&contract=${checksummed(first.contract ?? first.from)}`;
  return html`<p class="flow examples">Try an example: ${link(from, 'a cold wallet')}${link(to, 'its hot wallet')}<a class="button plain small" href="${question}">a check of both</a></p>`;
}
