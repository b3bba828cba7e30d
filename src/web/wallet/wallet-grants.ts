// Everything that the page of a wallet shows of its grants: both directions for the summary, and the rows that the filters leave.

import type { FetchApi } from '../fetch-api.ts';
import { type GrantRow, inOrder, isUnlimited, kindOf } from './grant.ts';
import { type ChainPart, type Grant, type Reading, Refusal, readGrants, readUnlimited } from './wallet-reader.ts';
import { DIRECTIONS, type Direction, type WalletView } from './wallet-view.ts';

/** The grants of one direction. */
export interface Side {
  readonly grants: readonly Grant[];
  /** The cursor of the grants that were not read. */
  readonly next: string | null;
  /** The grants without any limit, of those that were not read too; null if they are not known. */
  readonly unlimited: readonly Grant[] | null;
  readonly hasMoreUnlimited: boolean;
}

export interface WalletGrants {
  readonly sides: Readonly<Record<Direction, Side>>;
  readonly chains: readonly ChainPart[];
}

export async function loadGrants(view: WalletView, fetchApi: FetchApi): Promise<WalletGrants | Refusal> {
  const whole = { ...view, cursor: '' };
  const readings = await Promise.all(
    DIRECTIONS.map((direction) => readGrants(whole, { direction, kind: null }, fetchApi)),
  );
  const [outgoing, incoming] = readings;
  if (outgoing === undefined || outgoing instanceof Refusal) return outgoing as Refusal;
  if (incoming === undefined || incoming instanceof Refusal) return incoming as Refusal;
  let chains: readonly ChainPart[] = mergeChains(outgoing.chains, incoming.chains);
  const sideOf = async (direction: Direction, { rows: grants, next }: Reading<Grant>): Promise<Side> => {
    if (next === null) return { grants, next, unlimited: grants.filter(isUnlimited), hasMoreUnlimited: false };
    const all = await readUnlimited(whole, direction, fetchApi);
    if (all instanceof Refusal) return { grants, next, unlimited: null, hasMoreUnlimited: true };
    chains = mergeChains(chains, all.chains);
    return { grants, next, unlimited: all.rows, hasMoreUnlimited: all.next !== null };
  };
  const sides = { outgoing: await sideOf('outgoing', outgoing), incoming: await sideOf('incoming', incoming) };
  return { sides, chains };
}

/** A chain has answered if it answered each time. */
export const mergeChains = (parts: readonly ChainPart[], others: readonly ChainPart[]): ChainPart[] =>
  parts.map((part, index) => {
    const other = others[index];
    return other !== undefined && 'problem' in other ? other : part;
  });

/** The rows of the table, in order. */
export interface Listing {
  readonly rows: readonly GrantRow[];
  /** Where the grants go on that were not read. */
  readonly rest: readonly { readonly direction: Direction; readonly cursor: string }[];
}

export async function listRows(
  view: WalletView,
  { sides }: WalletGrants,
  fetchApi: FetchApi,
): Promise<Listing | Refusal> {
  const isFiltered = view.kind !== null || view.isUnlimitedOnly;
  const rows: GrantRow[] = [];
  const rest: { direction: Direction; cursor: string }[] = [];
  for (const direction of view.direction === null ? DIRECTIONS : [view.direction]) {
    const { grants, next } = sides[direction];
    const cursor = view.direction === null ? '' : view.cursor;
    const isRead = cursor === '' && (next === null || !isFiltered);
    const reading = isRead ? { rows: grants, next } : await readFiltered({ ...view, cursor }, direction, fetchApi);
    if (reading instanceof Refusal) return reading;
    for (const grant of reading.rows) if (matches(view, grant)) rows.push({ direction, grant });
    if (reading.next !== null) rest.push({ direction, cursor: reading.next });
  }
  return { rows: inOrder(rows, view.order), rest };
}

const readFiltered = (view: WalletView, direction: Direction, fetchApi: FetchApi) =>
  view.isUnlimitedOnly
    ? readUnlimited(view, direction, fetchApi)
    : readGrants(view, { direction, kind: view.kind }, fetchApi);

export const matches = ({ kind, isUnlimitedOnly }: WalletView, grant: Grant): boolean =>
  (kind === null || kindOf(grant) === kind) && (!isUnlimitedOnly || isUnlimited(grant));
