// Renders grants as one table, and as cards on a narrow screen: both registries, all chains, grants from the wallet first.

import { revokeLink } from '../grant-id.ts';
import { oldBadge } from '../grant-risk.ts';
import { type Html, html } from '../html.ts';
import { shortAddress } from '../parts.ts';
import { renderTime } from '../time-text.ts';
import { type GrantRow, isUnlimited, otherOf, rowKey } from './grant.ts';
import { renderBlock, renderOther, renderRights, renderScope } from './grant-cells.ts';
import type { Listing } from './wallet-reader.ts';
import { DIRECTIONS, type Direction, type WalletView, walletUrl } from './wallet-view.ts';

const HEADINGS: Readonly<Record<Direction, readonly [now: string, past: string]>> = {
  outgoing: ['May act for it', 'Could act for it'],
  incoming: ['It may act for', 'It could act for'],
};
const headingOf = ({ asOf }: WalletView, direction: Direction) => HEADINGS[direction][asOf === '' ? 0 : 1];

/** Links to the grants that were not read. */
export const restLinks = (view: WalletView, rest: Listing['rest'], name: string): Html[] =>
  rest.map(
    ({ direction, cursor }) =>
      html` <a href="${walletUrl(view, { direction, cursor })}#grants">${name}: ${headingOf(view, direction).toLowerCase()}</a>`,
  );

/** On a narrow screen the elements are blocks, which would hide what they are: so the roles are written down. */
export function renderTable(view: WalletView, rows: readonly GrantRow[]): Html {
  const hasActions = view.asOf === '' && rows.some(({ direction }) => direction === 'outgoing');
  const columns = ['Wallet', 'What', 'Rights', 'Since'];
  const heads = columns.map((name) => html`<th role="columnheader" scope="col">${name}</th>`);
  const action = hasActions && html`<th role="columnheader" scope="col"><span class="spoken">Action</span></th>`;
  const groups = DIRECTIONS.map((direction) => {
    const its = rows.filter((row) => row.direction === direction);
    if (its.length === 0) return html``;
    const span = columns.length + (hasActions ? 1 : 0);
    return html`<tbody role="rowgroup"><tr role="row" class="group ${direction}" data-key="${direction}"><th role="rowheader" scope="rowgroup" colspan="${span}">${headingOf(view, direction)}</th></tr>
${its.map((row) => renderRow(view, row, hasActions))}</tbody>`;
  });
  return html`<table class="grants" role="table" aria-label="Grants"><thead role="rowgroup"><tr role="row">${heads}${action}</tr></thead>${groups}</table>`;
}

function renderRow(view: WalletView, row: GrantRow, hasActions: boolean): Html {
  const { direction, grant } = row;
  const { since, chainId } = grant;
  const cell = (label: string, content: Html) => html`<td role="cell" data-label="${label}"><div>${content}</div></td>`;
  const isDangerous = direction === 'outgoing' && isUnlimited(grant);
  const revoke =
    direction === 'outgoing' &&
    html`<a class="button danger small" href="${revokeLink(view.wallet, grant)}&same=yes" aria-label="Revoke the grant to ${shortAddress(otherOf(row))}">Revoke</a>`;
  return html`<tr role="row" data-key="${rowKey(row)}"${isDangerous && html` class="dangerous"`}>
${cell('Wallet', renderOther(view, row))}
${cell('What', renderScope(view, grant))}
${cell('Rights', renderRights(view, grant))}
${cell('Since', html`${renderTime(since.timestamp, view.now, since.block)} <span class="soft">${renderBlock(view, since, chainId)}</span>${direction === 'outgoing' && html` ${oldBadge(since.timestamp, view.now)}`}`)}
${hasActions && html`<td role="cell" class="action">${revoke}</td>`}</tr>`;
}
