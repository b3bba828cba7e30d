// Renders the explorer page at /: the delegations of a wallet, and a check between two wallets. The page works without
// JavaScript; a script only refreshes it.

import { renderAnswer } from './check-answer.ts';
import { checkForm, walletForm } from './explorer-forms.ts';
import type { ExplorerQuery, FetchApi } from './explorer-query.ts';
import { type Html, html } from './html.ts';
import { notice } from './notice.ts';
import { renderPage } from './page.ts';
import { renderWallet } from './wallet.ts';

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

function welcome(): Html {
  return html`<p class="empty">Enter a wallet above, or check two wallets below.</p>`;
}
