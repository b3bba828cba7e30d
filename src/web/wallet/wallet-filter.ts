// Renders the filters of a wallet's page: a form that works without script.

import { chainName } from '../chain-name.ts';
import { Html, html } from '../html.ts';
import { KIND_TEXTS, ORDER_TEXTS, type WalletView } from './wallet-view.ts';

type Choices = Readonly<Record<string, string>>;

function select(label: string, name: string, chosen: string, choices: readonly (readonly [string, string])[]): Html {
  const options = choices.map(
    ([value, text]) => html`<option value="${value}"${value === chosen ? new Html(' selected') : ''}>${text}</option>`,
  );
  return html`<label>${label}<select name="${name}">${options}</select></label>`;
}

const hidden = (name: string, value: string): Html =>
  value === '' ? html`` : html`<input type="hidden" name="${name}" value="${value}">`;

export function renderFilters(view: WalletView): Html {
  const { wallet, asOf, chain, direction, kind, order, isUnlimitedOnly, isHistory, allChainIds } = view;
  const may = asOf === '' ? 'may' : 'could';
  const directions: Choices = { '': 'both directions', outgoing: `${may} act for it`, incoming: `it ${may} act for` };
  const chains = [['', 'all chains'], ...allChainIds.map((id) => [String(id), chainName(id)])] as [string, string][];
  const ofGrants = isHistory
    ? html``
    : html`${select('Kind', 'kind', kind ?? '', [['', 'every kind'], ...Object.entries(KIND_TEXTS)])}${select('Order', 'order', order, Object.entries(ORDER_TEXTS))}
<label class="tick"><input type="checkbox" name="unlimited" value="yes"${isUnlimitedOnly ? new Html(' checked') : ''}> Only without limit</label>`;
  return html`<form class="filters" action="/#grants" method="get" aria-label="Filter">${hidden('wallet', wallet)}${hidden('asOf', asOf)}${hidden('view', isHistory ? 'history' : '')}
${select('Direction', 'direction', direction ?? '', Object.entries(directions))}${allChainIds.length > 1 ? select('Chain', 'chain', chain, chains) : hidden('chain', chain)}${ofGrants}
<button class="plain">Apply</button></form>`;
}
