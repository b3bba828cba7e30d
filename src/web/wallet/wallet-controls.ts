// What chooses the rows of a wallet's page: its filters, a form that works without script, and links to its pages of rows.

import { type Html, html } from '../html.ts';
import { chainChoices, selectField } from '../parts.ts';
import { KIND_TEXTS, ORDER_TEXTS, type WalletView } from './wallet-view.ts';

const hidden = (name: string, value: string) =>
  value !== '' && html`<input type="hidden" name="${name}" value="${value}">`;

/** Without an order to choose where only a part of a list is shown. */
export function renderFilters(view: WalletView, isPart = false): Html {
  const { wallet, asOf, chain, direction, kind, order, isUnlimitedOnly, isHistory, allChainIds } = view;
  const may = asOf === '' ? 'may' : 'could';
  const directions = { '': 'both directions', outgoing: `${may} act for it`, incoming: `it ${may} act for` };
  const chains = [['', 'all chains'] as const, ...chainChoices(allChainIds)];
  const kinds = [['', 'every kind'] as const, ...Object.entries(KIND_TEXTS)];
  const ofGrants =
    !isHistory &&
    html`${selectField('Kind', 'kind', kind ?? '', kinds)}${!isPart && selectField('Order', 'order', order, Object.entries(ORDER_TEXTS))}
<label class="choice"><input type="checkbox" name="unlimited" value="yes"${isUnlimitedOnly && html` checked`}> Only without limit</label>`;
  return html`<form class="flow filters" action="/#grants" method="get" aria-label="Filter">${hidden('wallet', wallet)}${hidden('asOf', asOf)}${hidden('view', isHistory ? 'history' : '')}
${selectField('Direction', 'direction', direction ?? '', Object.entries(directions))}${allChainIds.length > 1 ? selectField('Chain', 'chain', chain, chains) : hidden('chain', chain)}${ofGrants}
<button class="plain">Apply</button></form>`;
}

const PAGE_ROWS = 50;

/** A page after the last is the last. */
export function pageOf<Row>(rows: readonly Row[], page: number) {
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  const at = Math.min(page, pages);
  return { rows: rows.slice((at - 1) * PAGE_ROWS, at * PAGE_ROWS), page: at, pages, total: rows.length };
}

type PageOfRows = ReturnType<typeof pageOf<unknown>>;

export function renderPager({ rows, page, pages, total }: PageOfRows, urlOf: (page: number) => string): Html | null {
  if (pages === 1) return null;
  const first = (page - 1) * PAGE_ROWS;
  const link = (to: number, text: string, rel: string) =>
    to >= 1 && to <= pages && html`<a class="button plain" rel="${rel}" href="${urlOf(to)}">${text}</a>`;
  return html`<div class="actions pager" role="navigation" aria-label="Pages">${link(page - 1, 'Previous page', 'prev')}
<span>${first + 1}–${first + rows.length} of ${total.toLocaleString('en')}</span>${link(page + 1, 'Next page', 'next')}</div>`;
}
