// Reads what a wallet has delegated in the v1 registry at a block.

import type { Address } from '../../registry/delegation.ts';
import type { Network } from '../../registry/network.ts';
import { decodeVaultState } from '../../registry/v1-revocation.ts';
import type { BlockId, Node } from '../rpc/node.ts';

/** getDelegatesForAll, getContractLevelDelegations, getTokenLevelDelegations. */
const GETTERS = ['0x1b61f675', '0xf956cf94', '0x6f007d87'];

/** All delegations of a wallet at the end of a block. Fails if the lists are too long for the node: anyone can make them so. */
export async function readVaultState(network: Network, node: Node, vault: Address, block: BlockId) {
  const calls = GETTERS.map((selector) => selector + vault.slice(2).padStart(64, '0'));
  const [all = '', contracts = '', tokens = ''] = await node.ethCall(network.registries[1] as Address, calls, block);
  return decodeVaultState(vault, {
    getDelegatesForAll: all,
    getContractLevelDelegations: contracts,
    getTokenLevelDelegations: tokens,
  });
}
