// The networks that carry the registries, and the defaults for following each.

import { ADDRESSES, V2_ON_ZKSYNC } from './addresses.ts';
import type { Address } from './delegation.ts';
import { ALL_VERSIONS, type Version } from './versions.ts';

/** When a block counts as final: the node's `finalized` tag, or a depth in blocks or seconds. */
export type Finality = 'tag' | { readonly blocks: number } | { readonly seconds: number };

export interface Network {
  readonly chainId: number;
  readonly name: string;
  /** Null if it is not known. */
  readonly testnet: boolean | null;
  /** The host of a public block explorer, with /address/<address>, /tx/<hash> and /block/<number>. Without it there are no links. */
  readonly explorer?: string;
  /** The registries deployed here, by version. */
  readonly registries: { readonly [V in Version]?: Address };
  /** A block at or before the deployment of each, where one is published. */
  readonly firstBlock: { readonly [V in Version]?: number };
  /** The usual time between blocks, in seconds. */
  readonly blockSeconds: number;
  /** Blocks are made only when there are transactions, so an old head is normal. */
  readonly onDemand: boolean;
  /** Headers carry a true logs bloom. */
  readonly bloom: boolean;
  /** Whether a block's hash commits to its header and receipts in a way that we can compute. Undefined: found out by trying. */
  readonly provable: boolean | undefined;
  /** A block can have logs in neither its receipts root nor its bloom: those of messages from Ethereum. */
  readonly stateSync: boolean;
  readonly finality: Finality;
  /** The number of seconds without a confirmed head after which the chain's answers count as stale. */
  readonly maxLagSeconds: number;
  /** Of a network that an operator has added: what says so, in one form. See custom-network.ts. */
  readonly custom?: string;
}

type Traits = Partial<Omit<Network, 'chainId' | 'name' | 'blockSeconds' | 'registries' | 'maxLagSeconds'>> & {
  readonly v1?: boolean;
  readonly zksync?: boolean;
};

/** With the defaults that follow from the block time and from what is said. */
export function network(
  chainId: number,
  name: string,
  blockSeconds: number,
  { v1, zksync, ...traits }: Traits = {},
): Network {
  const v2 = zksync ? V2_ON_ZKSYNC : ADDRESSES[2];
  return {
    chainId,
    name,
    blockSeconds,
    registries: v1 ? { 1: ADDRESSES[1], 2: v2 } : { 2: v2 },
    firstBlock: {},
    testnet: false,
    onDemand: zksync ?? false,
    bloom: !zksync,
    provable: zksync ? false : undefined,
    stateSync: false,
    finality: 'tag',
    ...traits,
    // Ten blocks without news is trouble anywhere; below a minute it would be noise on the fast chains.
    maxLagSeconds: Math.max(60, 10 * blockSeconds),
  };
}

const ON_ETHEREUM = { 1: 15_590_000, 2: 18_150_000 };
/** The table, by chain id. */
export const LISTED: ReadonlyMap<number, Network> = new Map(
  [
    network(1, 'Ethereum', 12, { explorer: 'etherscan.io', v1: true, provable: true, firstBlock: ON_ETHEREUM }),
    network(10, 'Optimism', 2, { explorer: 'optimistic.etherscan.io', v1: true, provable: true }),
    network(56, 'BNB Smart Chain', 1, { explorer: 'bscscan.com', v1: true }),
    network(100, 'Gnosis', 5, { explorer: 'gnosisscan.io', v1: true }),
    network(137, 'Polygon', 2, { explorer: 'polygonscan.com', v1: true, provable: true, stateSync: true }),
    network(250, 'Fantom', 2, { v1: true, provable: false, finality: { seconds: 300 } }),
    network(324, 'zkSync Era', 1, { explorer: 'explorer.zksync.io', zksync: true }),
    network(360, 'Shape', 2, { explorer: 'shapescan.xyz' }),
    network(1101, 'Polygon zkEVM', 3, { onDemand: true }),
    network(1284, 'Moonbeam', 6, { explorer: 'moonscan.io' }),
    network(1285, 'Moonriver', 6, { explorer: 'moonriver.moonscan.io' }),
    network(1329, 'Sei', 0.4, { bloom: false }),
    network(1996, 'Sanko', 1, { onDemand: true }),
    network(2020, 'Ronin', 3, { explorer: 'app.roninchain.com' }),
    network(2741, 'Abstract', 1, { explorer: 'abscan.org', zksync: true }),
    network(2911, 'Hychain', 1, { onDemand: true }),
    network(5000, 'Mantle', 2, { explorer: 'mantlescan.xyz' }),
    network(7000, 'ZetaChain', 4),
    network(7700, 'Canto', 6, { finality: { seconds: 300 } }),
    network(8453, 'Base', 2, { explorer: 'basescan.org', provable: true }),
    network(33139, 'ApeChain', 1, { explorer: 'apescan.io', onDemand: true }),
    network(42161, 'Arbitrum One', 0.25, { explorer: 'arbiscan.io', v1: true, provable: true, onDemand: true }),
    network(42170, 'Arbitrum Nova', 1, { explorer: 'nova.arbiscan.io', v1: true, onDemand: true }),
    network(42220, 'Celo', 1, { explorer: 'celoscan.io', v1: true }),
    network(43114, 'Avalanche', 2, { explorer: 'snowtrace.io', v1: true }),
    network(59144, 'Linea', 2, { explorer: 'lineascan.build' }),
    network(61166, 'Treasure', 1, { zksync: true }),
    network(81457, 'Blast', 2, { explorer: 'blastscan.io' }),
    network(98866, 'Plume', 1, { onDemand: true }),
    network(167000, 'Taiko', 12, { explorer: 'taikoscan.io' }),
    network(534352, 'Scroll', 3, { explorer: 'scrollscan.com' }),
    network(660279, 'Xai', 1, { onDemand: true }),
    network(7777777, 'Zora', 2, { explorer: 'explorer.zora.energy' }),
    network(2021, 'Saigon', 3, { testnet: true }),
    network(11124, 'Abstract Sepolia', 1, { zksync: true, testnet: true }),
    network(17000, 'Holesky', 12, { testnet: true }),
    network(84532, 'Base Sepolia', 2, { explorer: 'sepolia.basescan.org', testnet: true }),
    network(11155111, 'Sepolia', 12, { explorer: 'sepolia.etherscan.io', v1: true, provable: true, testnet: true }),
  ].map((entry) => [entry.chainId, entry]),
);

const known = new Map(LISTED);
/** Every known network, by chain id: the table, and what operators add to it. */
export const NETWORKS: ReadonlyMap<number, Network> = known;

/** Adds networks, in place of those with the same ids. The result undoes it. */
export function addNetworks(networks: readonly Network[]): () => void {
  const before = networks.map(({ chainId }) => [chainId, known.get(chainId)] as const);
  for (const one of networks) known.set(one.chainId, one);
  return () => {
    for (const [chainId, one] of before) one === undefined ? known.delete(chainId) : known.set(chainId, one);
  };
}

/** Which version's registry stands at the address, if one does. */
export function registryAt(network: Network, address: string): Version | null {
  const lower = address.toLowerCase();
  return ALL_VERSIONS.find((version) => network.registries[version] === lower) ?? null;
}
