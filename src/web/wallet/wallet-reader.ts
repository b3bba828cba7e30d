// Reads the grants of a wallet from the API: each direction for itself, so that grants to a wallet, which anyone can make, never
// hide the grants from it.

import { ANY_LIST, COUNTERPARTS, HISTORY } from '../../api/any-operations.ts';
import type { InputOf } from '../../api/operation.ts';
import { describeProblem, type ProblemBody } from '../../api/problems.ts';
import type { DETAILED_DELEGATION, HISTORY_ENTRY } from '../../api/responses.ts';
import type { TypeOf } from '../../api/shape.ts';
import { urlFor } from '../../api/url.ts';
import { pointInTime } from '../explorer/explorer-query.ts';
import type { FetchApi } from '../fetch-api.ts';
import type { Direction, KindName, WalletView } from './wallet-view.ts';

export type Grant = TypeOf<typeof DETAILED_DELEGATION.any>;
export type PastGrant = TypeOf<typeof HISTORY_ENTRY>;
export type ChainPart = TypeOf<typeof ANY_LIST.answer.body>['chains'][number];

/** The most grants of a direction that are read for a page. */
export const MOST_GRANTS = 1000;

/** Why the API refused to answer at all. */
export class Refusal {
  readonly status: number;
  readonly text: string;
  /** Seconds until another try makes sense, if the API named them. */
  readonly retryAfter: string | null;
  constructor(status: number, text: string, retryAfter: string | null) {
    this.status = status;
    this.text = text;
    this.retryAfter = retryAfter;
  }
}

export interface Reading<Row> {
  readonly rows: readonly Row[];
  /** The cursor of what was not read; null if everything was. */
  readonly next: string | null;
  readonly chains: readonly ChainPart[];
}

const TYPES: Readonly<Record<KindName, 'ALL' | 'CONTRACT' | 'TOKEN'>> = {
  all: 'ALL',
  contract: 'CONTRACT',
  nft: 'TOKEN',
  erc1155: 'TOKEN',
  erc20: 'TOKEN',
};

export interface GrantFilter {
  readonly direction: Direction | null;
  readonly kind: KindName | null;
}

const sharedOf = ({ wallet, chainIds, asOf, cursor }: WalletView) => ({
  wallet,
  chainId: chainIds.join(),
  ...pointInTime(asOf),
  numbers: 'string',
  limit: MOST_GRANTS,
  cursor: cursor || undefined,
});

/** The parameters of a list. The API does not tell the standards of tokens apart: the caller does. */
export const listValues = (view: WalletView, { direction, kind }: GrantFilter): InputOf<typeof ANY_LIST> => ({
  ...sharedOf(view),
  direction: direction ?? undefined,
  type: kind === null ? undefined : TYPES[kind],
});

export const readGrants = (view: WalletView, filter: GrantFilter, fetchApi: FetchApi) =>
  readPage<Grant>(fetchApi, urlFor(ANY_LIST, listValues(view, filter)), 'delegations');

/** Grants of the whole wallet with any right, found by an index however many others there are. */
export async function readUnlimited(
  view: WalletView,
  direction: Direction,
  fetchApi: FetchApi,
): Promise<Reading<Grant> | Refusal> {
  const side = direction === 'outgoing' ? 'delegates' : 'vaults';
  const url = urlFor(COUNTERPARTS[side], sharedOf(view));
  const reading = await readPage<{ readonly grants: readonly Grant[] }>(fetchApi, url, side);
  return reading instanceof Refusal ? reading : { ...reading, rows: reading.rows.flatMap(({ grants }) => grants) };
}

export const readHistory = (view: WalletView, direction: Direction, fetchApi: FetchApi) =>
  readPage<PastGrant>(fetchApi, urlFor(HISTORY, { ...sharedOf(view), direction }), 'grants');

export async function readPage<Row>(fetchApi: FetchApi, url: string, rows: string): Promise<Reading<Row> | Refusal> {
  const response = await fetchApi(url);
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as Partial<ProblemBody>;
    const text = describeProblem(problem) ?? `The service answered with HTTP status ${response.status}.`;
    return new Refusal(response.status, text, response.headers.get('retry-after'));
  }
  const body = (await response.json()) as { readonly [name: string]: unknown };
  return {
    rows: body[rows] as Row[],
    next: body['next'] as string | null,
    chains: body['chains'] as ChainPart[],
  };
}
