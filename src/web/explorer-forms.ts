// Renders the forms of the explorer: a wallet, and a check between two wallets.

import { NETWORKS } from '../registry/network.ts';
import type { ScopeOf } from '../registry/scopes.ts';
import type { ExplorerQuery } from './explorer-query.ts';
import { Html, html } from './html.ts';

/** What can be asked of the v2 registry, in words. */
export const SCOPE_TEXTS: Readonly<Record<ScopeOf<2>, string>> = {
  all: 'the whole wallet',
  contract: 'a contract',
  erc721: 'an NFT (ERC-721)',
  erc20: 'tokens (ERC-20)',
  erc1155: 'tokens (ERC-1155)',
};

const field = (label: string, name: string, { values }: ExplorerQuery, hint = '', more = html``): Html =>
  html`<label>${label}<input name="${name}" value="${values.get(name) ?? ''}" placeholder="${hint}" autocomplete="off" spellcheck="false"${more}></label>`;

function chainField({ values, chainIds }: ExplorerQuery, name: string, anyText: string | null): Html {
  const chosen = values.get(name) ?? '';
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`;
  const chains = chainIds.map((id) => option(String(id), NETWORKS.get(id)?.name ?? String(id)));
  return html`<label>Chain<select name="${name}">${anyText === null ? '' : option('', anyText)}${chains}</select></label>`;
}

export const walletForm = (
  query: ExplorerQuery,
): Html => html`<form class="panel" action="/" method="get" role="search">
${field('Wallet', 'wallet', query, '0x…', html` required`)}
<div class="row">${chainField(query, 'chain', 'All chains')}${field('As of', 'asOf', query, 'now, a block, or a date')}</div>
<button>Show</button></form>`;

export function checkForm(query: ExplorerQuery): Html {
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
