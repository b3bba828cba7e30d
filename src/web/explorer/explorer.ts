// Renders the explorer page at /: the delegations of a wallet, or a check between two wallets. The page works without
// JavaScript; a script only refreshes it.

import { shortAddress } from '../delegation.ts';
import type { FetchApi } from '../fetch-api.ts';
import { type Html, html } from '../html.ts';
import { notice } from '../notice.ts';
import { EXPLORER_STYLE, renderPage, WALLET_STYLE } from '../page.ts';
import { renderWallet } from '../wallet/wallet.ts';
import { renderAnswer } from './check-answer.ts';
import { checkForm, viewTabs, walletForm } from './explorer-forms.ts';
import { type ExplorerQuery, entered } from './explorer-query.ts';
import { renderHome } from './home.ts';

interface View {
  readonly title: string;
  readonly content: Html;
}

export async function renderExplorer(query: ExplorerQuery, fetchApi: FetchApi): Promise<string> {
  const wallet = entered(query, 'wallet');
  const isCheck = query.values.has('from') || query.values.has('to');
  const { title, content } = await (wallet !== ''
    ? walletView(wallet, query, fetchApi)
    : isCheck
      ? checkView(query, fetchApi)
      : homeView(query, fetchApi));
  const faults = query.faults.map(({ parameter, detail }) => notice(`${parameter} ${detail}`));
  return renderPage(
    { title, path: '/', live: true, styles: [EXPLORER_STYLE, ...(wallet === '' ? [] : [WALLET_STYLE])] },
    html`${faults}${content}`,
  );
}

const homeView = async (query: ExplorerQuery, fetchApi: FetchApi): Promise<View> => ({
  title: 'Who may act for your wallet?',
  content: html`<h1>Who may act for your wallet?</h1>
<p class="lead">A hot wallet may act for a cold one if a delegation registry says so. Paste an address to see what it has granted, and to
whom. You connect and sign nothing.</p>
${viewTabs('/')}${walletForm(query)}
${await renderHome(query, fetchApi)}`,
});

const walletView = async (wallet: string, query: ExplorerQuery, fetchApi: FetchApi): Promise<View> => ({
  title: `Wallet ${shortAddress(wallet)}`,
  content: html`${walletForm(query)}
${await renderWallet(wallet, query, fetchApi)}`,
});

const checkView = async (query: ExplorerQuery, fetchApi: FetchApi): Promise<View> => ({
  title: 'May one wallet act for another?',
  content: html`<h1>May one wallet act for another?</h1>
${viewTabs('/?from=&to=')}${checkForm(query)}
<div data-part="answer">${await renderAnswer(query, fetchApi)}</div>`,
});
