// Everything that the page of a wallet shows of its grants: both directions for the summary, and the rows that the filters leave.

import { type FetchApi, Refusal } from '../ask-api.ts';
import { inOrder, isUnlimited, kindOf } from './grant.ts';
import {
  type ChainPart,
  type Grant,
  type Listing,
  mergeChains,
  type Reading,
  readDirections,
  readGrants,
  readUnlimited,
} from './wallet-reader.ts';
import type { Direction, WalletView } from './wallet-view.ts';

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
  const viewOf = (direction: Direction) => ({ ...view, direction, kind: null, cursor: '' });
  const [outgoing, incoming] = await Promise.all([
    readGrants(viewOf('outgoing'), fetchApi),
    readGrants(viewOf('incoming'), fetchApi),
  ]);
  if (outgoing instanceof Refusal) return outgoing;
  if (incoming instanceof Refusal) return incoming;
  let chains = mergeChains(outgoing.chains, incoming.chains);
  const sideOf = async (direction: Direction, { rows: grants, next }: Reading<Grant>): Promise<Side> => {
    if (next === null) return { grants, next, unlimited: grants.filter(isUnlimited), hasMoreUnlimited: false };
    const all = await readUnlimited(viewOf(direction), fetchApi);
    if (all instanceof Refusal) return { grants, next, unlimited: null, hasMoreUnlimited: true };
    chains = mergeChains(chains, all.chains);
    return { grants, next, unlimited: all.rows, hasMoreUnlimited: all.next !== null };
  };
  const sides = { outgoing: await sideOf('outgoing', outgoing), incoming: await sideOf('incoming', incoming) };
  return { sides, chains };
}

/** The rows of the table, in order. */
export async function listRows(
  view: WalletView,
  { sides, chains }: WalletGrants,
  fetchApi: FetchApi,
): Promise<Listing | Refusal> {
  const isFiltered = view.kind !== null || view.isUnlimitedOnly;
  const listing = await readDirections(view, async (one) => {
    const { grants, next } = sides[one.direction];
    if (one.cursor === '' && (next === null || !isFiltered)) return { rows: grants, next, chains };
    return one.isUnlimitedOnly ? readUnlimited(one, fetchApi) : readGrants(one, fetchApi);
  });
  if (listing instanceof Refusal) return listing;
  const rows = listing.rows.filter(({ grant }) => matches(view, grant));
  return { ...listing, rows: inOrder(rows, view.order) };
}

export const matches = ({ kind, isUnlimitedOnly }: WalletView, grant: Grant): boolean =>
  (kind === null || kindOf(grant) === kind) && (!isUnlimitedOnly || isUnlimited(grant));
