// The name of a chain, as pages show it.

import { NETWORKS } from '../registry/network.ts';

export const chainName = (chainId: number): string => NETWORKS.get(chainId)?.name ?? `chain ${chainId}`;
