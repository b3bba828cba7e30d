// Exclusive wallets: the one wallet that acts for a vault or a token, and the vaults that a wallet alone acts for.

import type { DetailedDelegation as Delegation, Operations } from './api.ts';
import { toDelegation } from './checks.ts';
import { type Context, type Query, splitQuery } from './context.ts';
import { readNext, readRows } from './lists.ts';
import { Pages, readChains } from './pages.ts';

type WithVersion<Body> = Omit<Body, 'delegation'> & { readonly delegation: Delegation | null };

export type ExclusiveWallet = WithVersion<Operations['exclusiveWallet']['body']>;
/** Both wallets are null if the token has no owner. */
export type ExclusiveOwner = WithVersion<Operations['exclusiveOwner']['body']>;
export type ExclusiveVault = Omit<Operations['exclusiveVaults']['body']['vaults'][number], 'delegation'> & {
  readonly delegation: Delegation;
};

export interface ExclusiveWallets {
  /** The one wallet that acts for a vault: the vault itself if no delegation decides. */
  exclusiveWallet(query: Query<'exclusiveWallet'>): Promise<ExclusiveWallet>;
  /** The one wallet that acts for an ERC-721 token. Without `owner`, the service reads it from the chain. */
  exclusiveOwner(query: Query<'exclusiveOwner'>): Promise<ExclusiveOwner>;
  /** The vaults that a wallet alone acts for. */
  exclusiveVaults(query: Query<'exclusiveVaults'>): Pages<ExclusiveVault>;
}

function readOne(body: unknown): ExclusiveWallet {
  const one = body as Operations['exclusiveWallet']['body'];
  const { delegated, delegation } = one;
  if (typeof delegated !== 'boolean' || delegated !== (delegation !== null))
    throw new TypeError('not an exclusive wallet');
  return { ...one, delegation: delegation && toDelegation(2, delegation) };
}

export function createExclusiveWallets(context: Context): ExclusiveWallets {
  const ask = <T>(path: string, query: object, read: (body: unknown) => T) => {
    const { call, params } = splitQuery(context, query);
    return context.send(`/registry/v2/exclusive/${path}`, { ...params, numbers: 'string' }, call, read);
  };
  return {
    exclusiveWallet: ({ vault, ...query }) => ask(`wallet/${encodeURIComponent(vault)}`, query, readOne),
    exclusiveOwner: (query) => ask('owner', query, readOne),
    exclusiveVaults: ({ wallet, ...query }) =>
      new Pages<ExclusiveVault>((cursor = query.cursor) =>
        ask(`vaults/${encodeURIComponent(wallet)}`, { ...query, cursor }, (body) => {
          const { vaults, chains, next } = body as Operations['exclusiveVaults']['body'];
          const rows = readRows<(typeof vaults)[number]>(vaults).map((one) => ({
            ...one,
            delegation: toDelegation(2, one.delegation),
          }));
          return { rows, chains: readChains(chains), next: readNext(next) };
        }),
      ),
  };
}
