// Says which wallet alone acts for a wallet, and for which wallets it alone acts, by the expiring rights among its grants.

import { EXCLUSIVE } from '../../api/exclusive-operations.ts';
import { type Expiry, expiryText } from '../../registry/expiry-text.ts';
import { type RightsId, rightsIdLabel } from '../../registry/rights.ts';
import { askApi, type FetchApi, Refusal } from '../ask-api.ts';
import { pointInTime } from '../explorer/explorer-query.ts';
import { type Html, html } from '../html.ts';
import { walletName } from '../names/name-slots.ts';
import { chainName, shortAddress } from '../parts.ts';
import type { WalletGrants } from './wallet-reader.ts';
import { DIRECTIONS, type Direction, type WalletView } from './wallet-view.ts';

/** How many rights are asked about in each direction, and how many wallets of each are named. */
const MOST_RIGHTS = 4;
const MOST_WALLETS = 10;

/** The rights with an expiry that cover a whole wallet, each on its chain. */
const rightsIn = ({ grants }: WalletGrants['sides'][Direction]) =>
  new Map(
    grants
      .filter(({ type, expires }) => type === 'ALL' && expires !== null)
      .map(({ chainId, rightsId }) => [`${chainId} ${rightsId}`, { chainId, rights: rightsId as RightsId }]),
  );

export async function renderExclusive(view: WalletView, { sides }: WalletGrants, fetchApi: FetchApi): Promise<Html> {
  const { wallet, asOf } = view;
  // In the past it had not expired yet.
  const now = asOf === '' ? view.now : 0;
  const lines = DIRECTIONS.flatMap((direction) =>
    [...rightsIn(sides[direction]).values()].slice(0, MOST_RIGHTS).map(async (right): Promise<Html | null> => {
      const asked = { ...right, ...pointInTime(asOf) };
      const where = `${rightsIdLabel(right.rights)}, ${chainName(right.chainId)}`;
      const link = (address: string, expires: Expiry | null) =>
        html`<a class="address" href="/?wallet=${address}">${shortAddress(address)}</a> ${walletName(address)} ${expires !== null && `(${expiryText(expires, now)})`}`;
      const unknown = ({ text }: Refusal) => html`<li>${where}: who acts alone is unknown. ${text}</li>`;
      if (direction === 'outgoing') {
        const one = await askApi(fetchApi, EXCLUSIVE.wallet, { vault: wallet, ...asked });
        if (one instanceof Refusal) return unknown(one);
        return one.delegated ? html`<li>${link(one.wallet, one.expires)} acts alone for it: ${where}</li>` : null;
      }
      const found = await askApi(fetchApi, EXCLUSIVE.vaults, { wallet, ...asked, limit: MOST_WALLETS });
      if (found instanceof Refusal) return unknown(found);
      const vaults = found.vaults.map(({ vault, expires }, at) => html`${at > 0 && ', '}${link(vault, expires)}`);
      const more = found.next === null ? '' : ' and perhaps others';
      return vaults.length === 0 ? null : html`<li>It acts alone for ${vaults}${more}: ${where}</li>`;
    }),
  );
  const said = (await Promise.all(lines)).filter((line) => line !== null);
  return html`${said.length > 0 && html`<ul class="exclusive">${said}</ul>`}`;
}
