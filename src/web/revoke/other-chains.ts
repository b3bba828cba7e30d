// Reads what some wallets may do for an owner on other chains. A transaction ends nothing there.

import { ANY_LIST } from '../../api/any-operations.ts';
import type { ResponseOf } from '../../api/operation.ts';
import { urlFor } from '../../api/url.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import type { FetchApi } from '../fetch-api.ts';
import { delegationOf } from '../grant-id.ts';

export interface OtherChains {
  /** Grants to the wallets, by chain. */
  readonly grants: ReadonlyMap<number, readonly Delegation[]>;
  /** The chains that did not answer, or of which not everything was read. */
  readonly unread: readonly number[];
}

/** Of all chains together: a page does not wait for more. */
const MOST_READ = 10_000;

export async function readOtherChains(
  owner: Address,
  wallets: ReadonlySet<string>,
  chainIds: readonly number[],
  fetchApi: FetchApi,
): Promise<OtherChains> {
  if (chainIds.length === 0 || wallets.size === 0) return { grants: new Map(), unread: [] };
  const chosen = { chainId: chainIds.join(), direction: 'outgoing', numbers: 'string', limit: MOST_READ };
  const response = await fetchApi(urlFor(ANY_LIST, { wallet: owner, ...chosen }));
  if (!response.ok) return { grants: new Map(), unread: chainIds };
  const { delegations, chains, next } = (await response.json()) as ResponseOf<typeof ANY_LIST>;
  // The list goes chain by chain: those after its last row were not reached.
  const last = next === null ? chainIds.length : chainIds.indexOf(delegations.at(-1)?.chainId ?? -1);
  const rows = delegations.map((record) => ({ chainId: record.chainId, grant: delegationOf(record) }));
  const groups = Map.groupBy(
    rows.filter(({ grant }) => wallets.has(grant.to)),
    ({ chainId }) => chainId,
  );
  return {
    grants: new Map([...groups].map(([chainId, list]) => [chainId, list.map(({ grant }) => grant)])),
    unread: chains.flatMap((chain, position) => ('problem' in chain || position >= last ? [chain.chainId] : [])),
  };
}
