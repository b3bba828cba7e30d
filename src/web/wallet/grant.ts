// What a grant means: whether it has any limit, how wide it is, and how grants are ordered.

import type { ANY_LIST, HISTORY } from '../../api/any-operations.ts';
import type { ResponseOf } from '../../api/operation.ts';
import { NO_RIGHTS } from '../../registry/delegation.ts';
import { grantId } from '../grant-id.ts';
import { riskOf } from '../grant-risk.ts';
import type { Direction, KindName, OrderName } from './wallet-view.ts';

export type Grant = ResponseOf<typeof ANY_LIST>['delegations'][number];
export type PastGrant = ResponseOf<typeof HISTORY>['grants'][number];

export interface GrantRow<G = Grant> {
  readonly direction: Direction;
  readonly grant: G;
}

/** The wallet at the other end. */
export const otherOf = ({ direction, grant }: GrantRow): string => (direction === 'outgoing' ? grant.to : grant.from);

export const hasAnyRight = ({ rights }: Grant): boolean => rights === null || rights === NO_RIGHTS;

export const isToItself = ({ from, to }: Pick<Grant, 'from' | 'to'>): boolean => from === to;

/** It covers the whole wallet, with any right. What a wallet grants to itself gives nothing. */
export const isUnlimited = (grant: Grant): boolean => riskOf(grant, grant.type) === 0;

export function kindOf({ type, standard }: Grant): KindName {
  if (type === 'ALL') return 'all';
  if (type === 'CONTRACT') return 'contract';
  return standard === 'ERC20' ? 'erc20' : standard === 'ERC1155' ? 'erc1155' : 'nft';
}

/** Stays the same as long as the grant holds, whatever its amount. */
export const rowKey = ({ direction, grant }: GrantRow): string =>
  `${direction}.${grant.chainId}.${grant.from}.${grantId(grant)}`;

/** Newest first; on one chain in the exact order of the logs: blocks can have the same time, and logs of one block have. */
export function byNewest(a: Pick<Grant, 'since' | 'chainId'>, b: Pick<Grant, 'since' | 'chainId'>): number {
  return (
    b.since.timestamp - a.since.timestamp ||
    a.chainId - b.chainId ||
    b.since.block - a.since.block ||
    b.since.logIndex - a.since.logIndex
  );
}

const WIDTHS: readonly KindName[] = ['all', 'contract', 'nft', 'erc1155', 'erc20'];
/** The most dangerous first. */
export const kindWidth = (grant: Grant): number => WIDTHS.indexOf(kindOf(grant));
const widthOf = (grant: Grant) => 2 * kindWidth(grant) + (hasAnyRight(grant) ? 0 : 1);

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const riskIn = ({ grant }: GrantRow) => riskOf(grant, grant.type);

const compareNewest = (a: GrantRow, b: GrantRow) => byNewest(a.grant, b.grant);

/** `listed` is the order in which they were read, but for those without any limit, which come first. */
const ORDERS: Readonly<Record<OrderName | 'listed', (a: GrantRow, b: GrantRow) => number>> = {
  risk: (a, b) => riskIn(a) - riskIn(b) || compareNewest(a, b),
  newest: compareNewest,
  wallet: (a, b) => compareText(otherOf(a).toLowerCase(), otherOf(b).toLowerCase()) || compareNewest(a, b),
  kind: (a, b) => widthOf(a.grant) - widthOf(b.grant) || compareNewest(a, b),
  listed: (a, b) => Number(isUnlimited(b.grant)) - Number(isUnlimited(a.grant)),
};

/** Outgoing grants come first in every order: they are what the owner must know. */
export const inOrder = (rows: readonly GrantRow[], order: keyof typeof ORDERS): GrantRow[] =>
  rows.toSorted((a, b) => -compareText(a.direction, b.direction) || ORDERS[order](a, b));
