// Renders the history of a wallet as a time line: what began, what changed and what ended, newest first.

import { dateText } from '../delegation.ts';
import type { FetchApi } from '../fetch-api.ts';
import { type Html, html } from '../html.ts';
import { renderTime } from '../relative-time.ts';
import { isUnlimited, rowKey } from './grant.ts';
import { renderAmount, renderBadges, renderRights, renderScope } from './grant-cells.ts';
import { renderTransaction, renderWalletLink } from './links.ts';
import { pageOf, renderPager } from './pager.ts';
import { type PastRow, type TimelineEvent, timelineOf } from './timeline.ts';
import { renderFilters } from './wallet-filter.ts';
import { mergeChains } from './wallet-grants.ts';
import { type ChainPart, Refusal, readHistory } from './wallet-reader.ts';
import { isEverythingKnown, renderBlocks, renderMissing, renderRefusal } from './wallet-states.ts';
import { headingOf } from './wallet-table.ts';
import { DIRECTIONS, type Direction, type WalletView, walletUrl } from './wallet-view.ts';

interface History {
  readonly rows: readonly PastRow[];
  readonly chains: readonly ChainPart[];
  /** Where the grants go on that were not read. */
  readonly rest: readonly { readonly direction: Direction; readonly cursor: string }[];
}

/** A cursor belongs to one direction. */
async function loadHistory(view: WalletView, fetchApi: FetchApi): Promise<History | Refusal> {
  const rows: PastRow[] = [];
  const rest: { direction: Direction; cursor: string }[] = [];
  let chains: readonly ChainPart[] = [];
  for (const direction of view.direction === null ? DIRECTIONS : [view.direction]) {
    const reading = await readHistory(
      { ...view, cursor: view.direction === null ? '' : view.cursor },
      direction,
      fetchApi,
    );
    if (reading instanceof Refusal) return reading;
    rows.push(...reading.rows.map((grant) => ({ direction, grant })));
    if (reading.next !== null) rest.push({ direction, cursor: reading.next });
    chains = chains.length === 0 ? reading.chains : mergeChains(chains, reading.chains);
  }
  return { rows, chains, rest };
}

export async function renderHistory(view: WalletView, fetchApi: FetchApi): Promise<Html> {
  const history = await loadHistory(view, fetchApi);
  if (history instanceof Refusal) return renderRefusal(view, history);
  const { rows, chains, rest } = history;
  const events = timelineOf(rows, view.cursor === '');
  const page = pageOf(events, view.page);
  const isLong = rest.length > 0 || view.cursor !== '';
  const part = isLong ? html`` : html` data-part="history"`;
  const empty = isEverythingKnown(chains)
    ? 'Nothing was ever granted from or to this wallet.'
    : 'No grant was found, but not everything could be read.';
  return html`${renderFilters(view)}
<div${part}>${renderMissing(chains)}${renderRest(view, history)}
${events.length === 0 ? html`<p class="empty">${empty}</p>` : html`<ol class="timeline">${page.rows.map((event) => renderEvent(view, event))}</ol>`}
${renderPager(page, (to) => walletUrl(view, { page: to, cursor: view.cursor }))}${renderBlocks(chains)}</div>`;
}

function renderRest(view: WalletView, { rows, rest }: History): Html {
  const first = view.cursor === '' ? html`` : html` <a href="${walletUrl(view)}">Back to the newest</a>`;
  if (rest.length === 0) return first;
  const links = rest.map(
    ({ direction, cursor }) =>
      html` <a href="${walletUrl(view, { direction, cursor })}">Older grants: ${headingOf(view, direction).toLowerCase()}</a>`,
  );
  return html`<p class="notice">This wallet has a very long history. The time line has ${rows.length.toLocaleString('en')} of its grants, and lacks what happened to older ones.${first}${links}</p>`;
}

const VERBS: Readonly<Record<TimelineEvent['kind'], string>> = {
  began: 'Granted',
  ended: 'Ended:',
  changed: 'Changed:',
  gone: 'Ended or changed:',
};

function renderEvent(view: WalletView, event: TimelineEvent): Html {
  const { kind, direction, grant, before, at } = event;
  const other = renderWalletLink(view, direction === 'outgoing' ? grant.to : grant.from, grant.chainId);
  const who = html`${kind === 'began' ? '' : 'the grant '}${direction === 'outgoing' ? 'to' : 'by'} ${other}`;
  const scope =
    before === null
      ? renderScope(view, grant)
      : renderScope(view, grant, html`${renderAmount(before.amount)} → ${renderAmount(grant.amount)}`);
  const isDangerous = kind === 'began' && grant.until === null && direction === 'outgoing' && isUnlimited(grant);
  return html`<li class="event ${kind}${isDangerous ? ' dangerous' : ''}" data-key="${rowKey({ direction, grant })}.${at.block}.${at.logIndex}">
<p><strong>${VERBS[kind]}</strong> ${who} ${renderBadges(grant)}</p>
<p class="what">${scope}, ${renderRights(view, grant)}</p>
<p class="soft">${renderTime(at.timestamp, view.now, at.block)}, ${dateText(at.timestamp)}, ${renderTransaction(view, at.transactionHash, grant.chainId, `block ${at.block}`)}</p></li>`;
}
