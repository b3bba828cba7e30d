// What the page of a wallet is asked to show, as its URL says it.

import { type ExplorerQuery, entered, isNow } from '../explorer/explorer-query.ts';

/** Grants from the wallet are outgoing: others may act for it. */
export type Direction = 'outgoing' | 'incoming';
export const DIRECTIONS: readonly Direction[] = ['outgoing', 'incoming'];

/** What a grant can cover, as people tell it apart. */
export const KIND_TEXTS = {
  all: 'Whole wallet',
  contract: 'Contract',
  nft: 'NFT or v1 token',
  erc1155: 'ERC-1155 tokens',
  erc20: 'ERC-20 tokens',
} as const;
export type KindName = keyof typeof KIND_TEXTS;

export const ORDER_TEXTS = {
  risk: 'Most dangerous first',
  newest: 'Newest first',
  wallet: 'By wallet',
  kind: 'By kind',
} as const;
export type OrderName = keyof typeof ORDER_TEXTS;

export interface WalletView {
  /** With its checksum. */
  readonly wallet: string;
  /** The chains that are asked, and all that could be. */
  readonly chainIds: readonly number[];
  readonly allChainIds: readonly number[];
  /** The chosen chain; empty for all. */
  readonly chain: string;
  /** A point in the past as the user wrote it; empty for now. */
  readonly asOf: string;
  readonly isHistory: boolean;
  readonly direction: Direction | null;
  readonly kind: KindName | null;
  /** Only grants of the whole wallet with any right. */
  readonly isUnlimitedOnly: boolean;
  readonly order: OrderName;
  readonly page: number;
  /** Where to continue in a wallet that is too long to be read at once. It belongs to one direction. */
  readonly cursor: string;
  /** Unix seconds. */
  readonly now: number;
  /** The sandbox's chain has no block explorer. */
  readonly sandbox: boolean;
}

/** Values that are not known choose nothing. */
export function readWalletView(wallet: string, query: ExplorerQuery): WalletView {
  const { chainIds } = query;
  const value = (name: string) => entered(query, name);
  const oneOf = <Name extends string>(name: string, names: readonly Name[]) =>
    names.find((one) => one === value(name)) ?? null;
  const chain = value('chain');
  const page = Number(value('page'));
  return {
    wallet,
    chainIds: chain === '' ? chainIds : chainIds.filter((id) => String(id) === chain),
    allChainIds: chainIds,
    chain,
    asOf: isNow(value('asOf')) ? '' : value('asOf'),
    isHistory: value('view') === 'history',
    direction: oneOf('direction', DIRECTIONS),
    kind: oneOf('kind', Object.keys(KIND_TEXTS) as KindName[]),
    isUnlimitedOnly: value('unlimited') === 'yes',
    order: oneOf('order', Object.keys(ORDER_TEXTS) as OrderName[]) ?? 'risk',
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
    cursor: value('cursor'),
    now: query.now,
    sandbox: query.sandbox,
  };
}

/** The URL of a view. A changed filter starts at the first page, unless the change names one. */
export function walletUrl(view: WalletView, changes: Partial<WalletView> = {}, path = '/'): string {
  const { wallet, chain, asOf, cursor, ...shown } = { ...view, page: 1, cursor: '', ...changes };
  const values = {
    wallet,
    chain,
    asOf,
    view: shown.isHistory ? 'history' : '',
    direction: shown.direction ?? '',
    kind: shown.kind ?? '',
    unlimited: shown.isUnlimitedOnly ? 'yes' : '',
    order: shown.order === 'risk' ? '' : shown.order,
    cursor,
    page: shown.page === 1 ? '' : String(shown.page),
  };
  return `${path}?${new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''))}`;
}
