// What a grant covers and which rights it gives, as the page of a wallet shows it.

import { MAX_UINT256 } from '../../registry/delegation.ts';
import { chainName } from '../chain-name.ts';
import { dateText } from '../delegation.ts';
import { type Html, html } from '../html.ts';
import { hasAnyRight, isUnlimited } from './grant.ts';
import { renderBytes, renderContract, renderNumber } from './links.ts';
import type { Grant } from './wallet-reader.ts';
import type { WalletView } from './wallet-view.ts';

export function renderAmount(amount: string | number | null): Html {
  const digits = String(amount ?? '');
  return digits === String(MAX_UINT256) ? html`any amount` : renderNumber(digits, 'amount');
}

/** A grant that has ended is no danger. */
const isDangerous = (grant: Grant) => isUnlimited(grant) && !('until' in grant && grant.until !== null);

/** Two lines in the table: what, and of which contract. */
export function renderScope(view: WalletView, grant: Grant, amount = renderAmount(grant.amount)): Html {
  const { type, standard, contract, tokenId, chainId } = grant;
  if (type === 'ALL')
    return html`<strong>Whole wallet</strong>${isDangerous(grant) ? html` <span class="badge bad">⚠ no limit</span>` : ''}`;
  const where = renderContract(view, contract ?? '', chainId);
  if (type === 'CONTRACT') return html`Contract ${where}`;
  const lines = (what: Html, of: string) =>
    html`<span class="line">${what}</span> <span class="line">${of} ${where}</span>`;
  if (standard === 'ERC20') {
    const unit = String(grant.amount) === String(MAX_UINT256) ? '' : ' base units';
    return lines(html`${amount}${unit}`, 'of ERC-20');
  }
  const token = renderNumber(String(tokenId), 'token id');
  if (standard === 'ERC1155') return lines(html`${amount} of token ${token}`, 'of ERC-1155');
  return lines(html`${standard === 'ERC721' ? 'NFT' : 'Token'} ${token}`, 'of');
}

/** The expiry is a note of the owner: the registry goes on granting. */
export function renderRights({ now }: WalletView, grant: Grant): Html {
  if (hasAnyRight(grant)) return html`<span class="any-right">any right</span>`;
  const { rights, rightsText, rightsName, expires } = grant;
  const bytes = renderBytes(rights ?? '');
  const text = rightsText ?? rightsName;
  if (text === null) return html`<span class="right">only</span> ${bytes}`;
  const end =
    expires === null
      ? ''
      : html`<span class="note">${expires < now ? 'expired' : 'expires'} ${dateText(expires)}, not enforced by the registry</span>`;
  return html`<span class="right">only “${text}”</span> ${end}<span class="bytes">${bytes}</span>`;
}

export const renderBadges = ({ version, chainId }: Grant): Html =>
  html`<span class="badges"><span class="badge">${chainName(chainId)}</span> <span class="badge">v${version}</span></span>`;
