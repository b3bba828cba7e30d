// Draws a wallet between the wallets that delegate to it and those it delegates to, as SVG with links.

import { coldWalletOf, type DelegationRecord, hotWalletOf } from '../api/responses.ts';
import { shortAddress } from './delegation.ts';
import { type Html, html } from './html.ts';

/** More per side would not be readable. */
const MAX_ROWS = 7;
const ROW = 34;
const WIDTH = 640;

export function renderGraph(wallet: string, delegations: readonly DelegationRecord[]): Html {
  const same = (a: string) => a.toLowerCase() === wallet.toLowerCase();
  const others = (side: (one: DelegationRecord) => string, ours: (one: DelegationRecord) => string) => [
    ...new Set(delegations.filter((one) => same(ours(one)) && !same(side(one))).map(side)),
  ];
  const [colds, hots] = [others(coldWalletOf, hotWalletOf), others(hotWalletOf, coldWalletOf)];
  if (colds.length + hots.length === 0) return html``;
  const rows = Math.max(1, Math.min(MAX_ROWS, Math.max(colds.length, hots.length)));
  const height = rows * ROW + 20;
  const middle = height / 2;
  const column = (wallets: readonly string[], isLeft: boolean) =>
    wallets.slice(0, MAX_ROWS).map((address, row) => {
      const y = 10 + (height - 20) * ((row + 0.5) / Math.min(MAX_ROWS, wallets.length));
      const [x, end, near] = isLeft ? [10, 150, 255] : [WIDTH - 150, WIDTH - 150, WIDTH - 255];
      const [from, to] = isLeft ? [end, near] : [near, end];
      const [startY, endY] = isLeft ? [y, middle] : [middle, y];
      return html`<path class="edge" d="M${from} ${startY} C${from + 50} ${startY} ${to - 50} ${endY} ${to} ${endY}" marker-end="url(#arrow)"/>
<a href="/?wallet=${address}"><title>${address}</title><rect class="node" x="${x}" y="${y - 13}" width="140" height="26" rx="13"/><text x="${x + 70}" y="${y + 4}">${shortAddress(address)}</text></a>`;
    });
  // An empty side takes no space.
  const [left, right] = [colds.length === 0 ? 245 : 0, hots.length === 0 ? WIDTH - 245 : WIDTH];
  const rest = (count: number) => (count > MAX_ROWS ? ` and ${count - MAX_ROWS} more` : '');
  return html`<figure class="graph"><svg viewBox="${left} 0 ${right - left} ${height}" role="group" aria-label="Wallets that ${shortAddress(wallet)} may act for, and that may act for it">
<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>
${column(colds, true)}${column(hots, false)}
<rect class="node self" x="255" y="${middle - 15}" width="130" height="30" rx="15"/><text x="320" y="${middle + 4}">${shortAddress(wallet)}</text>
</svg><figcaption>Arrows point from the delegating wallet to the wallet that may act for it${rest(colds.length)}${rest(hots.length)}.</figcaption></figure>`;
}
