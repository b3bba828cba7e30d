// Which wallets a graph of grants draws, and what stands on their arrows.

import { MAX_UINT256 } from '../../registry/delegation.ts';
import { shortAddress } from '../delegation.ts';
import { byNewest, type GrantRow, hasAnyRight, isUnlimited, kindOf, otherOf } from './grant.ts';
import { shortNumber } from './links.ts';
import type { Grant } from './wallet-reader.ts';

export interface GraphWallet {
  readonly address: string;
  readonly isUnlimited: boolean;
  /** What its grants cover, each once, the widest first. */
  readonly scopes: readonly string[];
}

export interface GraphSide {
  readonly drawn: readonly GraphWallet[];
  readonly hidden: number;
}

/** More per side would not be readable. */
const MOST_DRAWN = 7;

/** A v1 token and the same ERC-721 token have one name. */
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
  const right = grant.rightsText ?? grant.rightsName;
  return hasAnyRight(grant) ? what : `${what}, only ${right === null ? 'some rights' : `“${right}”`}`;
}

const WIDEST: readonly string[] = ['all', 'contract', 'nft', 'erc1155', 'erc20'];
const widthOf = (grant: Grant) => (isUnlimited(grant) ? -1 : WIDEST.indexOf(kindOf(grant)));

/** All rows have one direction. Wallets without any limit are drawn first, then those with the newest grants. */
export function graphSide(wallet: string, rows: readonly GrantRow[]): GraphSide {
  const others = Map.groupBy(
    rows.filter((row) => otherOf(row) !== wallet).toSorted((a, b) => byNewest(a.grant, b.grant)),
    otherOf,
  );
  const wallets = [...others].map(([address, its]) => {
    const grants = its.map(({ grant }) => grant).toSorted((a, b) => widthOf(a) - widthOf(b));
    return { address, isUnlimited: grants.some(isUnlimited), scopes: [...new Set(grants.map(scopeText))] };
  });
  const inOrder = wallets.toSorted((a, b) => Number(b.isUnlimited) - Number(a.isUnlimited));
  return { drawn: inOrder.slice(0, MOST_DRAWN), hidden: Math.max(0, wallets.length - MOST_DRAWN) };
}

/** The text on an arrow, of so many characters at most. */
export function arrowText({ scopes, isUnlimited: isDangerous }: GraphWallet, most: number): string {
  const [first = '', ...rest] = scopes;
  const more = rest.length === 0 ? '' : ` +${rest.length}`;
  const room = most - more.length;
  const text = isDangerous ? `⚠ ${first}` : first;
  return (text.length > room ? `${text.slice(0, room - 1)}…` : text) + more;
}
