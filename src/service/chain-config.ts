// What the environment says about single chains: RPC_URL_1, START_BLOCK_1, …

import { type Finality, NETWORKS } from '../registry/network.ts';

/** How one chain is followed. */
export interface ChainConfig {
  /** Secrets of the operator: never to be shown. */
  readonly rpcUrls: readonly string[];
  readonly startBlock?: number;
  readonly finality?: Finality;
  readonly pollMs?: number;
}

export interface ChainConfigs {
  /** The chains that are followed. */
  readonly chains: ReadonlyMap<number, ChainConfig>;
  /** Seconds, where the operator chose another limit than the network's. */
  readonly maxLag: ReadonlyMap<number, number>;
}

/** Every such variable with its default, for people. */
export const CHAIN_VARIABLES = [
  ['RPC_URL_<chainId>', 'not followed', 'the nodes of that chain: one URL, or several with commas between'],
  ['START_BLOCK_<chainId>', "the registry's first", 'the first block to read'],
  ['FINALITY_<chainId>', "the network's", 'when a block is final: tag, 64 blocks, or 900 seconds'],
  ['POLL_INTERVAL_<chainId>', 'a block', 'milliseconds between two looks at that chain'],
  ['MAX_LAG_<chainId>', "the network's", 'seconds after which that chain answers 503'],
] as const;

type Report = (name: string, detail: string, example: string) => void;

export function readChains(environment: Readonly<Record<string, string | undefined>>, fault: Report): ChainConfigs {
  const chains = new Map<number, ChainConfig>();
  const maxLag = new Map<number, number>();
  const settings = new Map<number, Partial<ChainConfig>>();
  for (const [name, value] of Object.entries(environment)) {
    const [, setting, chain] = /^(RPC_URL|START_BLOCK|FINALITY|POLL_INTERVAL|MAX_LAG)_(.*)$/.exec(name) ?? [];
    if (setting === undefined || !value) continue;
    const { read, example, expected } = SETTINGS[setting as keyof typeof SETTINGS];
    const found = read(value.trim());
    if (!/^\d+$/.test(chain ?? '') || !NETWORKS.has(Number(chain))) fault(name, 'names no known network', example);
    else if (found === null) fault(name, `is not ${expected}`, example);
    else if (typeof found === 'number') maxLag.set(Number(chain), found);
    else settings.set(Number(chain), { ...settings.get(Number(chain)), ...found });
  }
  for (const [chainId, { rpcUrls, ...rest }] of settings) {
    if (rpcUrls !== undefined) chains.set(chainId, { rpcUrls, ...rest });
    else fault(`RPC_URL_${chainId}`, 'is missing, and other settings of that chain are there', 'https://node.example');
  }
  return { chains, maxLag };
}

const wholeUpTo = (text: string, most: number) => (/^\d+$/.test(text) && Number(text) <= most ? Number(text) : null);

/** Each reads its text, or gives null. A number is the limit of the lag; anything else is a setting of the follower. */
const SETTINGS = {
  RPC_URL: {
    expected: 'an http URL, or several with commas between',
    example: 'https://node.example/key',
    read(text: string) {
      const rpcUrls = text.split(',').map((url) => url.trim());
      return rpcUrls.every((url) => /^https?:\/\/.+/.test(url) && URL.canParse(url)) ? { rpcUrls } : null;
    },
  },
  START_BLOCK: {
    expected: 'a block number',
    example: '18150000',
    read(text: string) {
      const startBlock = wholeUpTo(text, Number.MAX_SAFE_INTEGER);
      return startBlock === null ? null : { startBlock };
    },
  },
  FINALITY: {
    expected: 'tag, a number of blocks, or a number of seconds',
    example: '64 blocks',
    read(text: string): { finality: Finality } | null {
      if (text === 'tag') return { finality: 'tag' };
      const [, number, unit] = /^(\d{1,9}) (blocks|seconds)$/.exec(text) ?? [];
      if (number === undefined) return null;
      return { finality: unit === 'blocks' ? { blocks: Number(number) } : { seconds: Number(number) } };
    },
  },
  POLL_INTERVAL: {
    expected: 'a number of milliseconds from 100 to 3600000',
    example: '12000',
    read(text: string) {
      const pollMs = wholeUpTo(text, 3_600_000);
      return pollMs === null || pollMs < 100 ? null : { pollMs };
    },
  },
  MAX_LAG: { expected: 'a number of seconds', example: '120', read: (text: string) => wholeUpTo(text, 31_536_000) },
};
