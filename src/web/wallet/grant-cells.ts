// The parts of a grant on the page of a wallet: wallets, contracts, transactions, what it covers, and which rights it gives. What is
// shortened can be copied whole, and is printed whole.

import { MAX_UINT256 } from '../../registry/delegation.ts';
import { expiryText } from '../../registry/expiry-text.ts';
import { knownName } from '../grant-words.ts';
import { type Html, html } from '../html.ts';
import { tokenName, walletName } from '../names/name-slots.ts';
import { chainName, copyButton, explorerUrl, shortAddress, shortened } from '../parts.ts';
import { dateText } from '../time-text.ts';
import { type Grant, type GrantRow, hasAnyRight, isToItself, isUnlimited, otherOf } from './grant.ts';
import type { WalletView } from './wallet-view.ts';

/** Digits that stay at each end of a long number. */
const ENDS = 6;

/** A number with many digits is shortened; its digits are never grouped, so that it can be searched for. */
export const shortNumber = (digits: string): string =>
  digits.length <= 2 * ENDS + 6 ? digits : `${digits.slice(0, ENDS)}…${digits.slice(-ENDS)}`;

/** The short form on the screen, the full one when printed. */
const renderId = (full: string, short: string): Html =>
  html`<span class="id">${full === short ? full : shortened(full, short)}</span>`;

const renderNumber = (digits: string, what: string): Html => {
  const short = shortNumber(digits);
  return html`${renderId(digits, short)}${short !== digits && copyButton(digits, what)}`;
};

/** Links to another site never say where they come from. */
function explorerLink(view: WalletView, chainId: number, path: string, content: Html, label: string): Html | null {
  const url = explorerUrl(view.sandbox, chainId, path);
  return url === null ? null : html`<a href="${url}" rel="noreferrer noopener" aria-label="${label}">${content}</a>`;
}

/** The wallet at the other end, with the chain and the registry of the grant. */
export function renderOther(view: WalletView, row: GrantRow): Html {
  const { chainId, version } = row.grant;
  const address = otherOf(row);
  const short = shortAddress(address);
  const out = explorerLink(view, chainId, `address/${address}`, html`↗`, `${short} in a block explorer`);
  return html`<span class="who"><a class="address" href="/?wallet=${address}">${renderId(address, short)}</a> ${out}${copyButton(address, `address ${short}`)}</span>${walletName(address)}
<span class="badges"><span class="badge">${chainName(chainId)}</span> <span class="badge">v${version}</span>${isToItself(row.grant) && html` <span class="badge">this wallet itself</span>`}</span>`;
}

function renderContract(view: WalletView, address: string, chainId: number): Html {
  const short = renderId(address, shortAddress(address));
  const label = `Contract ${shortAddress(address)} in a block explorer`;
  const link = explorerLink(view, chainId, `address/${address}`, html`${short} ↗`, label);
  return html`<span class="address">${link ?? short}</span>${copyButton(address, `contract ${shortAddress(address)}`)} ${tokenName(chainId, address)}`;
}

/** The block of a log, with a link to its transaction. */
export function renderBlock(view: WalletView, { block, transactionHash }: Grant['since'], chainId: number): Html {
  const label = `block ${block}: transaction in a block explorer`;
  return explorerLink(view, chainId, `tx/${transactionHash}`, html`block ${block} ↗`, label) ?? html`block ${block}`;
}

/** Zeros at the end say nothing. */
const renderBytes = (bytes: string): Html => {
  const digits = bytes.replace(/(00)+$/, '');
  const short =
    digits.length > 20 ? `${bytes.slice(0, 10)}…${bytes.slice(-4)}` : digits === bytes ? bytes : `${digits}…`;
  return html`<code>${shortened(bytes, short)}</code>${copyButton(bytes, 'rights as bytes')}`;
};

export function renderAmount(amount: string | number | null): Html {
  const digits = String(amount ?? '');
  return digits === String(MAX_UINT256) ? html`any amount` : renderNumber(digits, 'amount');
}

/** Only what others may do to this wallet is a danger to it. */
export const noLimitBadge = (isDanger: boolean): Html =>
  isDanger ? html`<span class="badge no">⚠ no limit</span>` : html`<span class="badge">no limit</span>`;

const hasEnded = (grant: Grant) => 'until' in grant && grant.until !== null;

/** Two lines in the table: what, and of which contract. */
export function renderScope(view: WalletView, grant: Grant, amount = renderAmount(grant.amount)): Html {
  const { type, standard, contract, tokenId, chainId } = grant;
  if (type === 'ALL')
    return html`<strong>Whole wallet</strong>${isUnlimited(grant) && !hasEnded(grant) && html` ${noLimitBadge(grant.from === view.wallet)}`}`;
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
  const { rights, rightsText, expires } = grant;
  const bytes = renderBytes(rights ?? '');
  const text = rightsText ?? knownName(grant);
  const end =
    expires !== null &&
    html`<span class="note soft" title="${expires === 'never' ? '' : dateText(expires)}">${expiryText(expires, now)}, not enforced by the registry</span>`;
  if (text === null) return html`<span class="right">only</span> ${end} ${bytes}`;
  return html`<span class="right">only “${text}”</span> ${end} <span class="bytes">${bytes}</span>`;
}
