// Renders the filters of a wallet's page: a form that works without script.

import { type Html, html } from '../html.ts';
import { chainChoices, selectField } from '../parts.ts';
import { KIND_TEXTS, ORDER_TEXTS, type WalletView } from './wallet-view.ts';

const hidden = (name: string, value: string) =>
  value !== '' && html`<input type="hidden" name="${name}" value="${value}">`;

export function renderFilters(view: WalletView): Html {
  const { wallet, asOf, chain, direction, kind, order, isUnlimitedOnly, isHistory, allChainIds } = view;
  const may = asOf === '' ? 'may' : 'could';
  const directions = { '': 'both directions', outgoing: `${may} act for it`, incoming: `it ${may} act for` };
  const chains = [['', 'all chains'] as const, ...chainChoices(allChainIds)];
  const kinds = [['', 'every kind'] as const, ...Object.entries(KIND_TEXTS)];
  const ofGrants =
    !isHistory &&
    html`${selectField('Kind', 'kind', kind ?? '', kinds)}${selectField('Order', 'order', order, Object.entries(ORDER_TEXTS))}
<label class="choice"><input type="checkbox" name="unlimited" value="yes"${isUnlimitedOnly && html` checked`}> Only without limit</label>`;
  return html`<form class="flow filters" action="/#grants" method="get" aria-label="Filter">${hidden('wallet', wallet)}${hidden('asOf', asOf)}${hidden('view', isHistory ? 'history' : '')}
${selectField('Direction', 'direction', direction ?? '', Object.entries(directions))}${allChainIds.length > 1 ? selectField('Chain', 'chain', chain, chains) : hidden('chain', chain)}${ofGrants}
<button class="plain">Apply</button></form>`;
}
