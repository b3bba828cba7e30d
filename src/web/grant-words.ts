// Says what a grant gives: to its owner, or to anybody who asks.

import type { DelegationRecord } from '../api/responses.ts';
import { checksummed } from '../registry/checksum.ts';
import { type Address, type Delegation, MAX_UINT256 } from '../registry/delegation.ts';
import { knownIdName, type RightsId, rightsLabel } from '../registry/rights.ts';
import { type Html, html } from './html.ts';
import { shortAddress, shortened } from './parts.ts';

const shortCode = (address: string): Html => html`<code>${shortened(address, shortAddress(address))}</code>`;

/** The amount is null where it is not known: of a grant that is not active. */
function amountOf(amount: bigint | null, unit: string): Html | null {
  if (amount === null) return null;
  return amount === MAX_UINT256 ? html`any amount of ` : html`up to <code>${String(amount)}</code>${unit} of `;
}

/** What the hot wallet may act for: the end of "it may act for …". */
function subjectOf({ kind, contract, tokenId, amount }: Delegation, isOwner: boolean): Html {
  if (kind === 'ALL') return html`<strong>${isOwner ? 'your' : 'the'} whole wallet</strong>`;
  const of = shortCode(checksummed(contract as Address));
  if (kind === 'CONTRACT') return html`everything ${isOwner && 'you have '}in contract ${of}`;
  if (kind === 'ERC20') return html`${amountOf(amount, ' base units')}the ERC-20 token ${of}`;
  const token = html`token <code>${String(tokenId)}</code> of ${of}`;
  return kind === 'ERC1155' ? html`${amountOf(amount, '')}${token}` : token;
}

/** What a right with an expiry is called; null if it has neither. */
export const knownName = ({ rightsName, rightsId, expires }: DelegationRecord): string | null =>
  rightsName ?? (expires === null ? null : knownIdName(rightsId as RightsId));

/** The subject with the right that limits it: "your whole wallet with the right “vote”". */
export function powerText(grant: Delegation, isOwner = true, now = Date.now() / 1000): Html {
  const right = rightsLabel(grant.rights, now);
  const limit = right !== null && html` with the right <span class="right">“${right}”</span>`;
  return html`${subjectOf(grant, isOwner)}${limit}`;
}

/** The same with the registry. */
export const grantText = (grant: Delegation, isOwner?: boolean): Html =>
  html`${powerText(grant, isOwner)} <span class="badge">v${grant.version}</span>`;
