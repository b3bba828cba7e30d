// Reads the delegations of a wallet a stretch at a time, ready to be written.

import type { NumberMode } from '../../api/params.ts';
import { detailedRecordText, typeOf } from '../../feed/delegation-json.ts';
import { type Address, type Bytes32, type DelegationKey, NO_RIGHTS } from '../../registry/delegation.ts';
import type { Version } from '../../registry/versions.ts';
import { StoreError } from '../../store/errors.ts';
import { pack } from '../../store/rows/packed.ts';
import type {
  ListNow,
  ListPosition,
  ListQuery,
  ListSide,
  PackedDelegation,
  PackedDelegations,
} from '../../store/store.ts';
import { reportUnread } from '../context/as-of.ts';
import type { Service } from '../context/service.ts';
import { recordBytes, walletBytes } from './record-bytes.ts';

/** What is listed, and how it is written. */
export interface ListRequest {
  readonly list: {
    readonly chainId: number;
    readonly version: Version;
    readonly wallet: Address;
    readonly direction: ListSide | undefined;
  };
  readonly filter: ListFilter;
  readonly format: { readonly isDetailed: boolean; readonly mode: NumberMode; readonly hasStandardTypes: boolean };
}

export interface ListFilter {
  readonly type: 'ALL' | 'CONTRACT' | 'TOKEN' | undefined;
  readonly contract: Address | undefined;
  readonly rights: Bytes32 | undefined;
}

/** Reads a stretch of the list, from a position on. */
export type Scan<S extends Stretch> = (limit: number, after: ListPosition | undefined) => Promise<S>;
export interface Stretch {
  /** How many delegations of it match. */
  readonly size: number;
  /** As JSON, with commas between them, between a lead and a tail. */
  write(lead: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer>;
  readonly next: ListPosition | null;
}
/** A stretch that a page can end in. */
export interface PageStretch extends Stretch {
  /** The first of them as JSON, with commas between them. */
  writeFirst(count: number): Uint8Array;
  positionOf(index: number): ListPosition;
}

/** Whether its delegations are written as they are stored. */
export const isPlain = ({ filter, format }: ListRequest) => !format.isDetailed && matcherOf(filter) === null;

export function listNow(
  { list: { direction, ...wallet } }: ListRequest,
  service: Service,
  limit: number,
  after: ListPosition | undefined,
): Promise<ListNow> {
  const query = { ...wallet, limit, ...(direction ? { direction } : {}), ...(after ? { after } : {}) };
  return reportUnread({ chainId: wallet.chainId, to: wallet.wallet }, service, service.store.listNow(query));
}

export function scanner(
  { list, filter, format }: ListRequest,
  at: ListQuery['at'],
  service: Service,
): Scan<PageStretch> {
  const { store } = service;
  const { direction, ...wallet } = list;
  const { chainId, version } = wallet;
  const { isDetailed, ...written } = { ...format, chainId, version, wallet: walletBytes(wallet.wallet) };
  const matches = matcherOf(filter);
  const base = { ...wallet, at, ...(direction ? { direction } : {}) };
  const readPacked = async (query: ListQuery) => {
    if (matches === null) return store.listPacked(query);
    const { delegations, ...found } = await store.list({ ...query, matches });
    return { ...found, delegations: delegations.map((one) => packedFor(wallet.wallet, one)) };
  };
  return async (limit, after) => {
    const query = { ...base, limit, ...(after ? { after } : {}) };
    const about = { chainId, to: wallet.wallet };
    if (isDetailed) {
      const filtered = matches === null ? query : { ...query, matches };
      const { delegations, ...found } = await reportUnread(about, service, store.listDetailed(filtered));
      const texts = delegations.map((one) => detailedRecordText(one, written));
      const writeFirst = (count: number) => Buffer.from(texts.slice(0, count).join(','));
      const write: Stretch['write'] = (lead, tail) => Buffer.concat([lead, writeFirst(texts.length), tail]);
      return { ...found, size: texts.length, write, writeFirst };
    }
    const { delegations, ...found } = await reportUnread(about, service, readPacked(query));
    return {
      ...found,
      size: delegations.length,
      write: (lead, tail) => recordBytes(joined(delegations), written, lead, tail),
      writeFirst: (count) => recordBytes(joined(delegations.slice(0, count)), written),
    };
  };
}

/** Reads as of the head as long as no delegation has changed since `at`, and as of its block from then on. */
export function nowScanner(
  requested: ListRequest,
  at: { readonly revision: number; readonly stamp: number },
  service: Service,
  scanAt: Scan<Stretch>,
): Scan<Stretch> {
  let isUnchanged = true;
  return async (limit, after) => {
    if (isUnchanged) {
      const listed = await listNow(requested, service, limit, after).catch(nullIfUnsettled);
      isUnchanged = listed?.chain.revision === at.revision && listed.stamp === at.stamp;
      if (listed !== null && isUnchanged) return writable(listed, requested);
    }
    return scanAt(limit, after);
  };
}

/** A later revocation says nothing about the list as of its block. */
function nullIfUnsettled(error: unknown): null {
  if (error instanceof StoreError && error.code === 'revocation-unread') return null;
  throw error;
}

export function writable({ parts, next }: ListNow, { list: { version, wallet }, format }: ListRequest): Stretch {
  const written = { ...format, version, wallet: walletBytes(wallet) };
  const size = parts.reduce((sum, { count }) => sum + count, 0);
  return { size, write: (lead, tail) => recordBytes(parts, written, lead, tail), next };
}

function packedFor(wallet: Address, delegation: DelegationKey): PackedDelegation {
  const side = delegation.to === wallet ? 'incoming' : 'outgoing';
  return { side, bytes: pack(delegation, side) };
}

const joined = (delegations: readonly PackedDelegation[]): PackedDelegations[] =>
  (['incoming', 'outgoing'] as const).map((side) => {
    const ofSide = delegations.filter((one) => one.side === side);
    return { side, count: ofSide.length, bytes: Buffer.concat(ofSide.map(({ bytes }) => bytes)) };
  });

export function matcherOf({ type, contract, rights }: ListFilter): ((delegation: DelegationKey) => boolean) | null {
  if (type === undefined && contract === undefined && rights === undefined) return null;
  return (delegation) =>
    (type === undefined || typeOf(delegation) === type) &&
    (contract === undefined || delegation.contract === contract) &&
    (rights === undefined || (delegation.rights ?? NO_RIGHTS) === rights);
}
