// Adds the client to a client of viem: publicClient.extend(delegationActions({ url })).

import type { Chain, Client, Transport } from 'viem';
import { type ClientOptions, createClient, type DelegationsClient } from './client.ts';

/** An alias, because `extend` of viem does not take an interface. */
export type DelegationActions = {
  /** Answers for the chain of the viem client, unless the options or a call name another. */
  readonly delegations: DelegationsClient;
};

export const delegationActions =
  (options: ClientOptions) =>
  (client: Pick<Client<Transport, Chain | undefined>, 'chain'>): DelegationActions => {
    const chainId = options.chainId ?? client.chain?.id;
    // The service would answer for Ethereum, whatever chain the transport leads to.
    if (chainId === undefined)
      throw new TypeError('The viem client has no chain: create it with one, or give delegationActions a chainId.');
    return { delegations: createClient({ ...options, chainId }) };
  };
