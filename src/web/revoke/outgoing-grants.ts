// Reads all grants of a wallet on one chain from the API, page by page: there can be a hundred thousand.

import { ANY_LIST } from '../../api/any-operations.ts';
import type { ResponseOf } from '../../api/operation.ts';
import { describeProblem, type ProblemBody, problemText } from '../../api/problems.ts';
import { urlFor } from '../../api/url.ts';
import type { Address, Delegation } from '../../registry/delegation.ts';
import type { FetchApi } from '../fetch-api.ts';
import { delegationOf } from '../grant-id.ts';

export interface IndexedBlock {
  readonly number: number;
  readonly hash: string | null;
}

export interface GrantPage {
  readonly grants: readonly Delegation[];
  readonly block: IndexedBlock;
  /** The first indexed block, if the registry may be older. Earlier grants are unknown. */
  readonly indexedFrom: number | null;
  /** The cursor of the next page. */
  readonly next: string | null;
}

/** Why the API did not answer, in words. */
export class Unanswered {
  readonly reason: string;
  readonly status: number;
  constructor(reason: string, status = 0) {
    this.reason = reason;
    this.status = status;
  }
}

/** About a megabyte: parsing it does not hold up other requests. */
const PAGE_SIZE = 2000;
const CURSOR_GONE = 409;
/** A reorg in the middle makes the list start again. */
const TRIES = 3;

interface PageOptions {
  readonly limit?: number;
  readonly cursor?: string | undefined;
}

const listUrlOf = (wallet: Address, chainId: number, { limit = PAGE_SIZE, cursor }: PageOptions): string =>
  urlFor(ANY_LIST, { wallet, chainId, direction: 'outgoing', numbers: 'string', limit, cursor });

/** The smallest answer that names the newest indexed block. */
export const headUrl = (wallet: Address, chainId: number): string => listUrlOf(wallet, chainId, { limit: 1 });

export async function readGrants(
  wallet: Address,
  chainId: number,
  fetchApi: FetchApi,
  options: PageOptions = {},
): Promise<GrantPage | Unanswered> {
  const response = await fetchApi(listUrlOf(wallet, chainId, options));
  if (!response.ok) return new Unanswered(await problemText(response), response.status);
  const { delegations, chains, next } = (await response.json()) as ResponseOf<typeof ANY_LIST>;
  const [chain] = chains;
  if (chain === undefined || 'problem' in chain)
    return new Unanswered(
      describeProblem((chain?.problem ?? {}) as Partial<ProblemBody>) ?? 'The chain did not answer.',
    );
  const from = response.headers.get('x-indexed-from');
  return {
    grants: delegations.map(delegationOf),
    block: chain.block,
    indexedFrom: from === null ? null : Number(from),
    next,
  };
}

/** Calls `visit` with every grant, and `restart` when the list begins again. Resolves to the last page: all are as of its block. */
export async function visitGrants(
  wallet: Address,
  chainId: number,
  fetchApi: FetchApi,
  { visit, restart }: { visit(grant: Delegation): void; restart(): void },
): Promise<GrantPage | Unanswered> {
  for (let attempt = 1; ; attempt++) {
    restart();
    let cursor: string | undefined;
    for (;;) {
      const page = await readGrants(wallet, chainId, fetchApi, { cursor });
      if (page instanceof Unanswered) {
        if (page.status === CURSOR_GONE && attempt < TRIES) break;
        return page;
      }
      for (const grant of page.grants) visit(grant);
      if (page.next === null) return page;
      cursor = page.next;
      // Other requests have their turn.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}
