// Says in a sentence and in tiles who may act for a wallet. It never says more than was read.

import { type Html, html } from '../html.ts';
import { chainName } from '../parts.ts';
import { renderTime } from '../time-text.ts';
import type { Side, WalletGrants } from './wallet-reader.ts';
import { isEverythingKnown } from './wallet-states.ts';
import { type Direction, type WalletView, walletUrl } from './wallet-view.ts';

type SideCount = ReturnType<typeof countSide>;

/** What is known of one direction. */
function countSide({ wallet }: WalletView, direction: Direction, side: Side) {
  const walletsOf = (grants: Side['grants']) =>
    grants.map(({ from, to }) => (direction === 'outgoing' ? to : from)).filter((other) => other !== wallet);
  const unlimited = new Set(walletsOf(side.unlimited ?? []));
  return {
    wallets: new Set([...walletsOf(side.grants), ...unlimited]).size,
    /** Whether there can be no more of them on the chains that answered. */
    isExact: side.next === null,
    /** Wallets without any limit; null if they are not known. */
    unlimited: side.unlimited === null ? null : unlimited.size,
    isUnlimitedExact: !side.hasMoreUnlimited,
  };
}

const figure = (count: number, isExact: boolean) => `${isExact ? '' : 'at least '}${count.toLocaleString('en')}`;
const wallets = (count: number) => (count === 1 ? 'wallet' : 'wallets');

/** How many of the wallets have no limit, as the end of a sentence. It is an alarm only to a wallet for which others may act. */
function limitText(
  { wallets: total, isExact, unlimited, isUnlimitedExact }: SideCount,
  isKnown: boolean,
  isDanger: boolean,
): Html {
  if (unlimited === null) return html`; whether any of them has no limit is unknown`;
  if (unlimited === 0)
    return isKnown && isUnlimitedExact ? html`, ${total === 1 && isExact ? '' : 'each '}within limits` : html``;
  const count = total === 1 && isExact ? '' : `${figure(unlimited, isUnlimitedExact)} `;
  return html`, <strong${isDanger && html` class="danger"`}>${count}without any limit</strong>`;
}

function outgoingSentence(count: SideCount, isKnown: boolean, may: 'may' | 'could'): Html {
  if (count.wallets === 0)
    return isKnown
      ? html`No other wallet ${may} act for it.`
      : html`No grant from it was found, but not everything could be read: somebody ${may} still ${may === 'could' ? 'have acted' : 'act'} for it.`;
  const start = figure(count.wallets, count.isExact);
  return html`${start.charAt(0).toUpperCase()}${start.slice(1)} ${wallets(count.wallets)} ${may} act for it${limitText(count, isKnown, true)}.`;
}

function incomingSentence(count: SideCount, isKnown: boolean, may: 'may' | 'could'): Html {
  if (count.wallets === 0) return isKnown ? html`It ${may} act for no other wallet.` : html`No grant to it was found.`;
  return html`It ${may} act for ${figure(count.wallets, count.isExact)} ${wallets(count.wallets)}${limitText(count, isKnown, false)}.`;
}

export function renderSummary(view: WalletView, grants: WalletGrants): Html {
  const { sides, chains } = grants;
  const outgoing = countSide(view, 'outgoing', sides.outgoing);
  const incoming = countSide(view, 'incoming', sides.incoming);
  const isKnown = isEverythingKnown(chains);
  const may = view.asOf === '' ? 'may' : 'could';
  return html`<p class="said" data-announce="summary">${outgoingSentence(outgoing, isKnown, may)} ${incomingSentence(incoming, isKnown, may)}</p>
${renderTiles(view, grants, outgoing, incoming)}`;
}

function renderTiles(view: WalletView, { sides }: WalletGrants, outgoing: SideCount, incoming: SideCount): Html {
  const all = [...sides.outgoing.grants, ...sides.incoming.grants];
  if (all.length === 0) return html``;
  const may = view.asOf === '' ? 'may' : 'could';
  const isWhole = outgoing.isExact && incoming.isExact;
  const used = [...new Set(all.map(({ chainId }) => chainId))].sort((a, b) => a - b);
  const newest = all.reduce((last, one) => (one.since.timestamp > last.since.timestamp ? one : last));
  const tile = (value: Html | string, label: Html | string, kind = '') =>
    html`<li class="card tile ${kind}"><span class="value">${value}</span> <span class="label">${label}</span></li>`;
  const counted = (count: number, isExact: boolean) => `${count.toLocaleString('en')}${isExact ? '' : '+'}`;
  const unlimited = outgoing.unlimited ?? 0;
  const unlimitedUrl = walletUrl(view, { direction: 'outgoing', kind: null, isUnlimitedOnly: true });
  const withoutLimit = html`<a href="${unlimitedUrl}#grants">without any limit</a>: the whole wallet, any right`;
  const names =
    used.length > 3
      ? `of ${view.allChainIds.length} chains`
      : `${used.length === 1 ? 'chain' : 'chains'}${isWhole || used.length === view.chainIds.length ? '' : ' so far'}: ${used.map(chainName).join(', ')}`;
  return html`<ul class="tiles">${tile(counted(outgoing.wallets, outgoing.isExact), `${wallets(outgoing.wallets)} ${may} act for it`)}
${unlimited > 0 && tile(`⚠ ${counted(unlimited, outgoing.isUnlimitedExact)}`, withoutLimit, 'danger')}
${tile(counted(incoming.wallets, incoming.isExact), `${wallets(incoming.wallets)} it ${may} act for`)}
${tile(String(used.length), names)}
${isWhole && tile(renderTime(newest.since.timestamp, view.now, newest.since.block), 'newest grant', 'time')}</ul>`;
}
