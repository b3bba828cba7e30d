// Reads the grants of an owner from the API: those on one chain page by page, for there can be a hundred thousand; those to some
// wallets on other chains, where a transaction ends nothing; and the stream of their changes.

import { ANY_LIST, COUNTERPARTS } from '../../api/any-operations.ts';
import { CHANGES_OPERATION } from '../../api/changes-operation.ts';
import type { DelegationRecord } from '../../api/responses.ts';
import { anyUrl, listUrl, urlFor } from '../../api/url.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import { askApi, askUrl, type FetchApi, Refusal } from '../ask-api.ts';
import { delegationOf } from '../grant-id.ts';
import { riskOf } from '../grant-risk.ts';
import { problemWords } from '../problem-words.ts';

export type GrantPage = Exclude<Awaited<ReturnType<typeof readGrants>>, Refusal>;

/** About a megabyte: parsing it does not hold up other requests. */
const PAGE_SIZE = 2000;

interface PageOptions {
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

const pageOf = (wallet: Address, chainId: number, { limit = PAGE_SIZE, cursor }: PageOptions) =>
  ({ wallet, chainId, direction: 'outgoing', numbers: 'string', limit, cursor }) as const;

/** The smallest answer whose headers name the newest indexed block. What a revocation ended is known at once in v2. */
export const headUrl = (wallet: Address, chainId: number): string => listUrl(2, wallet, { chainId, limit: 1 });

/**
 * A page of them, as of the number of a block. `indexedFrom` is the first indexed block, if the registry may be older: earlier grants are
 * unknown. `next` is the cursor of the next page.
 */
export async function readGrants(wallet: Address, chainId: number, fetchApi: FetchApi, options: PageOptions = {}) {
  const answer = await askApi(fetchApi, ANY_LIST, pageOf(wallet, chainId, options));
  if (answer instanceof Refusal) return answer;
  const [chain] = answer.chains;
  if (chain === undefined) return new Refusal(503, 'No reason was given.');
  if ('problem' in chain) return new Refusal(503, problemWords(chain.problem));
  const { block, indexedFrom = null } = chain;
  const grants = answer.delegations.map((one) => ({ ...delegationOf(one), since: one.since.timestamp }));
  return { grants, block: block.number, indexedFrom, next: answer.next };
}

/** With the time since which it holds, in Unix seconds. */
export type DatedGrant = GrantPage['grants'][number];

export const isUnlimited = (grant: Delegation): boolean => riskOf(grant, grant.kind) === 0;

export const unlimitedFirst = <G extends Delegation>(grants: readonly G[]): readonly G[] =>
  grants.toSorted((a, b) => Number(isUnlimited(b)) - Number(isUnlimited(a)));

/** In the order of danger. */
export const worstFirst = (grants: readonly DatedGrant[]): readonly DatedGrant[] =>
  grants.toSorted((a, b) => riskOf(a, a.kind) - riskOf(b, b.kind) || b.since - a.since);

/** Each can have two: the ids of all of them, and of a page of other grants, fit into a URL. */
const MOST_UNLIMITED = 12;

/** The grants of the whole wallet with any right, by an index. */
export async function readUnlimited(wallet: Address, chainId: number, fetchApi: FetchApi) {
  const values = { wallet, chainId: String(chainId), numbers: 'string', limit: MOST_UNLIMITED };
  const answer = await askUrl<Delegates>(fetchApi, anyUrl(COUNTERPARTS.delegates, values));
  if (answer instanceof Refusal) return answer;
  const grants = answer.delegates.flatMap((row) =>
    row.grants.map((one) => ({ ...delegationOf(one), since: one.since.timestamp })),
  );
  return { grants, hasMore: answer.next !== null };
}

interface Delegates {
  readonly delegates: readonly { readonly grants: readonly DelegationRecord[] }[];
  readonly next: string | null;
}

/** Calls `visit` with every grant. Resolves to the last page: all are as of its block. */
export async function visitGrants(
  wallet: Address,
  chainId: number,
  fetchApi: FetchApi,
  visit: (grant: Delegation) => void,
): Promise<GrantPage | Refusal> {
  for (let cursor: string | undefined; ; ) {
    const page = await readGrants(wallet, chainId, fetchApi, { cursor });
    if (page instanceof Refusal) return page;
    for (const grant of page.grants) visit(grant);
    if (page.next === null) return page;
    cursor = page.next;
    // Other requests have their turn.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

export interface OtherChains {
  /** Grants to the wallets that were asked for, by chain. */
  readonly grants: ReadonlyMap<number, readonly Delegation[]>;
  /** The chains that did not answer, or of which not everything was read. */
  readonly unread: readonly number[];
}

/** Of all chains together: a page does not wait for more. */
const MOST_READ = 10_000;

export async function readOtherChains(
  owner: Address,
  wallets: ReadonlySet<string> | 'all',
  chainIds: readonly number[],
  fetchApi: FetchApi,
): Promise<OtherChains> {
  if (chainIds.length === 0 || (wallets !== 'all' && wallets.size === 0)) return { grants: new Map(), unread: [] };
  const chosen = { chainId: chainIds.join(), direction: 'outgoing', numbers: 'string', limit: MOST_READ };
  const answer = await askApi(fetchApi, ANY_LIST, { wallet: owner, ...chosen });
  if (answer instanceof Refusal) return { grants: new Map(), unread: chainIds };
  const { delegations, chains, next } = answer;
  // The list goes chain by chain: those after its last row were not reached.
  const last = next === null ? chainIds.length : chainIds.indexOf(delegations.at(-1)?.chainId ?? -1);
  const byChain = Map.groupBy(delegations, ({ chainId }) => chainId);
  const toWallets = (records: typeof delegations) =>
    records.map(delegationOf).filter(({ to }) => wallets === 'all' || wallets.has(to));
  const grants = [...byChain].map(([chainId, records]) => [chainId, toWallets(records)] as const);
  return {
    grants: new Map(grants.filter(([, list]) => list.length > 0)),
    unread: chains.flatMap((chain, position) => ('problem' in chain || position >= last ? [chain.chainId] : [])),
  };
}

/** The URL of what changes from now on; empty if the chain does not answer. */
export async function changesUrl(from: Address, chainId: number, fetchApi: FetchApi): Promise<string> {
  const feed = { from, chainId };
  const answer = await askApi(fetchApi, CHANGES_OPERATION, { ...feed, start: 'head', limit: 1 });
  return answer instanceof Refusal ? '' : urlFor(CHANGES_OPERATION, { ...feed, cursor: answer.cursor });
}
