// Adds the client to a client of viem: publicClient.extend(delegationActions({ url })).

import type { Chain, Client, PublicClient, Transport } from 'viem';
import { type ClientOptions, createClient, type DelegationsClient } from './client.ts';
import type { ClaimedBlock } from './context.ts';

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

/** For `verify`: the hashes of blocks as the node of a viem client has them. It must be a node that you trust, of the same chain. */
export const blockHashOf =
  (client: Pick<PublicClient, 'chain' | 'getBlock'>) =>
  async ({ chainId, number }: ClaimedBlock): Promise<string> => {
    if (client.chain !== undefined && client.chain?.id !== chainId)
      throw new TypeError(`The viem client is of chain ${client.chain?.id}, and the answer of chain ${chainId}.`);
    const { hash } = await client.getBlock({ blockNumber: BigInt(number) });
    return hash;
  };
