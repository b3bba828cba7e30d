'use client';
// Hooks on @tanstack/react-query.

import { useQuery } from '@tanstack/react-query';
import { createContext, createElement, type ReactNode, useContext } from 'react';
import type { CheckQuery, ResultOf, Scope } from './checks.ts';
import type { DelegationsClient } from './client.ts';
import type { Query } from './context.ts';
import type { Vault } from './lists.ts';

const ClientContext = createContext<DelegationsClient | null>(null);

export const DelegationsProvider = ({ client, children }: { client: DelegationsClient; children?: ReactNode }) =>
  createElement(ClientContext.Provider, { value: client }, children);

export function useDelegations(): DelegationsClient {
  const client = useContext(ClientContext);
  if (client === null) throw new Error('Wrap the component in <DelegationsProvider client={createClient({ url })}>');
  return client;
}

/** An answer that is unknown has no `data`: after a failed refetch, the old answer is not shown as the current one. */
export type QueryAnswer<T> =
  | { readonly status: 'pending' }
  | { readonly status: 'error'; readonly error: Error; readonly refetch: () => unknown }
  | {
      readonly status: 'success';
      readonly data: T;
      /** The chain of the answer: that of the query or of the client, and otherwise 1, as the service decides. */
      readonly chainId: number | string;
      readonly refetch: () => unknown;
    };

/** Options of react-query. The client retries by itself. */
export interface HookOptions {
  readonly enabled?: boolean;
  readonly refetchInterval?: number | false;
  readonly staleTime?: number;
  readonly gcTime?: number;
}

/** Of the service. */
const DEFAULT_CHAIN = 1;

type WithoutSignal<T> = T extends unknown ? Omit<T, 'signal'> : never;
type Check<S extends Scope> = (query: object) => Promise<ResultOf<S>>;

/** A query of null waits until there is one. */
function useAnswer<T, Q extends object>(
  name: string,
  query: Q | null,
  read: (client: DelegationsClient, query: Q & { readonly signal: AbortSignal }) => Promise<T>,
  options: HookOptions,
): QueryAnswer<T> {
  const client = useDelegations();
  const { url, defaults } = client;
  // JSON has no bigint.
  const key = JSON.stringify([url, defaults, query], (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
  const { status, data, error, isPlaceholderData, refetch } = useQuery({
    retry: false,
    ...options,
    enabled: query !== null && (options.enabled ?? true),
    queryKey: ['delegations', name, key],
    queryFn: ({ signal }) => read(client, { ...(query as Q), signal }),
  });
  // A project may have react-query show the answer to the last question until there is one to this.
  if (status === 'pending' || isPlaceholderData) return { status: 'pending' };
  if (status === 'error') return { status, error, refetch };
  const asked = (query as { readonly chainId?: number | string } | null)?.chainId;
  return { status, data, chainId: asked ?? defaults.chainId ?? DEFAULT_CHAIN, refetch };
}

/** The wallets that a wallet may act for. */
export const useVaults = (query: WithoutSignal<Query<'vaults'>> | null, options: HookOptions = {}) =>
  useAnswer<Vault[], WithoutSignal<Query<'vaults'>>>(
    'vaults',
    query,
    (client, all) => client.vaults(all).all(),
    options,
  );

/** Whether a wallet may act for another, or how much of a token it may use. */
export const useCheck = <S extends Scope>(
  scope: S,
  query: WithoutSignal<CheckQuery<S>> | null,
  options: HookOptions = {},
): QueryAnswer<ResultOf<S>> =>
  useAnswer(scope, query, (client, all) => (client.check[scope] as Check<S>)(all), options);

/** Whether a wallet, or a wallet that it may act for, owns a token. */
export const useHolds = (query: WithoutSignal<Query<'holders'>> | null, options: HookOptions = {}) =>
  useAnswer<boolean, WithoutSignal<Query<'holders'>>>('holds', query, (client, all) => client.holds(all), options);
