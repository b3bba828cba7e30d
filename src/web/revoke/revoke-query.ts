// The query of the revoke page: the owner, one chain, and what to end there.

import { chainId as chainIdParam, Fault, pageCursor, readAddress } from '../../api/params.ts';
import type { ParameterFault } from '../../api/problems.ts';
import { parseQuery, shorten } from '../../api/query.ts';
import type { Address, DelegationKey } from '../../registry/delegation.ts';
import { addressFault, findAddress } from '../address-input.ts';
import { grantIdOf, readGrantId } from '../grant-id.ts';

const FIELDS: ReadonlySet<string> = new Set(['wallet', 'chain', 'v1', 'all', 'same', 'selected', 'cursor']);
/** Can be given more than once. */
const REPEATED: ReadonlySet<string> = new Set(['grant', 'to']);

/** What to end of the owner's grants on the chain. */
export interface Choice {
  /** These grants, by id. */
  readonly grants: ReadonlyMap<string, DelegationKey>;
  /** Also what gives exactly the same as one of them. */
  readonly equals: boolean;
  /** Every grant to these wallets. */
  readonly wallets: ReadonlySet<Address>;
  /** Every grant in registry v1. */
  readonly allOfV1: boolean;
  /** Every grant. */
  readonly everything: boolean;
}

export interface RevokeQuery extends Choice {
  /** As entered. */
  readonly walletText: string;
  readonly wallet: Address | null;
  /** Null if none is chosen, or several. */
  readonly chainId: number | null;
  /** Of a revocation on several chains. */
  readonly severalIds: readonly number[];
  /** Whether grants were to be ticked in the list. */
  readonly isSelection: boolean;
  /** Of the list to choose from. */
  readonly cursor: string | undefined;
  readonly faults: readonly ParameterFault[];
  /** The chains that this service follows. */
  readonly chainIds: readonly number[];
}

export const isEmpty = ({ grants, wallets, allOfV1, everything }: Choice): boolean =>
  grants.size === 0 && wallets.size === 0 && !allOfV1 && !everything;

export function readRevokeQuery(query: string, chainIds: readonly number[]): RevokeQuery {
  const { values, faults } = parseQuery(query, FIELDS, REPEATED);
  const repeated = new URLSearchParams(query);
  const read = <T>(parameter: string, text: string | undefined, reader: (text: string) => T | Fault): T | null => {
    if (text === undefined || text === '') return null;
    const value = reader(text);
    if (!(value instanceof Fault)) return value;
    faults.push({ parameter: `${parameter} ${shorten(text)}`, detail: value.detail });
    return null;
  };
  const walletText = findAddress(values.get('wallet')?.trim() ?? '');
  const walletFault = walletText === '' ? null : addressFault(walletText);
  const wallet = walletFault === null && walletText !== '' ? (walletText.toLowerCase() as Address) : null;
  if (walletFault !== null) faults.push({ parameter: 'Your wallet:', detail: walletFault });
  const chosen = (values.get('chain') ?? '').split(',', chainIds.length + 1).flatMap(
    (one) =>
      read('chain', one, (text) => {
        const id = chainIdParam.read(text);
        return id instanceof Fault || chainIds.includes(id)
          ? id
          : new Fault('is not a chain that this service follows');
      }) ?? [],
  );
  const severalIds = [...new Set(chosen)];
  const chainId = severalIds.length === 1 ? (severalIds[0] ?? null) : null;
  const readIds = () => {
    if (wallet === null) return [];
    return repeated.getAll('grant').flatMap((text) => {
      const key = read('grant', text, (one) => readGrantId(one, wallet));
      return key === null ? [] : [[grantIdOf(key), key] as const];
    });
  };
  return {
    walletText,
    wallet,
    chainId,
    severalIds: chainId === null ? severalIds : [],
    grants: new Map(readIds()),
    wallets: new Set(repeated.getAll('to').flatMap((text) => read('to', text.trim(), readAddress) ?? [])),
    equals: read('same', values.get('same'), readYes) ?? false,
    everything: read('all', values.get('all'), readYes) ?? false,
    allOfV1:
      read('v1', values.get('v1'), (text) => (text === 'all' ? true : new Fault('must be all, or absent'))) ?? false,
    isSelection: values.has('selected'),
    cursor: read('cursor', values.get('cursor'), pageCursor.read) ?? undefined,
    faults,
    chainIds,
  };
}

const readYes = (text: string) => (text === 'yes' ? true : new Fault('must be yes, or absent'));

/** The path of the page. Several chains are separated by commas; without one, it shows the chains that have such grants. */
export function revokePath(
  wallet: string,
  chainId: number | string | null,
  choice: Partial<Omit<Choice, 'wallets'>> & { readonly wallets?: ReadonlySet<string> } = {},
  cursor?: string,
): string {
  const query = new URLSearchParams({ wallet, ...(chainId !== null && { chain: String(chainId) }) });
  for (const id of choice.grants?.keys() ?? []) query.append('grant', id);
  for (const to of choice.wallets ?? []) query.append('to', to);
  if (choice.equals) query.set('same', 'yes');
  if (choice.allOfV1) query.set('v1', 'all');
  if (choice.everything) query.set('all', 'yes');
  if (cursor !== undefined) query.set('cursor', cursor);
  return `/revoke?${query}`;
}
