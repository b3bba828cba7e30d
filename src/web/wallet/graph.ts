// Draws a wallet between the wallets that delegate to it and those it delegates to, as SVG with links: beside each other on a wide
// screen, below each other on a narrow one.

import { MAX_UINT256 } from '../../registry/delegation.ts';
import { knownName } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { countText, shortAddress } from '../parts.ts';
import { byNewest, type Grant, type GrantRow, hasAnyRight, isUnlimited, kindOf, kindWidth, otherOf } from './grant.ts';
import { shortNumber } from './grant-cells.ts';

type GraphSide = ReturnType<typeof sideOf>;
type GraphWallet = GraphSide['drawn'][number];

interface Graph {
  readonly wallet: string;
  /** The wallets that it may act for, and those that may act for it. */
  readonly colds: GraphSide;
  readonly hots: GraphSide;
}

/** Null for fewer than two other wallets: the table says as much. */
export function renderGraph(wallet: string, rows: readonly GrantRow[], isComplete: boolean): Html | null {
  const graph = { wallet, colds: sideOf('incoming', wallet, rows), hots: sideOf('outgoing', wallet, rows) };
  if (graph.colds.drawn.length + graph.hots.drawn.length < 2) return null;
  return html`<figure class="graph">${renderWide(graph)}${renderNarrow(graph)}<figcaption>${captionOf(graph, isComplete)}</figcaption></figure>`;
}

function captionOf({ colds, hots }: Graph, isComplete: boolean): string {
  const more = (count: number, end: string) => (count === 0 ? [] : [`${countText(count, 'more wallet')} ${end}`]);
  const hidden = [...more(hots.hidden, 'with a grant from it'), ...more(colds.hidden, 'with a grant to it')];
  const notDrawn = hidden.length === 0 ? '' : ` Not drawn: ${hidden.join(' and ')}.`;
  const unread = isComplete ? '' : ' Grants that were not read are not counted.';
  return `Arrows lead to the wallet that got the grant, and say what it covers.${notDrawn}${unread}`;
}

interface Frame {
  readonly name: 'wide' | 'narrow';
  readonly left?: number;
  readonly width: number;
  readonly height: number;
  readonly wallet: string;
}

const frame = ({ name, left = 0, width, height, wallet }: Frame, content: Html): Html =>
  html`<svg class="${name}" viewBox="${left} 0 ${width} ${height}" role="group" aria-label="Wallets around ${shortAddress(wallet)}">
<defs><marker id="arrow-${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>${content}</svg>`;

const node = (address: string, x: number, y: number): Html =>
  html`<a href="/?wallet=${address}"><title>${address}</title><rect class="node" x="${x}" y="${y - 15}" width="${NODE}" height="30" rx="15"/><text x="${x + NODE / 2}" y="${y + 5}">${shortAddress(address)}</text></a>`;
const self = (wallet: string, x: number, y: number): Html =>
  html`<rect class="node self" x="${x}" y="${y - 17}" width="${NODE}" height="34" rx="17"/><text class="on-self" x="${x + NODE / 2}" y="${y + 5}">${shortAddress(wallet)}</text>`;
const edge = (name: string, path: string, { isUnlimited }: GraphWallet): Html =>
  html`<path class="edge${isUnlimited && ' unlimited'}" d="${path}" marker-end="url(#arrow-${name})"/>`;
const label = (one: GraphWallet, x: number, y: number, most: number): Html =>
  html`<text class="scope${one.isUnlimited && ' unlimited'}" x="${x}" y="${y}">${arrowText(one, most)}</text>`;
const more = (hidden: number, x: number, y: number) =>
  hidden > 0 && html`<text class="scope" x="${x}" y="${y}">and ${hidden.toLocaleString('en')} more</text>`;

/** The width of a wallet. */
const NODE = 124;

const WIDE = 960;
const WIDE_ROW = 44;
/** Where arrows are level: their text stands there. */
const [LEVEL_LEFT, LEVEL_RIGHT] = [344, WIDE - 344];
const WIDE_TEXT = 30;

function renderWide({ wallet, colds, hots }: Graph): Html {
  const rowsOf = ({ drawn, hidden }: GraphSide) => drawn.length + (hidden > 0 ? 1 : 0);
  const height = Math.max(1, rowsOf(colds), rowsOf(hots)) * WIDE_ROW + 12;
  const middle = height / 2;
  const [left, right] = [(WIDE - NODE) / 2, (WIDE + NODE) / 2];
  const side = (list: GraphSide, nodeX: number, labelX: number, path: (y: number) => string) => {
    const yOf = (row: number) => middle + (row - (rowsOf(list) - 1) / 2) * WIDE_ROW;
    const rows = list.drawn.map((one, row) => {
      const y = yOf(row);
      return html`${edge('wide', path(y), one)}${node(one.address, nodeX, y)}${label(one, labelX, y - 6, WIDE_TEXT)}`;
    });
    return html`${rows}${more(list.hidden, nodeX + NODE / 2, yOf(list.drawn.length) + 5)}`;
  };
  const toSelf = (y: number) =>
    `M${NODE} ${y}H${LEVEL_LEFT - 20}C${LEVEL_LEFT + 50} ${y} ${left - 60} ${middle} ${left - 3} ${middle}`;
  const fromSelf = (y: number) =>
    `M${right} ${middle}C${right + 60} ${middle} ${LEVEL_RIGHT - 50} ${y} ${LEVEL_RIGHT + 20} ${y}H${WIDE - NODE - 3}`;
  const incoming = side(colds, 0, (NODE + LEVEL_LEFT) / 2, toSelf);
  const outgoing = side(hots, WIDE - NODE, (WIDE - NODE + LEVEL_RIGHT) / 2, fromSelf);
  // A side without wallets takes no room.
  const start = colds.drawn.length === 0 ? left - 2 : 0;
  const end = hots.drawn.length === 0 ? right + 2 : WIDE;
  const wide = frame(
    { name: 'wide', left: start, width: end - start, height, wallet },
    html`${incoming}${outgoing}${self(wallet, left, middle)}`,
  );
  return end - start === WIDE ? wide : html`<div class="half">${wide}</div>`;
}

