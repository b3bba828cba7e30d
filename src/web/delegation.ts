// Renders the parts of a delegation as text and links.

import type { DelegationRecord } from '../api/responses.ts';
import { rightsLabel } from '../registry/rights.ts';
import { type Html, html } from './html.ts';

export const shortAddress = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;

const code = (address: string | null): Html =>
  address === null ? html`` : html`<code title="${address}">${shortAddress(address)}</code>`;

/** What the delegation covers. */
function describeScope({ type, contract, tokenId, standard, amount }: DelegationRecord): Html {
  if (type === 'ALL') return html`Whole wallet`;
  if (type === 'CONTRACT') return html`Contract ${code(contract)}`;
  if (standard === 'ERC20') return html`${amount ?? ''} base units of ERC-20 ${code(contract)}`;
  const many = amount === null ? '' : html`${amount} of `;
  return html`${many}token ${tokenId ?? ''} of ${code(contract)}`;
}

/** The same with its right, if it is limited to one. */
export function describeGrant(record: DelegationRecord): Html {
  const right = rightsLabel(record.rights, dateText);
  return html`${describeScope(record)}${right === null ? '' : html`, only for “${right}”`}`;
}

export const dateText = (seconds: number): string =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
