// Divides the grants of a wallet on one chain into those to end and those that stay.

import { type Address, type Delegation, type DelegationKey, delegationId } from '../../registry/delegation.ts';
import { grantEqually, idsThatGrantTheSame } from '../../registry/overlap.ts';
import type { WholeInV1 } from '../../registry/revocation.ts';
import type { Version } from '../../registry/versions.ts';
import { type FetchApi, Refusal } from '../ask-api.ts';
import { grantIdOf } from '../grant-id.ts';
import { RISK_TEXTS, riskOf } from '../grant-risk.ts';
import { type GrantPage, visitGrants } from './outgoing-grants.ts';
import type { Choice } from './revoke-query.ts';

export interface Selection extends Pick<GrantPage, 'block' | 'indexedFrom'> {
  /** The grants to end, as they are now. */
  readonly chosen: readonly Delegation[];
  /** How many further grants are chosen, in each registry: too many for one page. */
  readonly more: Readonly<Record<Version, number>>;
  /** Chosen by name, but not active. */
  readonly absent: readonly DelegationKey[];
  /** Grants that stay and that go to the same wallets. */
  readonly kept: readonly Delegation[];
  /** Those of them that give what ends or has ended. */
  readonly same: readonly Delegation[];
  /** How many further grants stay. */
  readonly others: number;
  /** The risk of the most dangerous grant that stays. */
  readonly worst: number;
  readonly whole: WholeInV1;
}

/** Of each kind of grant that the page lists. */
const MOST = 1000;
const CURSOR_GONE = 409;
const TRIES = 3;

export async function selectGrants(wallet: Address, chainId: number, choice: Choice, fetchApi: FetchApi) {
  const keys = [...choice.grants.values()];
  const grantsTheSame = new Set(keys.flatMap((key) => [...idsThatGrantTheSame(key)]));
  const isEqual = (grant: Delegation) =>
    choice.equals && grantsTheSame.has(delegationId(grant)) && keys.some((key) => grantEqually(key, grant));
  const named = new Set([...choice.wallets, ...keys.map(({ to }) => to)]);
  let state = emptyState();
  const visit = (grant: Delegation) => {
    const id = grantIdOf(grant);
    const isNamed = choice.grants.has(id);
    if (isNamed) state.found.add(id);
    const isChosen =
      choice.everything ||
      isNamed ||
      isEqual(grant) ||
      choice.wallets.has(grant.to) ||
      (choice.allOfV1 && grant.version === 1);
    if (!isChosen && grant.version === 1) state.keepsV1.add(grant.to);
    if (!isChosen) state.worst = Math.min(state.worst, riskOf(grant, grant.kind));
    // With all of v1, every wallet can be one of those that lose something.
    const isRelated = named.has(grant.to) || choice.allOfV1;
    const group = isChosen ? state.chosen : isRelated ? state.kept : null;
    // What makes a revocation useless is listed in any case.
    const isListed = (group?.length ?? 0) < MOST || grantsTheSame.has(delegationId(grant));
    if (group !== null && isListed) group.push(grant);
    else if (isChosen) state.more[grant.version]++;
    else state.others++;
  };
  let page = await visitGrants(wallet, chainId, fetchApi, visit);
  // A reorg in the middle makes the list start again.
  for (let tries = 1; tries < TRIES && page instanceof Refusal && page.status === CURSOR_GONE; tries++) {
    state = emptyState();
    page = await visitGrants(wallet, chainId, fetchApi, visit);
  }
  if (page instanceof Refusal) return page;
  const { chosen, kept, others, worst, more, found, keepsV1 } = state;
  const losing = new Set(chosen.map(({ to }) => to));
  const absent = [...choice.grants].filter(([id]) => !found.has(id)).map(([, key]) => key);
  const lost = new Set(absent.map(({ to }) => to));
  // Once all of v1 has ended, it is not known any more who had something there.
  const isOver = choice.allOfV1 && chosen.length === 0;
  const keptByThem = kept.filter(({ to }) => isOver || losing.has(to) || lost.has(to));
  const gives = new Set([...chosen, ...absent].flatMap((one) => [...idsThatGrantTheSame(one)]));
  return {
    block: page.block,
    indexedFrom: page.indexedFrom,
    chosen,
    more,
    absent,
    kept: keptByThem,
    same: keptByThem.filter((grant) => isOver || gives.has(delegationId(grant))),
    others: others + kept.length - keptByThem.length,
    worst,
    whole: { vault: keepsV1.size === 0, delegates: new Set([...losing].filter((to) => !keepsV1.has(to))) },
  };
}

const emptyState = () => ({
  chosen: [] as Delegation[],
  kept: [] as Delegation[],
  others: 0,
  worst: RISK_TEXTS.length - 1,
  more: { 1: 0, 2: 0 },
  /** The ids of chosen grants that are active. */
  found: new Set<string>(),
  /** The wallets that keep something in v1. */
  keepsV1: new Set<Address>(),
});
