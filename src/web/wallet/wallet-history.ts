// Renders the history of a wallet as a time line: what began, what changed and what ended, newest first.

import { type FetchApi, Refusal } from '../ask-api.ts';
import { grantPaths } from '../grant/grant-query.ts';
import { delegationOf, grantId } from '../grant-id.ts';
import { type Html, html } from '../html.ts';
import { dateText, renderTime } from '../time-text.ts';
import { byNewest, type GrantRow, isUnlimited, type PastGrant, rowKey } from './grant.ts';
import { renderAmount, renderBlock, renderOther, renderRights, renderScope } from './grant-cells.ts';
import { pageOf, renderFilters, renderPager } from './wallet-controls.ts';
import { type Listing, readDirections, readHistory } from './wallet-reader.ts';
import { isEverythingKnown, renderBlocks, renderMissing, renderRefusal } from './wallet-states.ts';
import { restLinks } from './wallet-table.ts';
import { type WalletView, walletUrl } from './wallet-view.ts';

type Log = PastGrant['since'];

/** Its grant is the one after the event, or the one that ended. */
interface TimelineEvent extends GrantRow<PastGrant> {
  /** `gone` is an end or a change: the grant that may follow it was not read. */
  readonly kind: 'began' | 'ended' | 'changed' | 'gone';
  /** Before a change. */
  readonly before: PastGrant | null;
  readonly at: Log;
}

export type PastRow = GrantRow<PastGrant>;

/** Names a grant at one log: a change of its amount ends one entry there and begins the next. */
const keyAt = ({ direction, grant }: PastRow, { block, logIndex }: Log) =>
  [direction, grant.chainId, grant.from, grantId(grant), block, logIndex].join();

/** Newest first. Without the newest grants, the end of an amount may be a change. */
export function timelineOf(rows: readonly PastRow[], hasNewest: boolean): TimelineEvent[] {
  const begun = new Map(rows.map((row) => [keyAt(row, row.grant.since), row]));
  const followed = new Set<string>();
  const events: TimelineEvent[] = [];
  const add = (kind: TimelineEvent['kind'], row: PastRow, at: Log, before: PastGrant | null = null) =>
    events.push({ ...row, kind, before, at });
  for (const row of rows) {
    const { until, amount } = row.grant;
    if (until === null) continue;
    const key = keyAt(row, until);
    const next = begun.get(key);
    if (next === undefined) add(amount === null || hasNewest ? 'ended' : 'gone', row, until);
    else {
      followed.add(key);
      add('changed', next, until, row.grant);
    }
  }
  for (const row of rows) if (!followed.has(keyAt(row, row.grant.since))) add('began', row, row.grant.since);
  const placeOf = ({ grant: { chainId }, at }: TimelineEvent) => ({ chainId, since: at });
  return events.sort((a, b) => byNewest(placeOf(a), placeOf(b)));
}

export async function renderHistory(view: WalletView, fetchApi: FetchApi): Promise<Html> {
  const history = await readDirections(view, (one) => readHistory(one, fetchApi));
  if (history instanceof Refusal) return renderRefusal(view, history);
  const { rows, chains, rest } = history;
  const events = timelineOf(rows, view.cursor === '');
  const page = pageOf(events, view.page);
  const isLong = rest.length > 0 || view.cursor !== '';
  const empty = isEverythingKnown(chains)
    ? 'Nothing was ever granted from or to this wallet.'
    : 'No grant was found, but not everything could be read.';
  return html`${renderFilters(view)}
<div${!isLong && html` data-part="history"`}>${renderMissing(chains)}${renderRest(view, history)}
${events.length === 0 ? html`<p class="empty">${empty}</p>` : html`<ol class="timeline">${page.rows.map((event) => renderEvent(view, event))}</ol>`}
${renderPager(page, (to) => walletUrl(view, { page: to, cursor: view.cursor }))}${renderBlocks(chains)}</div>`;
}

function renderRest(view: WalletView, { rows, rest }: Listing<PastGrant>): Html | false {
  const first = view.cursor !== '' && html` <a href="${walletUrl(view)}">Back to the newest</a>`;
  if (rest.length === 0) return first;
  return html`<p class="notice">This wallet has a very long history. The time line has ${rows.length.toLocaleString('en')} of its grants, and lacks what happened to older ones.${first}${restLinks(view, rest, 'Older grants')}</p>`;
}

const VERBS = { began: 'Granted', ended: 'Ended:', changed: 'Changed:', gone: 'Ended or changed:' } as const;

function renderEvent(view: WalletView, event: TimelineEvent): Html {
  const { kind, direction, grant, before, at } = event;
  const what = `${kind === 'began' ? '' : 'the grant '}${direction === 'outgoing' ? 'to' : 'by'}`;
  const change = before === null ? undefined : html`${renderAmount(before.amount)} → ${renderAmount(grant.amount)}`;
  const then = { isHistory: false, direction: null, chain: String(grant.chainId), asOf: String(at.block) };
  const isDangerous = kind === 'began' && grant.until === null && direction === 'outgoing' && isUnlimited(grant);
  const ended = delegationOf(grant);
  const undo =
    kind === 'ended' &&
    direction === 'outgoing' &&
    grantPaths(ended.from, grant.chainId, [ended]).map((path) => html`<p><a href="${path}">Grant it again …</a></p>`);
  return html`<li class="event ${kind}${isDangerous ? ' dangerous' : ''}" data-key="${rowKey(event)}.${at.block}.${at.logIndex}">
<p><strong>${VERBS[kind]}</strong> ${what} ${renderOther(view, event)}</p>
<p>${renderScope(view, grant, change)}, ${renderRights(view, grant)}</p>
<p class="soft">${renderTime(at.timestamp, view.now, at.block)}, ${dateText(at.timestamp)}, ${renderBlock(view, at, grant.chainId)} · <a href="${walletUrl(view, then)}">this wallet then</a></p>${undo}</li>`;
}
