// Says what a grant gives, in words for its owner.

import { checksummed } from '../registry/checksum.ts';
import { type Address, type Delegation, MAX_UINT256 } from '../registry/delegation.ts';
import { rightsLabel } from '../registry/rights.ts';
import { dateText, shortAddress } from './delegation.ts';
import { type Html, html } from './html.ts';

export function shortCode(address: Address): Html {
  const full = checksummed(address);
  return html`<code class="short" title="${full}">${shortAddress(full)}</code>`;
}

/** The amount is null where it is not known: of a grant that is not active. */
function amountOf(amount: bigint | null, unit: string): Html {
  if (amount === null) return html``;
  return amount === MAX_UINT256 ? html`any amount of ` : html`up to <code>${String(amount)}</code>${unit} of `;
}

/** What the hot wallet may act for: the end of "it may act for …". */
function subjectOf({ kind, contract, tokenId, amount }: Delegation): Html {
  if (kind === 'ALL') return html`<strong>your whole wallet</strong>`;
  const of = shortCode(contract as Address);
  if (kind === 'CONTRACT') return html`everything you have in contract ${of}`;
  if (kind === 'ERC20') return html`${amountOf(amount, ' base units')}the ERC-20 token ${of}`;
  const token = html`token <code>${String(tokenId)}</code> of ${of}`;
  return kind === 'ERC1155' ? html`${amountOf(amount, '')}${token}` : token;
}

/** The subject with the right that limits it, and the registry: "your whole wallet with the right “vote”, in v2". */
export function grantText(grant: Delegation): Html {
  const right = rightsLabel(grant.rights, dateText);
  const limit = right === null ? '' : html` with the right <span class="right">“${right}”</span>`;
  return html`${subjectOf(grant)}${limit} <span class="badge">v${grant.version}</span>`;
}

/** The amount that a grant has now, in the words of a message; empty without one. */
export const amountText = ({ amount }: Delegation): string => (amount === null ? '' : String(amount));

export const countText = (count: number, one: string, many = `${one}s`): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${many}`;
