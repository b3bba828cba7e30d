// Renders the forms of the explorer: a wallet, and a check between two wallets.

import type { ScopeOf } from '../../registry/scopes.ts';
import { chainName } from '../chain-name.ts';
import { Html, html } from '../html.ts';
import { type ExplorerQuery, entered } from './explorer-query.ts';

/** What can be asked of either registry, in words. */
export const SCOPE_TEXTS: Readonly<Record<ScopeOf<2>, string>> = {
  all: 'the whole wallet',
  contract: 'a contract',
  erc721: 'an NFT (ERC-721)',
  erc20: 'tokens (ERC-20)',
  erc1155: 'tokens (ERC-1155)',
};

export const isScope = (type: string): type is ScopeOf<2> => Object.hasOwn(SCOPE_TEXTS, type);

/** The chain that a check asks about if none is chosen: the one that the form shows. */
export const chosenChain = (query: ExplorerQuery): string => entered(query, 'chainId') || `${query.chainIds[0] ?? 1}`;

const VIEWS = [
  ['/', 'Look up a wallet'],
  ['/?from=&to=', 'Check two wallets'],
] as const;

export const viewTabs = (current: (typeof VIEWS)[number][0]): Html =>
  html`<div class="tabs" role="navigation" aria-label="What to ask">${VIEWS.map(
    ([href, name]) => html`<a href="${href}"${href === current ? new Html(' aria-current="page"') : ''}>${name}</a>`,
  )}</div>`;

interface Field {
  readonly label: string;
  readonly name: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  /** The part of the form that the field belongs to. */
  readonly kind?: string;
}

const field = (query: ExplorerQuery, { label, name, hint = '', isRequired = false, kind = '' }: Field): Html =>
  html`<label class="${kind}">${label}<input name="${name}" value="${query.values.get(name) ?? ''}" placeholder="${hint}" autocomplete="off" autocapitalize="off" spellcheck="false"${isRequired ? new Html(' required') : ''}></label>`;

function chainField({ values, chainIds }: ExplorerQuery, name: string, anyText: string | null): Html {
  const chosen = values.get(name) ?? '';
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`;
  const chains = chainIds.map((id) => option(String(id), chainName(id)));
  return html`<label>Chain<select name="${name}">${anyText === null ? '' : option('', anyText)}${chains}</select></label>`;
}

const options = (isOpen: boolean, title: string, content: Html): Html =>
  html`<details${isOpen ? new Html(' open') : ''}><summary>${title}</summary><div class="row">${content}</div></details>`;

export const walletForm = (
  query: ExplorerQuery,
): Html => html`<form class="panel search" action="/" method="get" role="search">
<div class="ask">${field(query, { label: 'Wallet address', name: 'wallet', hint: '0x…', isRequired: true })}<button>Look up</button></div>
${options(
  entered(query, 'chain') !== '' || entered(query, 'asOf') !== '',
  'Chain and point in time',
  html`${chainField(query, 'chain', 'All chains')}${field(query, { label: 'As of', name: 'asOf', hint: 'now, a block, or a date' })}`,
)}</form>`;

export function checkForm(query: ExplorerQuery): Html {
  const chosen = entered(query, 'type') || 'all';
  const scopes = Object.entries(SCOPE_TEXTS).map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`,
  );
  return html`<form class="panel search" action="/" method="get">
${field(query, { label: 'Hot wallet: the one that acts', name: 'to', hint: '0x…', isRequired: true })}
${field(query, { label: 'Cold wallet: the one it acts for', name: 'from', hint: '0x…', isRequired: true })}
<div class="row"><label>For<select name="type">${scopes}</select></label>${chainField(query, 'chainId', null)}
${field(query, { label: 'Contract', name: 'contract', hint: '0x…', kind: 'of-contract' })}${field(query, { label: 'Token id', name: 'tokenId', hint: '42', kind: 'of-token' })}</div>
${options(
  entered(query, 'rights') !== '' || entered(query, 'at') !== '',
  'Rights and point in time',
  html`${field(query, { label: 'Rights', name: 'rights', hint: 'such as vote' })}${field(query, { label: 'As of', name: 'at', hint: 'now, a block, or a date' })}`,
)}
<button>Check</button></form>`;
}