const NARROW = 300;
const NARROW_ROW = 60;
const TRUNK = 18;
const BRANCH = 48;
const NARROW_TEXT = 32;

/** From top to bottom: wallets that it may act for, the wallet, wallets that may act for it. */
function renderNarrow({ wallet, colds, hots }: Graph): Html {
  const heightOf = ({ drawn, hidden }: GraphSide) => drawn.length * NARROW_ROW + (hidden > 0 ? 26 : 0);
  const top = heightOf(colds) + 24;
  const bottom = top + 46;
  const side = (list: GraphSide, start: number, path: (y: number) => string) => {
    const end = start + list.drawn.length * NARROW_ROW;
    const rows = list.drawn.map((one, row) => {
      const y = start + row * NARROW_ROW;
      return html`${edge('narrow', path(y), one)}${node(one.address, BRANCH, y)}${label(one, BRANCH + 6, y + 33, NARROW_TEXT)}`;
    });
    return html`${rows}${more(list.hidden, BRANCH + 6, end + 3)}`;
  };
  const toSelf = (y: number) => `M${BRANCH} ${y}H${TRUNK + 8}Q${TRUNK} ${y} ${TRUNK} ${y + 8}V${top - 20}`;
  const fromSelf = (y: number) => `M${TRUNK} ${top + 17}V${y - 8}Q${TRUNK} ${y} ${TRUNK + 8} ${y}H${BRANCH - 3}`;
  const content = html`${side(colds, 20, toSelf)}${side(hots, bottom, fromSelf)}${self(wallet, 0, top)}`;
  return frame({ name: 'narrow', width: NARROW, height: bottom + heightOf(hots) - 10, wallet }, content);
}

/** More per side would not be readable. */
const MOST_DRAWN = 7;

/** A v1 token and the same ERC-721 token have one name. */
/** A power in a few words. */
export function scopeText(grant: Grant): string {
  const { contract, tokenId, amount } = grant;
  const where = contract === null ? '' : shortAddress(contract);
  const token = `${shortNumber(String(tokenId))} of ${where}`;
  const many = String(amount) === String(MAX_UINT256) ? 'any amount' : shortNumber(String(amount));
  const what = {
    all: 'whole wallet',
    contract: `contract ${where}`,
    nft: `token ${token}`,
    erc1155: `${many} of token ${token}`,
    erc20: `ERC-20 ${where}`,
  }[kindOf(grant)];
  const right = grant.rightsText ?? knownName(grant);
  return hasAnyRight(grant) ? what : `${what}, only ${right === null ? 'some rights' : `“${right}”`}`;
}

const widthOf = (grant: Grant) => (isUnlimited(grant) ? -1 : kindWidth(grant));

/** Wallets without any limit are drawn first, then those with the newest grants. */
function sideOf(direction: GrantRow['direction'], wallet: string, rows: readonly GrantRow[]) {
  const its = rows.filter((row) => row.direction === direction && otherOf(row) !== wallet);
  const others = Map.groupBy(
    its.toSorted((a, b) => byNewest(a.grant, b.grant)),
    otherOf,
  );
  const wallets = [...others].map(([address, found]) => {
    // What they cover is said once, the widest first.
    const grants = found.map(({ grant }) => grant).toSorted((a, b) => widthOf(a) - widthOf(b));
    return { address, isUnlimited: grants.some(isUnlimited), scopes: [...new Set(grants.map(scopeText))] };
  });
  const inOrder = wallets.toSorted((a, b) => Number(b.isUnlimited) - Number(a.isUnlimited));
  return { drawn: inOrder.slice(0, MOST_DRAWN), hidden: Math.max(0, wallets.length - MOST_DRAWN) };
}

/** The text on an arrow, of so many characters at most. */
function arrowText({ scopes, isUnlimited: isDangerous }: GraphWallet, most: number): string {
  const [first = '', ...rest] = scopes;
  const more = rest.length === 0 ? '' : ` +${rest.length}`;
  const room = most - more.length;
  const text = isDangerous ? `⚠ ${first}` : first;
  return (text.length > room ? `${text.slice(0, room - 1)}…` : text) + more;
}
