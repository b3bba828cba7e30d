// Says what a grant gives: in an answer, and in words for its owner.

import type { DelegationRecord } from '../api/responses.ts';
import { checksummed } from '../registry/checksum.ts';
import { type Address, type Delegation, MAX_UINT256 } from '../registry/delegation.ts';
import { rightsLabel } from '../registry/rights.ts';
import { type Html, html } from './html.ts';
import { shortAddress } from './parts.ts';
import { dateText } from './time-text.ts';

const shortCode = (address: string | null): Html | null =>
  address === null ? null : html`<code class="short" title="${address}">${shortAddress(address)}</code>`;

/** What the delegation covers. */
function describeScope({ type, contract, tokenId, standard, amount }: DelegationRecord): Html {
  if (type === 'ALL') return html`Whole wallet`;
  if (type === 'CONTRACT') return html`Contract ${shortCode(contract)}`;
  if (standard === 'ERC20') return html`${amount} base units of ERC-20 ${shortCode(contract)}`;
  return html`${amount !== null && `${amount} of `}token ${tokenId} of ${shortCode(contract)}`;
}

/** The same with its right, if it is limited to one. */
export function describeGrant(record: DelegationRecord): Html {
  const right = rightsLabel(record.rights, dateText);
  return html`${describeScope(record)}${right !== null && `, only for “${right}”`}`;
}

/** The amount is null where it is not known: of a grant that is not active. */
function amountOf(amount: bigint | null, unit: string): Html | null {
  if (amount === null) return null;
  return amount === MAX_UINT256 ? html`any amount of ` : html`up to <code>${String(amount)}</code>${unit} of `;
}

/** What the hot wallet may act for: the end of "it may act for …". */
function subjectOf({ kind, contract, tokenId, amount }: Delegation): Html {
  if (kind === 'ALL') return html`<strong>your whole wallet</strong>`;
  const of = shortCode(checksummed(contract as Address));
  if (kind === 'CONTRACT') return html`everything you have in contract ${of}`;
  if (kind === 'ERC20') return html`${amountOf(amount, ' base units')}the ERC-20 token ${of}`;
  const token = html`token <code>${String(tokenId)}</code> of ${of}`;
  return kind === 'ERC1155' ? html`${amountOf(amount, '')}${token}` : token;
}

/** The subject with the right that limits it, and the registry: "your whole wallet with the right “vote”, in v2". */
export function grantText(grant: Delegation): Html {
  const right = rightsLabel(grant.rights, dateText);
  const limit = right !== null && html` with the right <span class="right">“${right}”</span>`;
  return html`${subjectOf(grant)}${limit} <span class="badge">v${grant.version}</span>`;
}
