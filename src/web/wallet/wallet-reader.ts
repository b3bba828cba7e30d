// Reads what the page of a wallet shows of its grants from the API: each direction for itself, so that grants to a wallet, which
// anyone can make, never hide the grants from it.

import { ANY_LIST, COUNTERPARTS, HISTORY } from '../../api/any-operations.ts';
import type { InputOf, ResponseOf } from '../../api/operation.ts';
import { urlFor } from '../../api/url.ts';
import { askApi, askUrl, type FetchApi, Refusal } from '../ask-api.ts';
import { pointInTime } from '../explorer/explorer-query.ts';
import { type Grant, type GrantRow, inOrder, isUnlimited, kindOf, type PastGrant } from './grant.ts';
import { DIRECTIONS, type Direction, type WalletView } from './wallet-view.ts';

export type ChainPart = ResponseOf<typeof ANY_LIST>['chains'][number];

/** The most grants of a direction that are read for a page. */
const MOST_GRANTS = 1000;

interface Reading<Row> {
  readonly rows: readonly Row[];
  /** The cursor of what was not read; null if everything was. */
  readonly next: string | null;
  readonly chains: readonly ChainPart[];
}

const TYPES = { all: 'ALL', contract: 'CONTRACT', nft: 'TOKEN', erc1155: 'TOKEN', erc20: 'TOKEN' } as const;

const sharedOf = ({ wallet, chainIds, asOf, cursor }: WalletView) => ({
  wallet,
  chainId: chainIds.join(),
  ...pointInTime(asOf),
  numbers: 'string',
  limit: MOST_GRANTS,
  cursor: cursor || undefined,
});

/** The API does not tell the standards of tokens apart: the caller does. */
export async function readGrants(
  view: WalletView,
  fetchApi: FetchApi,
  more: Partial<InputOf<typeof ANY_LIST>> = {},
): Promise<Reading<Grant> | Refusal> {
  const filter = { direction: view.direction ?? undefined, type: view.kind === null ? undefined : TYPES[view.kind] };
  const answer = await askApi(fetchApi, ANY_LIST, { ...sharedOf(view), ...filter, ...more });
  return answer instanceof Refusal ? answer : { ...answer, rows: answer.delegations };
}

type Counterparts = Omit<Reading<Grant>, 'rows'> &
  Record<'delegates' | 'vaults', readonly { readonly grants: readonly Grant[] }[]>;

/** Grants of the whole wallet with any right, found by an index however many others there are. */
async function readUnlimited(view: WalletView, fetchApi: FetchApi): Promise<Reading<Grant> | Refusal> {
  const side = view.direction === 'outgoing' ? 'delegates' : 'vaults';
  const answer = await askUrl<Counterparts>(fetchApi, urlFor(COUNTERPARTS[side], sharedOf(view)));
  return answer instanceof Refusal
    ? answer
    : { ...answer, rows: answer[side].flatMap(({ grants }) => grants).filter(isUnlimited) };
}

export async function readHistory(view: WalletView, fetchApi: FetchApi): Promise<Reading<PastGrant> | Refusal> {
  const answer = await askApi(fetchApi, HISTORY, { ...sharedOf(view), direction: view.direction ?? undefined });
  return answer instanceof Refusal ? answer : { ...answer, rows: answer.grants };
}

/** What was read of the directions that a view shows. */
export interface Listing<G = Grant> {
  readonly rows: readonly GrantRow<G>[];
  readonly chains: readonly ChainPart[];
  /** Where the grants go on that were not read. */
  readonly rest: readonly { readonly direction: Direction; readonly cursor: string }[];
}

/** Calls `read` for each direction of the view. A cursor belongs to one direction. */
export async function readDirections<G>(
  view: WalletView,
  read: (view: WalletView & { readonly direction: Direction }) => Promise<Reading<G> | Refusal>,
): Promise<Listing<G> | Refusal> {
  const readings: (Reading<G> & { readonly direction: Direction })[] = [];
  for (const direction of view.direction === null ? DIRECTIONS : [view.direction]) {
    const reading = await read({ ...view, direction, cursor: view.direction === null ? '' : view.cursor });
    if (reading instanceof Refusal) return reading;
    readings.push({ ...reading, direction });
  }
  return {
    rows: readings.flatMap(({ rows, direction }) => rows.map((grant) => ({ direction, grant }))),
    chains: readings.map(({ chains }) => chains).reduce(mergeChains),
    rest: readings.flatMap(({ next, direction }) => (next === null ? [] : [{ direction, cursor: next }])),
  };
}

/** A chain has answered if it answered each time. */
const mergeChains = (parts: readonly ChainPart[], others: readonly ChainPart[]): readonly ChainPart[] =>
  parts.map((part, index) => {
    const other = others[index];
    return other !== undefined && 'problem' in other ? other : part;
  });

/** The grants without any limit before the others, each once. */
function withFirst(unlimited: readonly Grant[], others: readonly Grant[]): readonly Grant[] {
  const keyOf = ({ chainId, version, from, to }: Grant) => [chainId, version, from, to].join();
  const known = new Set(unlimited.map(keyOf));
  return [...unlimited, ...others.filter((grant) => !isUnlimited(grant) || !known.has(keyOf(grant)))];
}

/** The grants of one direction. Of a list that was not read to its end, those without any limit come first. */
export interface Side {
  readonly grants: readonly Grant[];
  /** The cursor of the grants that were not read. */
  readonly next: string | null;
  /** The grants without any limit, of those that were not read too; null if they are not known. */
  readonly unlimited: readonly Grant[] | null;
  readonly hasMoreUnlimited: boolean;
}

export type WalletGrants = Exclude<Awaited<ReturnType<typeof loadGrants>>, Refusal>;

export async function loadGrants(view: WalletView, fetchApi: FetchApi) {
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
    return { grants: withFirst(all.rows, grants), next, unlimited: all.rows, hasMoreUnlimited: all.next !== null };
  };
  const sides = { outgoing: await sideOf('outgoing', outgoing), incoming: await sideOf('incoming', incoming) };
  return { sides, chains };
}

/** The rows of the table, in order. A part of a list is in the order of the list: in any other, it would seem to be the whole. */
export async function listRows(view: WalletView, { sides, chains }: WalletGrants, fetchApi: FetchApi) {
  const isFiltered = view.kind !== null || view.isUnlimitedOnly;
  const listing = await readDirections(view, async (one) => {
    const { grants, next } = sides[one.direction];
    if (one.cursor === '' && (next === null || !isFiltered)) return { rows: grants, next, chains };
    if (one.isUnlimitedOnly) return readUnlimited(one, fetchApi);
    const found = await readGrants(one, fetchApi);
    const unlimited = one.cursor === '' ? sides[one.direction].unlimited : null;
    return found instanceof Refusal ? found : { ...found, rows: withFirst(unlimited ?? [], found.rows) };
  });
  if (listing instanceof Refusal) return listing;
  const rows = listing.rows.filter(({ grant }) => matches(view, grant));
  const isPart = listing.rest.length > 0 || view.cursor !== '';
  return { ...listing, rows: inOrder(rows, isPart ? 'listed' : view.order), isPart };
}

export const matches = ({ kind, isUnlimitedOnly }: WalletView, grant: Grant): boolean =>
  (kind === null || kindOf(grant) === kind) && (!isUnlimitedOnly || isUnlimited(grant));
