// Links to the pages of rows that were read at once.

import { type Html, html } from '../html.ts';

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
