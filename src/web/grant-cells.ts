// What a grant covers and which rights it gives, as the page of a wallet shows it.

import { MAX_UINT256 } from '../registry/delegation.ts';
import { dateText } from './delegation.ts';
import { hasAnyRight, isUnlimited } from './grant.ts';
import { type Html, html } from './html.ts';
import { renderBytes, renderContract, renderNumber } from './links.ts';
import type { Grant } from './wallet-reader.ts';
import { chainName, type WalletView } from './wallet-view.ts';

export function renderAmount(amount: string | number | null): Html {
  const digits = String(amount ?? '');
  return digits === String(MAX_UINT256) ? html`any amount` : renderNumber(digits, 'amount');
}

export function renderScope(view: WalletView, grant: Grant): Html {
  const { type, standard, contract, tokenId, amount, chainId } = grant;
  if (type === 'ALL') {
    const mark = isUnlimited(grant) ? html` <span class="badge bad">⚠ no limit</span>` : '';
    return html`<strong>Whole wallet</strong>${mark}`;
  }
  const where = renderContract(view, contract ?? '', chainId);
  if (type === 'CONTRACT') return html`Contract ${where}`;
  if (standard === 'ERC20') {
    const unit = String(amount) === String(MAX_UINT256) ? '' : ' base units';
    return html`${renderAmount(amount)}${unit} of ERC-20 ${where}`;
  }
  const token = html`${renderNumber(String(tokenId), 'token id')} of ${where}`;
  if (standard === 'ERC1155') return html`${renderAmount(amount)} of ERC-1155 token ${token}`;
  return html`${standard === 'ERC721' ? 'NFT' : 'Token'} ${token}`;
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
