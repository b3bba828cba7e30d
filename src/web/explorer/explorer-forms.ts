// Renders the forms of the explorer: a wallet, and a check between two wallets.

import type { ScopeOf } from '../../registry/scopes.ts';
import { type Html, html } from '../html.ts';
import { chainChoices, navigationLink, selectField } from '../parts.ts';
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
  html`<div class="flow tabs" role="navigation" aria-label="What to ask">${VIEWS.map(([href, name]) => navigationLink(href, name, href === current))}</div>`;

type Needs = 'optional' | 'required' | 'focused';

const walletHint = ({ takesNames }: ExplorerQuery) => (takesNames ? '0x… or name.eth' : '0x…');

const field = ({ values }: ExplorerQuery, label: string, name: string, hint: string, needs: Needs = 'optional'): Html =>
  html`<label>${label}<input name="${name}" value="${values.get(name)}" placeholder="${hint}" autocomplete="off" autocapitalize="off" spellcheck="false"${needs !== 'optional' && html` required`}${needs === 'focused' && html` autofocus`}></label>`;

/** A point in time as text, and a date picker that is used instead if it is filled in. */
const timeFields = (query: ExplorerQuery, name: string): Html =>
  html`${field(query, 'As of', name, 'now, a block, or a date (at 00:00 UTC)')}
<label>Or a date and time in UTC<input type="datetime-local" name="${name}Utc"></label>`;

const moreFields = (isOpen: boolean, title: string, content: Html): Html =>
  html`<details${isOpen && html` open`}><summary>${title}</summary><div class="row">${content}</div></details>`;

export function walletForm(query: ExplorerQuery): Html {
  const chains = [['', 'All chains'] as const, ...chainChoices(query.chainIds)];
  const isOpen = entered(query, 'chain') !== '' || entered(query, 'asOf') !== '';
  const chain = selectField('Chain', 'chain', query.values.get('chain') ?? '', chains);
  const address = field(
    query,
    'Wallet address',
    'wallet',
    walletHint(query),
    entered(query, 'wallet') === '' ? 'focused' : 'required',
  );
  return html`<form class="panel search" action="/" method="get" role="search">
<div class="flow ask">${address}<button>Look up</button><button type="button" id="own-address" class="plain needs-script">Use my wallet's address</button></div>
<div id="own-wallets" class="flow" hidden></div>
${moreFields(isOpen, 'Chain and point in time', html`${chain}${timeFields(query, 'asOf')}`)}</form>`;
}

export function checkForm(query: ExplorerQuery): Html {
  const scopes = selectField('For', 'type', entered(query, 'type') || 'all', Object.entries(SCOPE_TEXTS));
  const chains = selectField('Chain', 'chainId', query.values.get('chainId') ?? '', chainChoices(query.chainIds));
  const isOpen = entered(query, 'rights') !== '' || entered(query, 'at') !== '';
  const more = html`${field(query, 'Rights', 'rights', 'such as vote')}${timeFields(query, 'at')}`;
  return html`<form class="panel search" action="/" method="get">
${field(query, 'Hot wallet: the one that acts', 'to', walletHint(query), 'required')}
${field(query, 'Cold wallet: the one it acts for', 'from', walletHint(query), 'required')}
<div class="row">${scopes}${chains}
${field(query, 'Contract', 'contract', '0x…')}${field(query, 'Token id', 'tokenId', '42')}</div>
${moreFields(isOpen, 'Rights and point in time', more)}
<button>Check</button></form>`;
}
